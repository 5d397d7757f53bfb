//! Models that another program trained: their files are read, checked against the plan, and ranked.

use crate::fit::{Finished, Resources, closed_form, views::Views};
use crate::{Error, Result, Trial, trial::ModelFiles};
use dataset::Location;
use models::pretrained::{Content, Contents};
use std::time::Instant;

pub(crate) fn read(trial: &Trial, files: &ModelFiles, views: &Views<'_>, folder: &Location, resources: &Resources) -> Result<Finished> {
    if resources.is_interrupted() {
        return Err(Error::Interrupted { epoch: 0 });
    }
    let start = Instant::now();
    let fitted_here = || Error::impossible("this backbone is trained here: it has no files");
    let model = trial.backbone.pretrained().ok_or_else(fitted_here)?;
    let (scorer, remarks) = model.read(&contents(files, resources)?, views.whole())?;
    closed_form::finish(trial, views, folder, resources, scorer, remarks, start)
}

/// The files, which must be those of the plan.
fn contents(files: &ModelFiles, resources: &Resources) -> Result<Contents> {
    let read = |(key, entry): (&String, &dataset::FileEntry)| {
        let missing = || dataset::Error::NotFound { at: format!("the file `{key}` of the model") };
        let at = resources.model_files.get(key).ok_or_else(missing)?;
        let bytes = at.read()?;
        match entry.describes(&bytes) {
            true => Ok((key.clone(), Content { at: at.clone(), bytes })),
            false => Err(Error::Changed { at: at.to_string() }),
        }
    };
    files.files.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit;
    use dataset::FileEntry;
    use testing::dataset_of;

    const LISTS: &str = "user,item,score\nu0,i1,2\nu0,i2,1\nu1,i0,0.5\n";

    fn trial(content: &str) -> Trial {
        let entry = FileEntry::of(content.as_bytes());
        let trial = serde_json::json!({
            "version": 1, "dataset": "small", "backbone": {"run": {"name": "r", "path": "r.csv"}}, "learning": null,
            "files": {"seed": 7, "files": {"path": entry}}, "select_by": "ndcg@5"
        });
        serde_json::from_value(trial).unwrap()
    }

    fn resources(at: Option<&Location>) -> Resources<'static> {
        let model_files = at.map(|at| ("path".to_owned(), at.clone())).into_iter().collect();
        Resources { model_files, ..Resources::new(1 << 20) }
    }

    #[test]
    fn a_file_is_read_where_it_is_that_of_the_plan() {
        let at = Location::parse("memory:///fit/pretrained/r.csv").unwrap();
        at.write(LISTS).unwrap();
        let (dataset, folder) = (dataset_of([2, 3], &[(0, 0), (1, 1)]), Location::parse("memory:///fit/pretrained/trial").unwrap());
        let planned = trial(LISTS);
        assert_eq!((planned.check(), planned.seed()), (Ok(()), Some(7)));
        let changed = fit::train(&trial("user,item,score\n"), &dataset, &folder, &resources(Some(&at)), &mut ()).unwrap_err();
        assert_eq!(changed.to_string(), format!("{at} has changed since the sweep was planned; start the sweep again, or submit it again"));
        assert!(!changed.repeats());
        assert!(!fit::train(&planned, &dataset, &folder, &resources(None), &mut ()).unwrap_err().repeats());
        let found = fit::train(&planned, &dataset, &folder, &resources(Some(&at)), &mut ()).unwrap();
        assert_eq!((found.epochs, found.validation, found.remarks), (0, None, Vec::new()));
    }

    #[test]
    fn a_model_has_the_files_of_its_keys() {
        let with = |files: serde_json::Value| {
            let mut whole = serde_json::to_value(trial(LISTS)).unwrap();
            whole["files"] = files;
            serde_json::from_value::<Trial>(whole).unwrap().check().unwrap_err()
        };
        assert!(with(serde_json::Value::Null).contains("is read from the files {\"path\"}, and has {}"));
        assert!(with(serde_json::json!({"files": {"users": {"bytes": 1, "sha256": ""}}})).contains("and has {\"users\"}"));
        let mut fitted = serde_json::to_value(trial(LISTS)).unwrap();
        fitted["backbone"] = serde_json::json!({"popularity": {}});
        let fitted: Trial = serde_json::from_value(fitted).unwrap();
        assert_eq!(fitted.check().unwrap_err(), "this backbone is trained here: it has no `files`");
        assert_ne!(trial(LISTS).id(), trial("user,item,score\n").id());
    }
}

//! Datasets with several splits: what is said of the splits, and which of them a trial is of.

use super::{Input, number};
use crate::tables::TrialRow;
use dataset::Manifest;

/// One of several splits of a dataset, as it was prepared.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedSplit {
    /// The seed of the split, or its fold.
    pub seed: u64,
    /// The content of the split, under the dataset's name.
    pub manifest: Manifest,
}

/// The splits of a dataset, in the order of the sweep file; none where it has a single one.
pub(super) fn splits<'a>(input: &Input<'a>, dataset: &str) -> Vec<&'a RepeatedSplit> {
    input.splits.iter().filter(|split| split.manifest.name == dataset).collect()
}

/// How often the dataset was split, and what was repeated on the splits; `None` where it has a single one.
pub(super) fn remark(input: &Input, dataset: &str) -> Option<String> {
    let splits = splits(input, dataset);
    let seeds: Vec<String> = splits.iter().map(|split| split.seed.to_string()).collect();
    let (count, seeds) = (splits.len(), number::listed(&seeds));
    let what = match kind(&splits.first()?.manifest)? {
        "cross-validation" => format!("{count} folds"),
        "given" => format!("{count} draws of the validation part, with the seeds {seeds}"),
        "users" => format!("{count} splits of users, with the seeds {seeds}"),
        kind => format!("{count} {kind} splits, with the seeds {seeds}"),
    };
    Some(format!("{what}: every method is trained and ranked on each of them."))
}

/// The kind of the split, by its name in the sweep file.
fn kind(manifest: &Manifest) -> Option<&str> {
    manifest.settings["split"].as_object()?.keys().next().map(String::as_str)
}

/// Which repetition of its configuration a trial is: `split 2, seed 1`; `None` for one that has neither.
pub(super) fn repetition(trial: &TrialRow) -> Option<String> {
    let parts = [trial.split_seed.map(|seed| format!("split {seed}")), trial.seed.map(|seed| format!("seed {seed}"))];
    parts.into_iter().flatten().reduce(|split, seed| format!("{split}, {seed}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use serde_json::json;

    fn said(split: &serde_json::Value) -> Option<String> {
        let mut sweep = example::sweep();
        sweep.splits = [3, 1].map(|seed| RepeatedSplit { seed, manifest: sweep.manifests[0].clone() }).to_vec();
        sweep.splits.iter_mut().for_each(|repeated| repeated.manifest.settings = json!({"split": split}));
        remark(&sweep.input(), "books")
    }

    #[test]
    fn the_remark_names_the_kind_and_the_seeds() {
        let random = said(&json!({"random": {"test": 0.2}})).unwrap();
        assert_eq!(random, "2 random splits, with the seeds 3 and 1: every method is trained and ranked on each of them.");
        assert!(
            said(&json!({"given": {"validation": 0.1}})).unwrap().starts_with("2 draws of the validation part, with the seeds 3 and 1:")
        );
        assert!(said(&json!({"users": {}})).unwrap().starts_with("2 splits of users, with the seeds 3 and 1:"));
        assert!(said(&json!({"cross-validation": {"folds": 2}})).unwrap().starts_with("2 folds: every method"));
        assert_eq!(remark(&example::sweep().input(), "books"), None);
    }

    #[test]
    fn a_trial_is_of_a_split_and_a_seed() {
        let trial = |split_seed, seed| repetition(&TrialRow { split_seed, seed, ..example::trial("d", "mf-64", Some("bpr")) });
        assert_eq!(trial(Some(2), Some(1)).unwrap(), "split 2, seed 1");
        assert_eq!([trial(None, Some(1)).unwrap(), trial(Some(2), None).unwrap()], ["seed 1", "split 2"]);
        assert_eq!(trial(None, None), None);
    }
}

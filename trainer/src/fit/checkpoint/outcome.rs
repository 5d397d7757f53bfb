//! `done.json`: how a trial ended, and which files count. A folder without one is unfinished.

use crate::fit::checkpoint::{
    parameters,
    stored_files::{Checkpoint, REMEDY, StoredCurve},
};
use crate::{Error, Result, Trial};
use dataset::{FileEntry, Files, Location, marker};
use evaluator::Scorer;
use serde::{Deserialize, Serialize};
use vectors::Matrix;

/// A finished training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Epochs trained; 0 for closed forms.
    pub epochs: u32,
    /// The epoch of the stored model.
    pub best_epoch: u32,
    /// The stored model's validation metric; none where the dataset has no validation part.
    pub validation: Option<f64>,
    /// Seconds of training and validation.
    pub seconds: f64,
    /// Where the training ran: `cpu`, `cuda: NVIDIA H200`; with the ranks where there were several.
    pub device: String,
    /// What a reader should know of a model that another program trained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// How a trial ended: `{"status": "done", "detail": {..}}` or `{"status": "failed", "detail": "why"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", content = "detail", rename_all = "kebab-case")]
pub enum Outcome {
    /// The trial ended with a model.
    Done(Fit),
    /// The trial ended with an error. A stored one would come again.
    Failed(String),
}

impl Outcome {
    /// Whether there is no model.
    pub fn is_failure(&self) -> bool {
        self.fit().is_none()
    }

    /// The training, where there is a model.
    pub fn fit(&self) -> Option<&Fit> {
        match self {
            Self::Done(fit) => Some(fit),
            Self::Failed(_) => None,
        }
    }
}

/// The marker of a trial that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// The trial's id, which tells its marker from that of another.
    trial: String,
    /// How the trial ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The folder of the model, below the trial's.
    checkpoint: Option<String>,
    /// The path of the curve, below the trial's folder.
    curve: Option<String>,
    /// All files that count.
    files: Files,
}

impl Ended {
    pub(crate) fn new(trial: &Trial, outcome: Outcome, checkpoint: Option<Checkpoint>, curve: Option<StoredCurve>) -> Self {
        let of_trial = ("trial.json".to_owned(), FileEntry::of(crate::fit::text(trial).as_bytes()));
        let of_curve = curve.as_ref().map(|curve| (curve.at.clone(), curve.entry.clone()));
        let (at, of_model) = checkpoint.map_or((None, Files::new()), |checkpoint| (Some(checkpoint.at), checkpoint.files));
        let files = of_model.into_iter().chain(of_curve).chain([of_trial]).collect();
        Self { trial: trial.id(), outcome, checkpoint: at, curve: curve.map(|curve| curve.at), files }
    }

    /// Reads how the trial of this id, whose folder this is, ended; `None` while it has not.
    ///
    /// # Errors
    /// When the store fails; [`dataset::Error::Damaged`] where `done.json` was changed, or is another trial's.
    pub fn read(folder: &Location, trial: &str) -> dataset::Result<Option<Self>> {
        let at = folder.join("done.json");
        match marker::read::<Self>(&at, REMEDY) {
            Ok(ended) if ended.trial == trial => Ok(Some(ended)),
            Ok(ended) => Err(dataset::Error::damaged(at, format!("it is that of trial {}, expected {trial}; {REMEDY}", ended.trial))),
            Err(dataset::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn write(&self, folder: &Location) -> Result<()> {
        Ok(folder.join("done.json").write(marker::text(self))?)
    }

    /// All files that count, by their paths below the trial's folder.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Reads all files that count, and checks that they are what they were when the trial ended.
    ///
    /// # Errors
    /// [`dataset::Error::Damaged`] names the first that is missing or another one; a store that fails.
    pub fn check_files(&self, folder: &Location) -> dataset::Result<()> {
        self.files.iter().try_for_each(|(path, entry)| folder.join(path).holding(entry, REMEDY).read().map(drop))
    }

    /// The folder of the model, and what its description is; `None` where there is no model.
    pub fn checkpoint(&self, folder: &Location) -> Option<(Location, FileEntry)> {
        let at = self.checkpoint.as_ref()?;
        Some((folder.join(at), self.files.get(&format!("{at}/scorer.json"))?.clone()))
    }

    /// The model.
    ///
    /// # Errors
    /// [`Error::Model`] where there is none; others where it cannot be read or is damaged.
    pub fn scorer(&self, folder: &Location) -> Result<Scorer> {
        let none = || Error::impossible(format!("trial {} has no model", self.trial));
        let (checkpoint, description) = self.checkpoint(folder).ok_or_else(none)?;
        Ok(Scorer::read_marked(&checkpoint, &description)?)
    }

    /// The parameters of the model by name, which it folds users in by; nothing where it folds them in without, or was stored before checkpoints had them.
    ///
    /// # Errors
    /// When they cannot be read or are damaged.
    pub fn parameters(&self, folder: &Location) -> Result<Vec<(String, Matrix)>> {
        let path = self.checkpoint.as_ref().map(|at| format!("{at}/{}", parameters::NAME));
        let found = path.and_then(|path| self.files.get(&path).map(|entry| folder.join(&path).holding(entry, REMEDY)));
        Ok(found.map_or_else(|| Ok(Vec::new()), |at| parameters::read(&at))?)
    }

    /// The table of the curve; `None` where there is none.
    pub fn curve(&self, folder: &Location) -> Option<Location> {
        let at = self.curve.as_ref()?;
        Some(folder.join(at).holding(self.files.get(at)?, REMEDY))
    }
}

/// Takes the markers of a trial away, so that it is trained again. That of its end goes last: while it stands, the trial has ended as before.
///
/// # Errors
/// When the store refuses.
pub fn forget(folder: &Location) -> Result<()> {
    folder.join("rungs").list()?.iter().try_for_each(Location::delete)?;
    Ok(folder.join("done.json").delete()?)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A trial that learns nothing.
    pub(crate) fn popularity() -> Trial {
        let text = r#"{"version": 1, "dataset": "d", "backbone": {"popularity": {}}, "learning": null, "select_by": "ndcg@10"}"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_marker_of_another_trial_is_refused() {
        let folder = Location::parse("memory:///outcome/swapped").unwrap();
        let (id, ended) = (popularity().id(), Ended::new(&popularity(), Outcome::Failed("NaN".to_owned()), None, None));
        ended.write(&folder).unwrap();
        assert_eq!(Ended::read(&folder, &id).unwrap(), Some(ended));
        let message = Ended::read(&folder, "b").unwrap_err().to_string();
        assert!(message.contains(&format!("done.json: it is that of trial {id}, expected b; delete the trial's folder")), "{message}");
        forget(&folder).unwrap();
        assert_eq!(Ended::read(&folder, "b").unwrap(), None);
    }

    #[test]
    fn what_ended_is_stored_as_it_was() {
        let folder = Location::parse("memory:///outcome/done").unwrap();
        let fit = Fit {
            epochs: 3,
            best_epoch: 2,
            validation: Some(0.1 + 0.2),
            seconds: 1.5,
            device: "cpu".to_owned(),
            remarks: vec!["one".to_owned()],
        };
        let curve = StoredCurve::write(&folder, b"table".to_vec()).unwrap();
        let ended = Ended::new(&popularity(), Outcome::Done(fit), None, Some(curve));
        ended.write(&folder).unwrap();
        let stored = Ended::read(&folder, &popularity().id()).unwrap().unwrap();
        assert_eq!(stored, ended);
        assert_eq!(stored.curve(&folder).unwrap().read().unwrap(), "table");
        assert!(stored.scorer(&folder).unwrap_err().to_string().ends_with("has no model"));
    }
}

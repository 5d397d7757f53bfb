//! `done.json`: how a trial ended. A folder without one is unfinished.

use crate::Result;
use dataset::{Error, Location};
use serde::{Deserialize, Serialize};

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
    /// Where it ran: `cpu`, `cuda: NVIDIA H200`; with the ranks where there were several.
    pub device: String,
}

/// How a trial ended: `{"status": "done", "detail": {..}}` or `{"status": "failed", "detail": "why"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", content = "detail", rename_all = "kebab-case")]
pub enum Outcome {
    /// With a model.
    Done(Fit),
    /// With an error. A stored one would come again.
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

    /// Reads how the trial of a folder ended; `None` while it has not.
    ///
    /// # Errors
    /// When the store fails or `done.json` is not one.
    pub fn read(folder: &Location) -> Result<Option<Self>> {
        let at = folder.join("done.json");
        let refuse = |error| Error::content(&at, format!("{error}; delete the trial's folder to train it again"));
        match at.read() {
            Ok(text) => Ok(Some(serde_json::from_slice(&text).map_err(refuse)?)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn write(&self, folder: &Location) -> Result<()> {
        let text = serde_json::to_string_pretty(self).expect("an outcome is plain data");
        Ok(folder.join("done.json").write(text)?)
    }
}

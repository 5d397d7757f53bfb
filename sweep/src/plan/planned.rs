//! A prepared dataset of a plan: a dataset of the sweep file, or one of its splits.

use super::PlannedTrial;
use dataset::Dataset;
use pipeline::Preparation;
use serde::{Deserialize, Serialize};

/// A dataset, or one of its splits, and its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedDataset {
    /// Hash of all that determines the content.
    pub fingerprint: String,
    /// The seed of the split, or its fold, where the dataset has several splits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_seed: Option<u64>,
    /// How it is made, with the names of source files as they were typed: the runner's session has
    /// those to read.
    pub preparation: Preparation,
}

impl PlannedDataset {
    /// The dataset's name, which its splits share.
    pub fn name(&self) -> &str {
        &self.preparation.name
    }

    /// The name of its folder under `datasets/`.
    pub fn folder(&self) -> String {
        Dataset::folder(self.name(), &self.fingerprint)
    }

    /// The name, with the split's seed behind it where there are several: `books`, `books (split seed 2)`.
    pub fn label(&self) -> String {
        self.name().to_owned() + &self.which()
    }

    /// The name as errors quote it after the word `dataset`, with the split's seed behind it.
    pub fn quoted(&self) -> String {
        format!("`{}`{}", self.name(), self.which())
    }

    /// Whether a trial is trained on it.
    pub fn is_of(&self, trial: &PlannedTrial) -> bool {
        trial.trial.dataset == self.fingerprint
    }

    fn which(&self) -> String {
        self.repetition().map_or_else(String::new, |which| format!(" ({which})"))
    }

    /// Which of several splits it is, in words: `split seed 2`, or `fold 2`.
    pub fn repetition(&self) -> Option<String> {
        self.split_seed.map(|number| format!("{} {number}", self.preparation.split.repeats_by()))
    }
}

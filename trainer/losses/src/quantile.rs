//! Top-K quantiles of the users' scores: the state of losses that weigh positives by whether they reach the list.
//!
//! The quantile of a user is the K-th largest score of all items, train positives included and unmasked. It is estimated as the K-th
//! largest of the union of all the user's train positives and N fresh uniform negatives. A union of some items never exceeds the quantile
//! of all, and equals it when it holds the whole top K, which trained positives mostly are. Negatives are drawn with replacement, so that
//! one may count twice; where as many are asked for as there are, all items stand in their place and the quantile is exact.
//!
//! That is the estimator `sample`; [`QuantileEstimator`] has the paper's two others.
//!
//! The authors' release differs: it cuts the positives of heavy users to the 90th percentile of the users' numbers of positives, uses the
//! negatives of the batch once more, and updates within the epoch, after the step of each batch that a user is in. Here each user's
//! quantile is set once in a due epoch: after its steps, which is nearest to the release, or before them, as the paper's Algorithm E.1 has it
//! ([`QuantileUpdate`]). The release is what the paper's values were found by, so that its time is the default. All start at 0, so that
//! until the first update weights are `sigmoid(s / t_w)`.

use super::QuantileEstimator;
use serde::{Deserialize, Serialize};

/// Which quantile, and in which epochs it is brought up to date.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileSchedule {
    /// K: the quantile is the K-th largest score.
    pub cutoff: u32,
    /// Epochs between two updates.
    pub every: u32,
    /// When in a due epoch the quantile is set.
    pub update: QuantileUpdate,
    /// What the quantile is estimated by.
    pub estimator: QuantileEstimator,
}

/// When in a due epoch quantiles are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuantileUpdate {
    /// Before its steps, which have them.
    BeforeEpoch,
    /// After its steps: the next epoch has them.
    #[default]
    AfterEpoch,
}

impl QuantileSchedule {
    /// Whether quantiles are set in the epoch, counted from 1: in epochs `every`, `2 every`, ...
    pub fn is_due(&self, epoch: u32) -> bool {
        epoch.is_multiple_of(self.every)
    }
}

/// The quantile of each user.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantiles {
    /// `[users]`
    pub values: Vec<f32>,
}

impl Quantiles {
    /// Makes quantiles of zero, as before the first update.
    pub fn new(users: usize) -> Self {
        Self { values: vec![0.0; users] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_due_in_every_fifth_epoch() {
        let schedule =
            QuantileSchedule { cutoff: 20, every: 5, update: QuantileUpdate::AfterEpoch, estimator: QuantileEstimator::default() };
        let due: Vec<u32> = (1..=20).filter(|&epoch| schedule.is_due(epoch)).collect();
        assert_eq!(due, [5, 10, 15, 20]);
    }
}

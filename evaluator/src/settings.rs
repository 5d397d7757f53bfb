//! The `evaluation` block of a sweep file.

use crate::Metric;
use serde::{Deserialize, Serialize};

/// What is measured, by which conventions, and how differences are tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Evaluation {
    /// The metrics of the tables; the first at the first cutoff is the primary one.
    pub metrics: Vec<Metric>,
    /// The lengths at which lists are cut.
    pub cutoffs: Vec<u32>,
    /// Which known items are left out of the test ranking.
    pub mask: Mask,
    /// The denominator of recall.
    pub recall: Recall,
    /// Where a held-out item stands among items of the same score.
    pub ties: Ties,
    /// How differences between methods are tested.
    pub significance: Significance,
}

/// Which known items are left out of the test ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mask {
    /// The items of train and of validation.
    TrainAndValidation,
    /// The items of train: validation items stay and count as misses, as in the release of paper 001.
    TrainOnly,
}

/// The denominator of recall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recall {
    /// All held-out items of the user.
    Standard,
    /// At most the cutoff (Mult-VAE; paper 002, appendix A).
    Capped,
}

/// Where a held-out item stands among items of the same score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// Behind all others.
    Pessimistic,
    /// Before all others.
    Optimistic,
}

/// Tests between methods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Significance {
    /// The tests to run; the first decides the leaderboard's letters.
    pub tests: Vec<Test>,
    /// How p-values are adjusted for the number of comparisons in a (dataset, metric, cutoff) family.
    pub correction: Correction,
    /// The level below which an adjusted p-value is called significant.
    pub alpha: f64,
    /// Resamples of the randomization test and of the bootstrap.
    pub resamples: u32,
    /// Seed of the resamples.
    pub seed: u64,
}

/// A test of the difference between two methods over users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Student's t on the differences.
    PairedT,
    /// Wilcoxon's signed ranks.
    Wilcoxon,
    /// Random sign flips of the differences.
    Randomization,
    /// Mann-Whitney's U, unpaired, as paper 000 used it.
    MannWhitney,
}

/// Adjustment of p-values for many comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// As they are.
    None,
    /// Bonferroni: times the number of comparisons.
    Bonferroni,
    /// Holm's step-down.
    Holm,
    /// Benjamini and Hochberg's step-up, for the false discovery rate.
    BenjaminiHochberg,
}

impl Default for Evaluation {
    fn default() -> Self {
        Self {
            metrics: vec![Metric::Ndcg, Metric::Recall, Metric::Precision, Metric::Mrr],
            cutoffs: vec![20],
            mask: Mask::TrainAndValidation,
            recall: Recall::Standard,
            ties: Ties::Pessimistic,
            significance: Significance::default(),
        }
    }
}

impl Default for Significance {
    fn default() -> Self {
        Self {
            tests: vec![Test::PairedT, Test::Wilcoxon, Test::Randomization],
            correction: Correction::Holm,
            alpha: 0.05,
            resamples: 100_000,
            seed: 1,
        }
    }
}

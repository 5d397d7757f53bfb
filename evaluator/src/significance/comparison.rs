//! What is known of a pair of methods, and of a method: rows of the result tables.

use super::{spread::Spread, verdict::Verdict};
use crate::{
    MetricAt,
    significance::{Correction, Over, Test},
};

/// One test of the difference between two methods; `method_a` stands before `method_b` in the order the methods were given.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The dataset.
    pub dataset: String,
    /// The metric and its cutoff.
    pub metric: MetricAt,
    /// Whether verdicts are about this metric; the others are exploratory.
    pub primary: bool,
    /// The first method.
    pub method_a: String,
    /// The second method.
    pub method_b: String,
    /// Number of users.
    pub users: usize,
    /// Replicates of the first method: seeds, or splits where the dataset has several.
    pub replicates_a: usize,
    /// Replicates of the second method.
    pub replicates_b: usize,
    /// The first method's mean over users.
    pub mean_a: f64,
    /// The second method's mean over users.
    pub mean_b: f64,
    /// The mean difference over users.
    pub difference: f64,
    /// The standard error of the difference, by the sources that are counted; none for tests of ranks and signs, or where it is not known.
    pub standard_error: Option<f64>,
    /// Lower end of the interval of the difference, adjusted as the p-value is; none for tests of ranks and signs.
    pub ci_low: Option<f64>,
    /// Upper end of the interval of the difference, adjusted as the p-value is; none for tests of ranks and signs.
    pub ci_high: Option<f64>,
    /// The test.
    pub test: Test,
    /// The sources of variance that the test counts: what the verdict holds for.
    pub over: Over,
    /// Where the variance over replicates comes from; the less certain one of the two methods'.
    pub spread: Spread,
    /// The test's own statistic.
    pub statistic: f64,
    /// The two-sided p-value.
    pub p_value: f64,
    /// The p-value adjusted for all comparisons of this dataset, metric, cutoff and test.
    pub p_adjusted: f64,
    /// Which comparisons the p-value was adjusted for, as [`Family::name`](crate::significance::Family::name) has it.
    pub family: String,
    /// How the p-value was adjusted.
    pub correction: Correction,
    /// The size of the difference in the test's own terms.
    pub effect_size: f64,
    /// Whether `p_adjusted` is below `alpha`.
    pub significant: bool,
    /// The size of a difference that matters, in units of the metric; none where no margin is set.
    pub margin: Option<f64>,
    /// The p-value of two one-sided tests that the difference is within the margin, not adjusted.
    pub p_equivalence: Option<f64>,
    /// What is said of the first method.
    pub verdict: Verdict,
    /// Seeds of each method that would decide, where the t test leaves the comparison undecided.
    pub needed_seeds: Option<u32>,
    /// Users that would decide, with the seeds there are, where the t test leaves the comparison undecided.
    pub needed_users: Option<u64>,
}

/// A method's mean by one metric, and the parts of its variance.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodComponents {
    /// The dataset.
    pub dataset: String,
    /// The metric and its cutoff.
    pub metric: MetricAt,
    /// The method.
    pub method: String,
    /// Number of users.
    pub users: usize,
    /// Trials behind the mean.
    pub trials: usize,
    /// Splits behind the mean.
    pub splits: usize,
    /// The mean over users, seeds and splits.
    pub mean: f64,
    /// Lower end of the interval of the mean at the level `1 - alpha`, by the sources that are counted; none for one user.
    pub ci_low: Option<f64>,
    /// Upper end of the interval of the mean at the level `1 - alpha`, by the sources that are counted; none for one user.
    pub ci_high: Option<f64>,
    /// The sources that the interval counts.
    pub over: Over,
    /// The variance of the mean over users.
    pub var_users: Option<f64>,
    /// The variance of the means of single seeds, within splits; none for one seed.
    pub var_seeds: Option<f64>,
    /// The variance of the splits' means beyond that of their seeds, without what all methods have in common; none for one split.
    pub var_splits: Option<f64>,
    /// The variance of one replicate's mean, moderated over the methods.
    pub var_replicate: f64,
    /// Degrees of freedom of `var_replicate`.
    pub degrees: f64,
    /// The part of `var_replicate` that is the interaction of users and replicates.
    pub var_interaction: f64,
    /// Where `var_replicate` comes from.
    pub spread: Spread,
}

//! The `evaluation` block of a sweep file.

use crate::{Error, Metric, MetricAt, Result};
use serde::{Deserialize, Serialize};

/// What is measured, by which conventions, and how differences are tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Evaluation {
    /// The metrics of the tables; the first at the first cutoff is the primary one.
    pub metrics: Vec<Metric>,
    /// The lengths at which lists are cut.
    pub cutoffs: Vec<u32>,
    /// Which users with held-out items are ranked.
    pub users: Users,
    /// Which known items are left out of the test ranking.
    pub mask: Mask,
    /// The denominator of recall.
    pub recall: Recall,
    /// Where a held-out item stands among items of the same score.
    pub ties: Ties,
    /// How differences between methods are tested.
    pub significance: Significance,
}

/// Which users with held-out items are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Users {
    /// Those with train interactions.
    Known,
    /// Also those without, whom no training touched.
    All,
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
    /// Random signs of the randomization test; p-values are no finer than one in so many.
    pub resamples: u32,
    /// Resamples of the bootstrap intervals.
    pub bootstrap_resamples: u32,
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

impl Evaluation {
    /// The metrics at their cutoffs, metric by metric; `auc` has none.
    pub fn metric_ats(&self) -> Vec<MetricAt> {
        let of = |&metric: &Metric| match metric {
            Metric::Auc => vec![MetricAt { metric, cutoff: None }],
            _ => self.cutoffs.iter().map(|&cutoff| MetricAt { metric, cutoff: Some(cutoff) }).collect(),
        };
        self.metrics.iter().flat_map(of).collect()
    }

    /// Refuses what cannot be evaluated.
    ///
    /// # Errors
    /// A sentence with the key at fault, its value and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let Significance { tests, resamples, .. } = &self.significance;
        distinct("metrics", self.metrics.iter().map(|metric| metric.name()))?;
        distinct("cutoffs", self.cutoffs.iter())?;
        distinct("tests", tests.iter().map(|test| test.name()))?;
        if self.cutoffs.contains(&0) {
            return Err("`cutoffs` has 0: expected lengths of lists, 1 or more".to_owned());
        }
        if *resamples < FEWEST_RESAMPLES {
            return Err(format!("`resamples` is {resamples}: expected {FEWEST_RESAMPLES} or more, such as 100000"));
        }
        self.significance.validate().map_err(|error| error.to_string())
    }
}

/// With fewer random signs, no p-value falls below the usual levels after correction.
const FEWEST_RESAMPLES: u32 = 1000;

/// That a list has entries, each once.
fn distinct<T: PartialEq + std::fmt::Display>(key: &str, entries: impl Iterator<Item = T>) -> Result<(), String> {
    let entries: Vec<T> = entries.collect();
    if entries.is_empty() {
        return Err(format!("`{key}` is empty: expected at least one"));
    }
    match entries.iter().enumerate().find(|(at, entry)| entries[..*at].contains(entry)) {
        Some((_, twice)) => Err(format!("`{key}` has {twice} twice: expected each once")),
        None => Ok(()),
    }
}

impl Test {
    /// All tests.
    pub const ALL: [Self; 4] = [Self::PairedT, Self::Wilcoxon, Self::Randomization, Self::MannWhitney];

    /// The name in sweep files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::PairedT => "paired-t",
            Self::Wilcoxon => "wilcoxon",
            Self::Randomization => "randomization",
            Self::MannWhitney => "mann-whitney",
        }
    }
}

impl Correction {
    /// All corrections.
    pub const ALL: [Self; 4] = [Self::None, Self::Bonferroni, Self::Holm, Self::BenjaminiHochberg];

    /// The name in sweep files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bonferroni => "bonferroni",
            Self::Holm => "holm",
            Self::BenjaminiHochberg => "benjamini-hochberg",
        }
    }
}

impl Significance {
    /// Refuses numbers out of range, with the key at fault.
    pub fn validate(&self) -> Result<()> {
        let refuse = |key, value: String, expected| Err(Error::Setting { key, value, expected });
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return refuse("alpha", self.alpha.to_string(), "a number between 0 and 1, such as 0.05");
        }
        if self.resamples == 0 {
            return refuse("resamples", self.resamples.to_string(), "1 or more, such as 100000");
        }
        if self.bootstrap_resamples == 0 {
            return refuse("bootstrap_resamples", self.bootstrap_resamples.to_string(), "1 or more, such as 10000");
        }
        Ok(())
    }
}

impl Default for Evaluation {
    fn default() -> Self {
        Self {
            metrics: vec![Metric::Ndcg, Metric::Recall, Metric::Precision, Metric::Mrr],
            cutoffs: vec![20],
            users: Users::Known,
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
            bootstrap_resamples: 10_000,
            seed: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused() {
        let message = |significance: Significance| significance.validate().unwrap_err().to_string();
        let default = Significance::default();
        assert!(default.validate().is_ok());
        let alpha = Significance { alpha: 1.5, ..default.clone() };
        assert_eq!(message(alpha), "`alpha` is 1.5: expected a number between 0 and 1, such as 0.05");
        let resamples = Significance { resamples: 0, ..default.clone() };
        assert_eq!(message(resamples), "`resamples` is 0: expected 1 or more, such as 100000");
        let resamples = Significance { bootstrap_resamples: 0, ..default };
        assert_eq!(message(resamples), "`bootstrap_resamples` is 0: expected 1 or more, such as 10000");
    }

    #[test]
    fn names_are_those_of_the_sweep_file() {
        for test in Test::ALL {
            assert_eq!(serde_json::to_value(test).unwrap(), test.name());
        }
        for correction in Correction::ALL {
            assert_eq!(serde_json::to_value(correction).unwrap(), correction.name());
        }
    }

    #[test]
    fn lists_are_checked_with_their_key() {
        let default = Evaluation::default();
        assert_eq!(default.check(), Ok(()));
        let message = |evaluation: Evaluation| evaluation.check().unwrap_err();
        let twice = Evaluation { metrics: vec![Metric::Map, Metric::Auc, Metric::Map], ..default.clone() };
        assert_eq!(message(twice), "`metrics` has map twice: expected each once");
        assert_eq!(message(Evaluation { cutoffs: vec![], ..default.clone() }), "`cutoffs` is empty: expected at least one");
        assert_eq!(message(Evaluation { cutoffs: vec![5, 0], ..default.clone() }), "`cutoffs` has 0: expected lengths of lists, 1 or more");
        let resamples = Significance { resamples: 999, ..Significance::default() };
        let message = message(Evaluation { significance: resamples, ..default });
        assert_eq!(message, "`resamples` is 999: expected 1000 or more, such as 100000");
    }

    #[test]
    fn auc_stands_once_and_without_a_cutoff() {
        let evaluation = Evaluation { metrics: vec![Metric::Auc, Metric::Map], cutoffs: vec![20, 5], ..Evaluation::default() };
        let names: Vec<String> = evaluation.metric_ats().iter().map(MetricAt::to_string).collect();
        assert_eq!(names, ["auc", "map@20", "map@5"]);
    }
}

//! The `evaluation` block of a sweep file.

pub use crate::{
    metric::denominator::RecallDenominator,
    part::Users,
    rank::SampledCandidates,
    significance::{Correction, Family, Margin, Over, Significance, Test},
};
pub use vectors::Ties;

use crate::{Metric, MetricAt, metric::is_cutoff};
use serde::{Deserialize, Serialize};

/// What is measured, by which conventions, and how differences are tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Evaluation {
    /// The metrics of the tables.
    pub metrics: Vec<Metric>,
    /// The lengths at which lists are cut.
    pub cutoffs: Vec<u32>,
    /// The metric and cutoff that verdicts are about; all others are exploratory. A sweep without it takes `select_by` where that is measured, else
    /// the first metric that [decides](Metric::decides) at the first cutoff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<MetricAt>,
    /// Which users with held-out items are ranked.
    pub users: Users,
    /// The items that held-out ones are ranked among, to be set beside printed values of sampled candidates; the full catalogue when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled_candidates: Option<SampledCandidates>,
    /// Which known items are left out of the test ranking.
    pub mask: Mask,
    /// The denominator of recall.
    pub recall: RecallDenominator,
    /// Where a held-out item stands among items of the same score.
    pub ties: Ties,
    /// How differences between methods are tested.
    pub significance: Significance,
}

/// Which known items are left out of the test ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mask {
    /// The items of train and of validation.
    TrainAndValidation,
    /// The items of train: validation items stay and count as misses, as in the release of paper 001.
    TrainOnly,
}

impl Evaluation {
    /// The metrics at their cutoffs, metric by metric; `auc` has none.
    pub fn metric_ats(&self) -> Vec<MetricAt> {
        let of = |&metric: &Metric| match metric.has_cutoff() {
            false => vec![MetricAt { metric, cutoff: None }],
            true => self.cutoffs.iter().map(|&cutoff| MetricAt { metric, cutoff: Some(cutoff) }).collect(),
        };
        self.metrics.iter().flat_map(of).collect()
    }

    /// The metric and cutoff that verdicts are about: `primary`, or the first metric that [decides](Metric::decides) at the first cutoff.
    pub fn primary(&self) -> MetricAt {
        let all = self.metric_ats();
        self.primary.unwrap_or_else(|| all.iter().copied().find(|at| at.metric.decides()).unwrap_or(all[0]))
    }

    /// These settings with the primary metric decided: as typed, else `select_by` where it is measured, else the first metric at the first cutoff.
    pub fn with_primary(&self, select_by: MetricAt) -> Self {
        let measured = Some(select_by).filter(|at| self.metric_ats().contains(at));
        Self { primary: Some(self.primary.or(measured).unwrap_or_else(|| self.primary())), ..self.clone() }
    }

    /// Refuses what cannot be evaluated.
    ///
    /// # Errors
    /// A sentence with the key at fault, its value and what was expected.
    pub fn check(&self) -> Result<(), String> {
        distinct("metrics", self.metrics.iter().map(|metric| metric.name()))?;
        distinct("cutoffs", self.cutoffs.iter())?;
        distinct("tests", self.significance.tests.iter().map(|test| test.name()))?;
        if let Some(cutoff) = self.cutoffs.iter().find(|cutoff| !is_cutoff(**cutoff)) {
            return Err(format!("`cutoffs` has {cutoff}: expected lengths of lists, from 1 to {}", u32::MAX - 1));
        }
        if self.sampled_candidates.is_some_and(|sample| sample.negatives == 0) {
            return Err(
                "`sampled_candidates.negatives` is 0: expected 1 or more; the full catalogue is ranked when the key is left out".to_owned()
            );
        }
        if let Some(metric) = self.metrics.iter().find(|metric| self.sampled_candidates.is_some() && !metric.is_of_ranks()) {
            return Err(format!(
                "`metrics` has {}, of what lists are like: `sampled_candidates` are ranked in no list, leave one of them out",
                metric.name()
            ));
        }
        if let Some(primary) = self.primary.filter(|primary| !self.metric_ats().contains(primary)) {
            let measured: Vec<String> = self.metric_ats().iter().map(MetricAt::to_string).collect();
            return Err(format!("`primary` is {primary}: expected one of those measured, {}", measured.join(", ")));
        }
        if !self.metrics.iter().any(|metric| metric.decides()) {
            let names: Vec<&str> = self.metrics.iter().map(|metric| metric.name()).collect();
            return Err(format!(
                "`metrics` is {}, by none of which methods rank: expected one of {} among them",
                names.join(", "),
                Metric::deciding()
            ));
        }
        if let Some(primary) = self.primary.filter(|primary| !primary.metric.decides()) {
            return Err(format!("`primary` is {primary}, which does not say who ranks better: expected one of {}", Metric::deciding()));
        }
        self.significance.validate().map_err(|error| error.to_string())
    }
}

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

impl Default for Evaluation {
    fn default() -> Self {
        Self {
            metrics: vec![Metric::Ndcg, Metric::Recall, Metric::Precision, Metric::Mrr],
            cutoffs: vec![20],
            primary: None,
            users: Users::Known,
            sampled_candidates: None,
            mask: Mask::TrainAndValidation,
            recall: RecallDenominator::Standard,
            ties: Ties::Pessimistic,
            significance: Significance::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_checked_with_their_key() {
        let default = Evaluation::default();
        assert_eq!(default.check(), Ok(()));
        let message = |evaluation: Evaluation| evaluation.check().unwrap_err();
        let twice = Evaluation { metrics: vec![Metric::Map, Metric::Auc, Metric::Map], ..default.clone() };
        assert_eq!(message(twice), "`metrics` has map twice: expected each once");
        assert_eq!(message(Evaluation { cutoffs: vec![], ..default.clone() }), "`cutoffs` is empty: expected at least one");
        assert_eq!(
            message(Evaluation { cutoffs: vec![5, 0], ..default.clone() }),
            "`cutoffs` has 0: expected lengths of lists, from 1 to 4294967294"
        );
        let none = Evaluation { sampled_candidates: Some(SampledCandidates { negatives: 0, seed: 1 }), ..default.clone() };
        let lists = Evaluation {
            sampled_candidates: Some(SampledCandidates { negatives: 9, seed: 1 }),
            metrics: vec![Metric::Ndcg, Metric::Gini],
            ..default.clone()
        };
        assert!(message(lists).starts_with("`metrics` has gini, of what lists are like: `sampled_candidates` are ranked in no list"));
        assert!(message(none).starts_with("`sampled_candidates.negatives` is 0: expected 1 or more"));
        let primary = Evaluation { primary: Some("map@10".parse().unwrap()), metrics: vec![Metric::Map], cutoffs: vec![5, 20], ..default };
        assert_eq!(message(primary), "`primary` is map@10: expected one of those measured, map@5, map@20");
    }

    #[test]
    fn what_lists_are_like_does_not_decide() {
        let of = |metrics: &[Metric]| Evaluation { metrics: metrics.to_vec(), ..Evaluation::default() };
        let described = of(&[Metric::Gini, Metric::Novelty, Metric::Recall]);
        assert_eq!((described.check(), described.primary().to_string()), (Ok(()), "recall@20".to_owned()));
        let message = of(&[Metric::Gini, Metric::Coverage]).check().unwrap_err();
        assert!(
            message.starts_with("`metrics` is gini, coverage, by none of which methods rank: expected one of ndcg, recall,"),
            "{message}"
        );
        let primary = Evaluation { primary: Some("coverage@20".parse().unwrap()), ..of(&[Metric::Ndcg, Metric::Coverage]) };
        assert!(
            primary.check().unwrap_err().starts_with("`primary` is coverage@20, which does not say who ranks better: expected one of ndcg")
        );
    }

    #[test]
    fn auc_stands_once_and_without_a_cutoff() {
        let evaluation = Evaluation { metrics: vec![Metric::Auc, Metric::Map], cutoffs: vec![20, 5], ..Evaluation::default() };
        let names: Vec<String> = evaluation.metric_ats().iter().map(MetricAt::to_string).collect();
        assert_eq!(names, ["auc", "map@20", "map@5"]);
    }

    #[test]
    fn the_primary_metric_is_the_one_typed_else_that_of_selection_else_the_first() {
        let evaluation = Evaluation { metrics: vec![Metric::Map, Metric::Ndcg], cutoffs: vec![5, 20], ..Evaluation::default() };
        let primary = |evaluation: &Evaluation, select_by: &str| evaluation.with_primary(select_by.parse().unwrap()).primary().to_string();
        assert_eq!(evaluation.primary().to_string(), "map@5");
        assert_eq!((primary(&evaluation, "ndcg@20"), primary(&evaluation, "ndcg@10")), ("ndcg@20".into(), "map@5".into()));
        let typed = Evaluation { primary: Some("map@20".parse().unwrap()), ..evaluation };
        assert_eq!(primary(&typed, "ndcg@20"), "map@20");
    }
}

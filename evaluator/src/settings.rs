//! The `evaluation` block of a sweep file.

pub use crate::{
    metric::denominator::Recall,
    part::Users,
    significance::{Correction, Family, Margin, Over, Significance, Test},
};
pub use vectors::Ties;

use crate::{Metric, MetricAt};
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
    /// the first metric at the first cutoff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<MetricAt>,
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

    /// The metric and cutoff that verdicts are about: `primary`, or the first metric at the first cutoff.
    pub fn primary(&self) -> MetricAt {
        self.primary.unwrap_or_else(|| self.metric_ats()[0])
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
        if self.cutoffs.contains(&0) {
            return Err("`cutoffs` has 0: expected lengths of lists, 1 or more".to_owned());
        }
        if let Some(primary) = self.primary.filter(|primary| !self.metric_ats().contains(primary)) {
            let measured: Vec<String> = self.metric_ats().iter().map(MetricAt::to_string).collect();
            return Err(format!("`primary` is {primary}: expected one of those measured, {}", measured.join(", ")));
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
            mask: Mask::TrainAndValidation,
            recall: Recall::Standard,
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
        assert_eq!(message(Evaluation { cutoffs: vec![5, 0], ..default.clone() }), "`cutoffs` has 0: expected lengths of lists, 1 or more");
        let primary = Evaluation { primary: Some("map@10".parse().unwrap()), metrics: vec![Metric::Map], cutoffs: vec![5, 20], ..default };
        assert_eq!(message(primary), "`primary` is map@10: expected one of those measured, map@5, map@20");
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

//! The measured values of each method, by dataset and metric.

use super::Input;
use evaluator::{MetricAt, significance::MethodComponents};
use std::collections::HashMap;

/// Every method's mean with its components of variance.
pub(super) struct Measured<'a>(HashMap<(&'a str, MetricAt, &'a str), &'a MethodComponents>);

impl<'a> Measured<'a> {
    pub(super) fn new(input: &Input<'a>) -> Self {
        Self(input.components.iter().map(|row| ((row.dataset.as_str(), row.metric, row.method.as_str()), row)).collect())
    }

    /// The mean of a method and the parts of its variance; none where it was not measured.
    pub(super) fn of(&self, dataset: &str, at: MetricAt, method: &str) -> Option<&'a MethodComponents> {
        self.0.get(&(dataset, at, method)).copied()
    }
}

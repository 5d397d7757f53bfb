//! The validation metric of a model, and its per-user values.

use crate::Result;
use arrow::array::{Float64Array, StringArray, UInt32Array};
use dataset::{Dataset, Location, table};
use evaluator::{
    MetricAt, Rankings, Scorer, metric, rank,
    settings::{Recall, Ties},
};
use std::sync::Arc;

/// One model's validation: train items are masked, ties are pessimistic, recall is the standard one.
#[derive(Debug, PartialEq)]
pub(crate) struct Validation {
    pub(crate) mean: f64,
    users: Vec<u32>,
    values: Vec<f64>,
}

/// Ranks the validation part; `None` where there is none.
pub(crate) fn validate(scorer: &Scorer, dataset: &Dataset, select_by: MetricAt, memory: usize) -> Result<Option<Validation>> {
    if dataset.validation.is_empty() {
        return Ok(None);
    }
    let (train, limit) = (&dataset.train, metric::depth(&[select_by]));
    let rankings = rank::rank_within(scorer, train, &[train], &dataset.validation, Ties::Pessimistic, memory, limit)?;
    Ok(Some(Validation::new(rankings, select_by)))
}

impl Validation {
    /// Of at least one user's ranks.
    pub(crate) fn new(rankings: Rankings, select_by: MetricAt) -> Self {
        let values = metric::values(&rankings, select_by, Recall::Standard);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Self { mean, users: rankings.users, values }
    }

    /// Writes `per_user.parquet`.
    pub(super) fn write(&self, at: &Location, dataset: &Dataset, select_by: MetricAt) -> Result<()> {
        let rows = self.users.len();
        let user_ids = StringArray::from_iter_values(self.users.iter().map(|&user| &dataset.user_ids[user as usize]));
        let metrics = StringArray::from_iter_values(std::iter::repeat_n(select_by.metric.name(), rows));
        let batch = table::batch(vec![
            ("user", Arc::new(UInt32Array::from(self.users.clone())), false),
            ("user_id", Arc::new(user_ids), false),
            ("metric", Arc::new(metrics), false),
            ("cutoff", Arc::new(UInt32Array::from(vec![select_by.cutoff; rows])), true),
            ("value", Arc::new(Float64Array::from(self.values.clone())), false),
        ]);
        Ok(table::write(at, &batch)?)
    }
}

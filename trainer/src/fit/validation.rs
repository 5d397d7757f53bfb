//! The validation metric of a model, and its per-user values.

use crate::Result;
use arrow::{
    array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array},
    datatypes::{DataType, Field, Schema},
};
use dataset::{Dataset, Location, table};
use evaluator::{
    MetricAt, Scorer, metric, rank,
    settings::{Recall, Ties},
};
use std::sync::Arc;

/// One model's validation: train items are masked, ties are pessimistic, recall is the standard one.
pub(super) struct Validation {
    pub(super) mean: f64,
    users: Vec<u32>,
    values: Vec<f64>,
}

/// Ranks the validation part; `None` where there is none.
pub(super) fn validate(scorer: &Scorer, dataset: &Dataset, select_by: MetricAt, memory: usize) -> Result<Option<Validation>> {
    if dataset.validation.is_empty() {
        return Ok(None);
    }
    let rankings = rank::rank(scorer, &dataset.train, &[&dataset.train], &dataset.validation, Ties::Pessimistic, memory)?;
    let values = metric::values(&rankings, select_by, Recall::Standard);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Ok(Some(Validation { mean, users: rankings.users, values }))
}

impl Validation {
    /// Writes `per_user.parquet`.
    pub(super) fn write(&self, at: &Location, dataset: &Dataset, select_by: MetricAt) -> Result<()> {
        let rows = self.users.len();
        let columns: Vec<(Field, ArrayRef)> = vec![
            (Field::new("user", DataType::UInt32, false), Arc::new(UInt32Array::from(self.users.clone()))),
            (
                Field::new("user_id", DataType::Utf8, false),
                Arc::new(StringArray::from_iter_values(self.users.iter().map(|&user| &dataset.user_ids[user as usize]))),
            ),
            (
                Field::new("metric", DataType::Utf8, false),
                Arc::new(StringArray::from_iter_values(std::iter::repeat_n(select_by.metric.name(), rows))),
            ),
            (Field::new("cutoff", DataType::UInt32, true), Arc::new(UInt32Array::from(vec![select_by.cutoff; rows]))),
            (Field::new("value", DataType::Float64, false), Arc::new(Float64Array::from(self.values.clone()))),
        ];
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("five columns of one length");
        Ok(table::write(at, &batch)?)
    }
}

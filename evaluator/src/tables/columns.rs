//! Columns in and out of batches.

use super::content;
use crate::{Metric, MetricAt, Result};
use arrow::{
    array::{Array, ArrayRef, RecordBatch, StringArray, UInt32Array},
    datatypes::{Field, Schema},
};
use dataset::{Location, table};
use std::sync::Arc;

/// A batch of named columns of one length; `true` marks those that may hold nulls.
pub(super) fn batch(columns: Vec<(&str, bool, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, nullable, column)| Field::new(*name, column.data_type().clone(), *nullable)).collect();
    let columns = columns.into_iter().map(|(_, _, column)| column).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("columns of one length, and nulls only where announced")
}

pub(super) fn strings<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    Arc::new(values.into_iter().map(Some).collect::<StringArray>())
}

pub(super) fn numbers(values: impl IntoIterator<Item = u32>) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(values))
}

/// The columns `metric` and `cutoff`.
pub(super) fn metric_columns(metrics: impl Iterator<Item = MetricAt> + Clone) -> [(&'static str, bool, ArrayRef); 2] {
    let cutoffs: UInt32Array = metrics.clone().map(|at| at.cutoff).collect();
    [("metric", false, strings(metrics.map(|at| at.metric.name()))), ("cutoff", true, Arc::new(cutoffs))]
}

/// The metrics of the columns `metric` and `cutoff`, by row.
pub(super) fn metrics(batch: &RecordBatch, at: &Location) -> Result<Vec<MetricAt>> {
    let names: &StringArray = table::column(batch, "metric", at)?;
    let cutoffs: &UInt32Array = table::column(batch, "cutoff", at)?;
    let rows = (0..batch.num_rows()).map(|row| {
        let metric = Metric::ALL.into_iter().find(|metric| metric.name() == names.value(row));
        let metric =
            metric.ok_or_else(|| content(at, format!("unknown metric `{}`; was it written by a later version?", names.value(row))))?;
        Ok(MetricAt { metric, cutoff: cutoffs.is_valid(row).then(|| cutoffs.value(row)) })
    });
    rows.collect()
}

//! A trial's curve: the loss of each epoch and the validation metric of those that evaluate.

use crate::Result;
use crate::fit::checkpoint::stored_files::StoredCurve;
use arrow::array::{Array, Float64Array, StringArray, UInt32Array};
use dataset::{Location, table};
use evaluator::MetricAt;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) epoch: u32,
    pub(crate) seconds: f64,
    pub(crate) loss: f64,
    pub(crate) validation: Option<f64>,
}

pub(crate) fn write(folder: &Location, points: &[Point], select_by: MetricAt) -> Result<StoredCurve> {
    let evaluated = || points.iter().map(|point| point.validation.is_some());
    let metrics = StringArray::from_iter(evaluated().map(|evaluated| evaluated.then_some(select_by.metric.name())));
    let cutoffs = UInt32Array::from_iter(evaluated().map(|evaluated| select_by.cutoff.filter(|_| evaluated)));
    let batch = table::batch(vec![
        ("epoch", Arc::new(UInt32Array::from_iter_values(points.iter().map(|point| point.epoch))), false),
        ("seconds", Arc::new(Float64Array::from_iter_values(points.iter().map(|point| point.seconds))), false),
        ("loss", Arc::new(Float64Array::from_iter_values(points.iter().map(|point| point.loss))), false),
        ("metric", Arc::new(metrics), true),
        ("cutoff", Arc::new(cutoffs), true),
        ("value", Arc::new(Float64Array::from_iter(points.iter().map(|point| point.validation))), true),
    ]);
    StoredCurve::write(folder, table::encode(&batch)?)
}

/// The points of a curve, as they were written.
pub(crate) fn read(at: &Location) -> Result<Vec<Point>> {
    let batch = table::read(at)?;
    let epochs = table::column::<UInt32Array>(&batch, "epoch", at)?.values();
    let numbers = |name| table::column::<Float64Array>(&batch, name, at);
    let (seconds, losses, values) = (numbers("seconds")?.values(), numbers("loss")?.values(), numbers("value")?);
    let value = |row: usize| values.is_valid(row).then(|| values.value(row));
    let point = |row: usize| Point { epoch: epochs[row], seconds: seconds[row], loss: losses[row], validation: value(row) };
    Ok((0..batch.num_rows()).map(point).collect())
}

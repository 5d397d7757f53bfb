//! `curve.parquet`: the loss of each epoch and the validation metric of those that evaluate.

use crate::Result;
use arrow::{
    array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array},
    datatypes::{DataType, Field, Schema},
};
use dataset::{Location, table};
use evaluator::MetricAt;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) epoch: u32,
    pub(super) seconds: f64,
    pub(super) loss: f64,
    pub(super) validation: Option<f64>,
}

pub(super) fn write(at: &Location, points: &[Point], select_by: MetricAt) -> Result<()> {
    let evaluated = || points.iter().map(|point| point.validation.is_some());
    let columns: Vec<(Field, ArrayRef)> = vec![
        (Field::new("epoch", DataType::UInt32, false), Arc::new(UInt32Array::from_iter_values(points.iter().map(|point| point.epoch)))),
        (
            Field::new("seconds", DataType::Float64, false),
            Arc::new(Float64Array::from_iter_values(points.iter().map(|point| point.seconds))),
        ),
        (Field::new("loss", DataType::Float64, false), Arc::new(Float64Array::from_iter_values(points.iter().map(|point| point.loss)))),
        (
            Field::new("metric", DataType::Utf8, true),
            Arc::new(StringArray::from_iter(evaluated().map(|evaluated| evaluated.then_some(select_by.metric.name())))),
        ),
        (
            Field::new("cutoff", DataType::UInt32, true),
            Arc::new(UInt32Array::from_iter(evaluated().map(|evaluated| select_by.cutoff.filter(|_| evaluated)))),
        ),
        (Field::new("value", DataType::Float64, true), Arc::new(Float64Array::from_iter(points.iter().map(|point| point.validation)))),
    ];
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("six columns of one length");
    Ok(table::write(at, &batch)?)
}

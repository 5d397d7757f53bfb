//! `significance.parquet`: every pair of methods under every test.
//!
//! ```text
//! dataset: utf8   metric: utf8   cutoff: uint32, null for auc   method_a, method_b: utf8   users: uint32
//! mean_a, mean_b, difference, ci_low, ci_high: float64   test: utf8   statistic, p_value, p_adjusted: float64   correction: utf8
//! effect_size: float64   significant: bool
//! ```
//! Rows stand as given. What the numbers mean is said in [`Comparison`].

use super::{columns, content};
use crate::{
    Result,
    settings::{Correction, Test},
    significance::Comparison,
};
use arrow::array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt32Array};
use dataset::{Location, table};
use std::sync::Arc;

/// Writes comparisons.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) when it cannot be stored.
pub fn write_significance(at: &Location, rows: &[Comparison]) -> Result<()> {
    let text = |name, field: fn(&Comparison) -> &str| columns::strings(at, name, rows.iter().map(field));
    let real = |name, field: fn(&Comparison) -> f64| {
        let column: ArrayRef = Arc::new(Float64Array::from_iter_values(rows.iter().map(field)));
        (name, column, false)
    };
    let [metric, cutoff] = columns::metric_columns(at, rows.iter().map(|row| row.metric))?;
    let significant: BooleanArray = rows.iter().map(|row| Some(row.significant)).collect();
    let batch = table::batch(vec![
        text("dataset", |row| &row.dataset)?,
        metric,
        cutoff,
        text("method_a", |row| &row.method_a)?,
        text("method_b", |row| &row.method_b)?,
        ("users", columns::numbers(rows.iter().map(|row| row.users as u32)), false),
        real("mean_a", |row| row.mean_a),
        real("mean_b", |row| row.mean_b),
        real("difference", |row| row.difference),
        real("ci_low", |row| row.ci_low),
        real("ci_high", |row| row.ci_high),
        text("test", |row| row.test.name())?,
        real("statistic", |row| row.statistic),
        real("p_value", |row| row.p_value),
        real("p_adjusted", |row| row.p_adjusted),
        text("correction", |row| row.correction.name())?,
        real("effect_size", |row| row.effect_size),
        ("significant", Arc::new(significant), false),
    ]);
    Ok(table::write(at, &batch)?)
}

/// Reads comparisons that [`write_significance`] wrote.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) when it is missing or is not this table.
pub fn read_significance(at: &Location) -> Result<Vec<Comparison>> {
    let batch = table::read(at)?;
    let text = |name| table::column::<StringArray>(&batch, name, at);
    let real = |name| table::column::<Float64Array>(&batch, name, at);
    let (dataset, method_a, method_b) = (text("dataset")?, text("method_a")?, text("method_b")?);
    let users: &UInt32Array = table::column(&batch, "users", at)?;
    let (mean_a, mean_b, difference) = (real("mean_a")?, real("mean_b")?, real("difference")?);
    let (ci_low, ci_high, statistic, effect_size) = (real("ci_low")?, real("ci_high")?, real("statistic")?, real("effect_size")?);
    let (test, p_value, p_adjusted, correction) = (text("test")?, real("p_value")?, real("p_adjusted")?, text("correction")?);
    let significant: &BooleanArray = table::column(&batch, "significant", at)?;
    let rows = columns::metrics(&batch, at)?.into_iter().enumerate().map(|(row, metric)| {
        Ok(Comparison {
            dataset: dataset.value(row).to_owned(),
            metric,
            method_a: method_a.value(row).to_owned(),
            method_b: method_b.value(row).to_owned(),
            users: users.value(row) as usize,
            mean_a: mean_a.value(row),
            mean_b: mean_b.value(row),
            difference: difference.value(row),
            ci_low: ci_low.value(row),
            ci_high: ci_high.value(row),
            test: test_named(test.value(row)).ok_or_else(|| content(at, format!("unknown test `{}`", test.value(row))))?,
            statistic: statistic.value(row),
            p_value: p_value.value(row),
            p_adjusted: p_adjusted.value(row),
            correction: correction_named(correction.value(row))
                .ok_or_else(|| content(at, format!("unknown correction `{}`", correction.value(row))))?,
            effect_size: effect_size.value(row),
            significant: significant.value(row),
        })
    });
    rows.collect()
}

fn test_named(name: &str) -> Option<Test> {
    Test::ALL.into_iter().find(|test| test.name() == name)
}

fn correction_named(name: &str) -> Option<Correction> {
    Correction::ALL.into_iter().find(|correction| correction.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let row = |metric: &str, significant| Comparison {
            dataset: "small".to_owned(),
            metric: metric.parse().unwrap(),
            method_a: "a".to_owned(),
            method_b: "b".to_owned(),
            users: 10,
            mean_a: 0.377,
            mean_b: 0.349,
            difference: 0.028,
            ci_low: 0.00645996,
            ci_high: 0.04954004,
            test: Test::PairedT,
            statistic: 2.94058818,
            p_value: 0.01647098,
            p_adjusted: 0.03294196,
            correction: Correction::Holm,
            effect_size: 0.85019029,
            significant,
        };
        let rows = [row("ndcg@20", true), row("auc", false)];
        let at = Location::parse("memory:///tables/significance.parquet").unwrap();
        write_significance(&at, &rows).unwrap();
        assert_eq!(read_significance(&at).unwrap(), rows);
        write_significance(&at, &[]).unwrap();
        assert_eq!(read_significance(&at).unwrap(), []);
    }
}

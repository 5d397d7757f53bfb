//! `significance.parquet`: every comparison of two methods under every test.
//!
//! ```text
//! dataset: utf8   metric: utf8   cutoff: uint32, null for auc   primary: bool   method_a, method_b: utf8   users, replicates_a, replicates_b: uint32
//! mean_a, mean_b, difference: float64   standard_error, ci_low, ci_high: float64 or null   test, over, spread: utf8
//! statistic, p_value, p_adjusted: float64   family, correction: utf8   effect_size: float64   significant: bool
//! margin, p_equivalence: float64 or null   verdict: utf8   needed_seeds: uint32 or null   needed_users: uint64 or null
//! ```
//! Rows stand as given. What the numbers mean is said in [`Comparison`].

use super::{columns, content};
use crate::{
    Result,
    settings::{Correction, Over, Test},
    significance::{Comparison, Spread, Verdict},
};
use arrow::array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray, UInt32Array, UInt64Array};
use dataset::{
    FileEntry, Location,
    table::{self, Column},
};
use std::sync::Arc;

/// Writes comparisons.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) when it cannot be stored.
pub fn write_significance(at: &Location, rows: &[Comparison]) -> Result<FileEntry> {
    let text = |name, field: fn(&Comparison) -> &str| columns::strings(at, name, rows.iter().map(field));
    let real = |name, field: fn(&Comparison) -> f64| columns::reals(name, rows.iter().map(field));
    let maybe = |name, field: fn(&Comparison) -> Option<f64>| columns::reals_or_null(name, rows.iter().map(field));
    let flag = |name, field: fn(&Comparison) -> bool| -> Column {
        (name, Arc::new(rows.iter().map(|row| Some(field(row))).collect::<BooleanArray>()), false)
    };
    let count = |name, field: fn(&Comparison) -> usize| (name, columns::numbers(rows.iter().map(|row| field(row) as u32)), false);
    let [metric, cutoff] = columns::metric_columns(at, rows.iter().map(|row| row.metric))?;
    let needed_seeds: ArrayRef = Arc::new(rows.iter().map(|row| row.needed_seeds).collect::<UInt32Array>());
    let needed_users: ArrayRef = Arc::new(rows.iter().map(|row| row.needed_users).collect::<UInt64Array>());
    let batch = table::batch(vec![
        text("dataset", |row| &row.dataset)?,
        metric,
        cutoff,
        flag("primary", |row| row.primary),
        text("method_a", |row| &row.method_a)?,
        text("method_b", |row| &row.method_b)?,
        count("users", |row| row.users),
        count("replicates_a", |row| row.replicates_a),
        count("replicates_b", |row| row.replicates_b),
        real("mean_a", |row| row.mean_a),
        real("mean_b", |row| row.mean_b),
        real("difference", |row| row.difference),
        maybe("standard_error", |row| row.standard_error),
        maybe("ci_low", |row| row.ci_low),
        maybe("ci_high", |row| row.ci_high),
        text("test", |row| row.test.name())?,
        text("over", |row| row.over.name())?,
        text("spread", |row| row.spread.name())?,
        real("statistic", |row| row.statistic),
        real("p_value", |row| row.p_value),
        real("p_adjusted", |row| row.p_adjusted),
        text("family", |row| &row.family)?,
        text("correction", |row| row.correction.name())?,
        real("effect_size", |row| row.effect_size),
        flag("significant", |row| row.significant),
        maybe("margin", |row| row.margin),
        maybe("p_equivalence", |row| row.p_equivalence),
        text("verdict", |row| row.verdict.name())?,
        ("needed_seeds", needed_seeds, true),
        ("needed_users", needed_users, true),
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
    let flag = |name| table::column::<BooleanArray>(&batch, name, at);
    let count = |name| table::column::<UInt32Array>(&batch, name, at);
    let (dataset, method_a, method_b, family) = (text("dataset")?, text("method_a")?, text("method_b")?, text("family")?);
    let (users, replicates_a, replicates_b) = (count("users")?, count("replicates_a")?, count("replicates_b")?);
    let (mean_a, mean_b, difference, standard_error) = (real("mean_a")?, real("mean_b")?, real("difference")?, real("standard_error")?);
    let (ci_low, ci_high, statistic, effect_size) = (real("ci_low")?, real("ci_high")?, real("statistic")?, real("effect_size")?);
    let (p_value, p_adjusted, margin, p_equivalence) = (real("p_value")?, real("p_adjusted")?, real("margin")?, real("p_equivalence")?);
    let (test, over, spread, correction, verdict) = (text("test")?, text("over")?, text("spread")?, text("correction")?, text("verdict")?);
    let (primary, significant) = (flag("primary")?, flag("significant")?);
    let (needed_seeds, needed_users) = (count("needed_seeds")?, table::column::<UInt64Array>(&batch, "needed_users", at)?);
    let maybe = |column: &Float64Array, row: usize| column.is_valid(row).then(|| column.value(row));
    let rows = columns::metrics(&batch, at)?.into_iter().enumerate().map(|(row, metric)| {
        Ok(Comparison {
            dataset: dataset.value(row).to_owned(),
            metric,
            primary: primary.value(row),
            method_a: method_a.value(row).to_owned(),
            method_b: method_b.value(row).to_owned(),
            users: users.value(row) as usize,
            replicates_a: replicates_a.value(row) as usize,
            replicates_b: replicates_b.value(row) as usize,
            mean_a: mean_a.value(row),
            mean_b: mean_b.value(row),
            difference: difference.value(row),
            standard_error: maybe(standard_error, row),
            ci_low: maybe(ci_low, row),
            ci_high: maybe(ci_high, row),
            test: named(at, "test", &Test::ALL, Test::name, test.value(row))?,
            over: named(at, "over", &Over::ALL, Over::name, over.value(row))?,
            spread: named(at, "spread", &Spread::ALL, Spread::name, spread.value(row))?,
            statistic: statistic.value(row),
            p_value: p_value.value(row),
            p_adjusted: p_adjusted.value(row),
            family: family.value(row).to_owned(),
            correction: named(at, "correction", &Correction::ALL, Correction::name, correction.value(row))?,
            effect_size: effect_size.value(row),
            significant: significant.value(row),
            margin: maybe(margin, row),
            p_equivalence: maybe(p_equivalence, row),
            verdict: named(at, "verdict", &Verdict::ALL, Verdict::name, verdict.value(row))?,
            needed_seeds: needed_seeds.is_valid(row).then(|| needed_seeds.value(row)),
            needed_users: needed_users.is_valid(row).then(|| needed_users.value(row)),
        })
    });
    rows.collect()
}

/// The one of several values that has a name, of the column `what`.
pub(super) fn named<T: Copy>(at: &Location, what: &str, all: &[T], name: fn(T) -> &'static str, text: &str) -> Result<T> {
    all.iter()
        .copied()
        .find(|value| name(*value) == text)
        .ok_or_else(|| content(at, format!("unknown {what} `{text}`; was it written by a later version?")))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A comparison with every field filled.
    pub(crate) fn comparison(metric: &str, significant: bool) -> Comparison {
        Comparison {
            dataset: "small".to_owned(),
            metric: metric.parse().unwrap(),
            primary: metric == "ndcg@20",
            method_a: "a".to_owned(),
            method_b: "b".to_owned(),
            users: 10,
            replicates_a: 3,
            replicates_b: 1,
            mean_a: 0.377,
            mean_b: 0.349,
            difference: 0.028,
            standard_error: Some(0.0095),
            ci_low: Some(0.00645996),
            ci_high: Some(0.04954004),
            test: Test::PairedT,
            over: Over::UsersAndSeeds,
            spread: Spread::Pooled,
            statistic: 2.94058818,
            p_value: 0.01647098,
            p_adjusted: 0.03294196,
            family: "all-pairs".to_owned(),
            correction: Correction::RomanoWolf,
            effect_size: 0.85019029,
            significant,
            margin: Some(0.003),
            p_equivalence: Some(0.9),
            verdict: if significant { Verdict::Better } else { Verdict::Undecided },
            needed_seeds: Some(7),
            needed_users: None,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let ranks = Comparison {
            test: Test::Wilcoxon,
            standard_error: None,
            ci_low: None,
            ci_high: None,
            margin: None,
            p_equivalence: None,
            ..comparison("auc", false)
        };
        let rows = [comparison("ndcg@20", true), ranks];
        let at = Location::parse("memory:///tables/significance.parquet").unwrap();
        write_significance(&at, &rows).unwrap();
        assert_eq!(read_significance(&at).unwrap(), rows);
        write_significance(&at, &[]).unwrap();
        assert_eq!(read_significance(&at).unwrap(), []);
    }
}

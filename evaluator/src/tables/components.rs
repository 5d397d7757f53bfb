//! `variance_components.parquet`: each method's mean by each metric, and where its uncertainty comes from.
//!
//! ```text
//! dataset: utf8   metric: utf8   cutoff: uint32, null for auc   method: utf8   users, trials, splits: uint32   mean: float64
//! ci_low, ci_high: float64 or null   over: utf8   var_users, var_seeds, var_splits: float64 or null
//! var_replicate, degrees, var_interaction: float64   spread: utf8
//! ```
//! Rows stand as given. What the numbers mean is said in [`MethodComponents`].

use super::{columns, significance::named};
use crate::{
    Result,
    settings::Over,
    significance::{MethodComponents, Spread},
};
use arrow::array::{Array, Float64Array, StringArray, UInt32Array};
use dataset::{FileEntry, Location, table};

/// Writes the table.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) when it cannot be stored.
pub fn write_components(at: &Location, rows: &[MethodComponents]) -> Result<FileEntry> {
    let text = |name, field: fn(&MethodComponents) -> &str| columns::strings(at, name, rows.iter().map(field));
    let real = |name, field: fn(&MethodComponents) -> f64| columns::reals(name, rows.iter().map(field));
    let maybe = |name, field: fn(&MethodComponents) -> Option<f64>| columns::reals_or_null(name, rows.iter().map(field));
    let count = |name, field: fn(&MethodComponents) -> usize| (name, columns::numbers(rows.iter().map(|row| field(row) as u32)), false);
    let [metric, cutoff] = columns::metric_columns(at, rows.iter().map(|row| row.metric))?;
    let batch = table::batch(vec![
        text("dataset", |row| &row.dataset)?,
        metric,
        cutoff,
        text("method", |row| &row.method)?,
        count("users", |row| row.users),
        count("trials", |row| row.trials),
        count("splits", |row| row.splits),
        real("mean", |row| row.mean),
        maybe("ci_low", |row| row.ci_low),
        maybe("ci_high", |row| row.ci_high),
        text("over", |row| row.over.name())?,
        maybe("var_users", |row| row.var_users),
        maybe("var_seeds", |row| row.var_seeds),
        maybe("var_splits", |row| row.var_splits),
        real("var_replicate", |row| row.var_replicate),
        real("degrees", |row| row.degrees),
        real("var_interaction", |row| row.var_interaction),
        text("spread", |row| row.spread.name())?,
    ]);
    Ok(table::write(at, &batch)?)
}

/// Reads what [`write_components`] wrote.
///
/// # Errors
/// [`Error::Dataset`](crate::Error::Dataset) when it is missing or is not this table.
pub fn read_components(at: &Location) -> Result<Vec<MethodComponents>> {
    let batch = table::read(at)?;
    let text = |name| table::column::<StringArray>(&batch, name, at);
    let real = |name| table::column::<Float64Array>(&batch, name, at);
    let count = |name| table::column::<UInt32Array>(&batch, name, at);
    let (dataset, method, over, spread) = (text("dataset")?, text("method")?, text("over")?, text("spread")?);
    let (users, trials, splits) = (count("users")?, count("trials")?, count("splits")?);
    let (mean, ci_low, ci_high) = (real("mean")?, real("ci_low")?, real("ci_high")?);
    let (var_users, var_seeds, var_splits) = (real("var_users")?, real("var_seeds")?, real("var_splits")?);
    let (var_replicate, degrees, var_interaction) = (real("var_replicate")?, real("degrees")?, real("var_interaction")?);
    let maybe = |column: &Float64Array, row: usize| column.is_valid(row).then(|| column.value(row));
    let rows = columns::metrics(&batch, at)?.into_iter().enumerate().map(|(row, metric)| {
        Ok(MethodComponents {
            dataset: dataset.value(row).to_owned(),
            metric,
            method: method.value(row).to_owned(),
            users: users.value(row) as usize,
            trials: trials.value(row) as usize,
            splits: splits.value(row) as usize,
            mean: mean.value(row),
            ci_low: maybe(ci_low, row),
            ci_high: maybe(ci_high, row),
            over: named(at, "over", &Over::ALL, Over::name, over.value(row))?,
            var_users: maybe(var_users, row),
            var_seeds: maybe(var_seeds, row),
            var_splits: maybe(var_splits, row),
            var_replicate: var_replicate.value(row),
            degrees: degrees.value(row),
            var_interaction: var_interaction.value(row),
            spread: named(at, "spread", &Spread::ALL, Spread::name, spread.value(row))?,
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let full = MethodComponents {
            dataset: "small".to_owned(),
            metric: "ndcg@20".parse().unwrap(),
            method: "mf".to_owned(),
            users: 939,
            trials: 6,
            splits: 2,
            mean: 0.25,
            ci_low: Some(0.24),
            ci_high: Some(0.26),
            over: Over::UsersAndSeeds,
            var_users: Some(1e-5),
            var_seeds: Some(4e-6),
            var_splits: Some(0.0),
            var_replicate: 5e-6,
            degrees: 7.5,
            var_interaction: 1e-6,
            spread: Spread::Own,
        };
        let one = MethodComponents {
            metric: "auc".parse().unwrap(),
            ci_low: None,
            ci_high: None,
            var_users: None,
            var_seeds: None,
            var_splits: None,
            spread: Spread::Unknown,
            ..full.clone()
        };
        let rows = [full, one];
        let at = Location::parse("memory:///tables/variance_components.parquet").unwrap();
        write_components(&at, &rows).unwrap();
        assert_eq!(read_components(&at).unwrap(), rows);
    }
}

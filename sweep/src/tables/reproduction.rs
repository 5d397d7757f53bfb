//! `reproduction.parquet`: the numbers that a paper prints of the methods, beside ours. Its bytes are the same whenever the sweep is.

use super::{numbers, numbers_or_null, texts, texts_or_null};
use arrow::{
    array::BooleanArray,
    datatypes::{Float64Type, UInt32Type},
};
use dataset::{FileEntry, Location, Result, table};
use evaluator::{
    MetricAt,
    significance::{Agreement, Spread},
};
use std::sync::Arc;

/// One printed number.
#[derive(Clone, Debug, PartialEq)]
pub struct ReproductionRow {
    /// The place of the number in the paper.
    pub place: String,
    /// The dataset's name in the sweep file.
    pub dataset: String,
    /// The metric and where lists are cut.
    pub at: MetricAt,
    /// The method as the table of printed numbers names it.
    pub name: String,
    /// The method's key: the same in every table.
    pub method: String,
    /// The method as a reader sees it.
    pub title: String,
    /// The printed number.
    pub printed: f64,
    /// One unit of its last digit.
    pub unit: f64,
    /// Whether test users and their items are the paper's own, so that users add nothing to the uncertainty.
    pub same_users: bool,
    /// The difference that does not matter, in units of the metric.
    pub margin: f64,
    /// Our result; none where the method has none.
    pub ours: Option<Ours>,
}

/// Our mean beside a printed number.
#[derive(Clone, Debug, PartialEq)]
pub struct Ours {
    /// Mean over users, seeds and splits.
    pub mean: f64,
    /// Our mean less the printed number.
    pub difference: f64,
    /// Lower end of the interval of the difference at the level `1 - alpha`; none where the spread of seeds is not known.
    pub ci_low: Option<f64>,
    /// Its upper end.
    pub ci_high: Option<f64>,
    /// The two-sided p-value, that there is no difference.
    pub p_value: f64,
    /// The p-value that the difference is not within the margin.
    pub p_equivalence: f64,
    /// Seeds behind the mean, or splits.
    pub replicates: u32,
    /// Where the variance over seeds comes from.
    pub spread: Spread,
    /// The verdict on the printed number.
    pub agreement: Agreement,
}

/// The verdict on a number whose method has no result.
const MISSING: &str = "missing";

impl ReproductionRow {
    /// The verdict in a word: `reproduced`, `contradicted`, `undecided`, or `missing` where the method has no result.
    pub fn verdict(&self) -> &'static str {
        self.ours.as_ref().map_or(MISSING, |ours| ours.agreement.name())
    }
}

/// Writes the table.
///
/// # Errors
/// When it cannot be stored.
pub fn write(at: &Location, rows: &[ReproductionRow]) -> Result<FileEntry> {
    let value =
        |name, of: fn(&Ours) -> Option<f64>| numbers_or_null::<Float64Type>(name, rows.iter().map(|row| row.ours.as_ref().and_then(of)));
    let columns = vec![
        texts("place", rows.iter().map(|row| &row.place)),
        texts("dataset", rows.iter().map(|row| &row.dataset)),
        texts("metric", rows.iter().map(|row| row.at.metric.name())),
        numbers_or_null::<UInt32Type>("cutoff", rows.iter().map(|row| row.at.cutoff)),
        texts("name", rows.iter().map(|row| &row.name)),
        texts("method", rows.iter().map(|row| &row.method)),
        texts("title", rows.iter().map(|row| &row.title)),
        numbers::<Float64Type>("printed", rows.iter().map(|row| row.printed)),
        numbers::<Float64Type>("unit", rows.iter().map(|row| row.unit)),
        value("mean", |ours| Some(ours.mean)),
        value("difference", |ours| Some(ours.difference)),
        value("ci_low", |ours| ours.ci_low),
        value("ci_high", |ours| ours.ci_high),
        numbers::<Float64Type>("margin", rows.iter().map(|row| row.margin)),
        value("p_value", |ours| Some(ours.p_value)),
        value("p_equivalence", |ours| Some(ours.p_equivalence)),
        numbers_or_null::<UInt32Type>("replicates", rows.iter().map(|row| row.ours.as_ref().map(|ours| ours.replicates))),
        texts_or_null("spread", rows.iter().map(|row| row.ours.as_ref().map(|ours| ours.spread.name()))),
        ("same_users", Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.same_users)))), false),
        texts("verdict", rows.iter().map(ReproductionRow::verdict)),
    ];
    table::write(at, &table::batch(columns))
}

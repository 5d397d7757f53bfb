//! `claims.parquet`: a paper's claims about the methods, and what our tests say of them. Its bytes are the same whenever the sweep is.

use super::{numbers_or_null, texts, texts_or_null};
use arrow::datatypes::{Float64Type, UInt32Type};
use dataset::{FileEntry, Location, Result, table};
use evaluator::{
    MetricAt,
    settings::Over,
    significance::{Spread, Verdict},
};

/// One claim on one dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimRow {
    /// The place in the paper that claims it.
    pub place: String,
    /// The dataset's name in the sweep file.
    pub dataset: String,
    /// The metric and where lists are cut.
    pub at: MetricAt,
    /// `better`, `increasing`, `decreasing`, `equal` or `faster`.
    pub kind: &'static str,
    /// The claim in words.
    pub claim: String,
    /// The methods' keys, in the order of the claim.
    pub methods: Vec<String>,
    /// The result of the test; none where a method has no result.
    pub tested: Option<TestedClaim>,
}

/// The result of a test of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct TestedClaim {
    /// The difference as claimed, positive where the means agree with it; of a trend the rise of the least-squares line from end to end; of `faster`
    /// the natural logarithm of the ratio of epochs.
    pub difference: f64,
    /// The difference as a share of the second method's mean, of a trend of the mean of all; of `faster` the share of the slower method's epochs that is saved;
    /// none of a mean of 0.
    pub relative: Option<f64>,
    /// Its standard error, by what `over` names; none for one user.
    pub standard_error: Option<f64>,
    /// Lower end of its interval, adjusted as `p_adjusted` is; none for one user.
    pub ci_low: Option<f64>,
    /// Its upper end.
    pub ci_high: Option<f64>,
    /// The two-sided p-value.
    pub p_value: f64,
    /// The p-value adjusted after Holm for all claims of the sweep.
    pub p_adjusted: f64,
    /// Seeds of the methods, or splits; of the one with the fewest.
    pub replicates: u32,
    /// The sources of variance that are counted.
    pub over: Over,
    /// Where the variance over seeds comes from; the least certain one of the methods'.
    pub spread: Spread,
    /// The verdict on the difference as claimed.
    pub verdict: Verdict,
}

impl ClaimRow {
    /// The verdict in a word: `holds`, `reversed`, `equivalent`, `undecided`, or `missing` where a method has no result. What is claimed to be equal
    /// holds where the difference is within the margin, and is reversed where there is one.
    pub fn verdict(&self) -> &'static str {
        match self.tested.as_ref().map(|tested| tested.verdict) {
            Some(Verdict::Equivalent) if self.kind == "equal" => "holds",
            Some(Verdict::Better | Verdict::Higher) if self.kind == "equal" => "reversed",
            Some(Verdict::Better | Verdict::Higher) => "holds",
            Some(Verdict::Worse | Verdict::Lower) => "reversed",
            Some(Verdict::Equivalent) => "equivalent",
            Some(Verdict::Undecided) => "undecided",
            None => "missing",
        }
    }
}

/// Writes the table.
///
/// # Errors
/// When it cannot be stored.
pub fn write(at: &Location, rows: &[ClaimRow]) -> Result<FileEntry> {
    let value = |name, of: fn(&TestedClaim) -> Option<f64>| {
        numbers_or_null::<Float64Type>(name, rows.iter().map(|row| row.tested.as_ref().and_then(of)))
    };
    let text = |name, of: fn(&TestedClaim) -> &'static str| texts_or_null(name, rows.iter().map(|row| row.tested.as_ref().map(of)));
    let columns = vec![
        texts("place", rows.iter().map(|row| &row.place)),
        texts("dataset", rows.iter().map(|row| &row.dataset)),
        texts("metric", rows.iter().map(|row| row.at.metric.name())),
        numbers_or_null::<UInt32Type>("cutoff", rows.iter().map(|row| row.at.cutoff)),
        texts("kind", rows.iter().map(|row| row.kind)),
        texts("claim", rows.iter().map(|row| &row.claim)),
        texts("methods", rows.iter().map(|row| serde_json::json!(row.methods).to_string())),
        value("difference", |tested| Some(tested.difference)),
        value("relative", |tested| tested.relative),
        value("standard_error", |tested| tested.standard_error),
        value("ci_low", |tested| tested.ci_low),
        value("ci_high", |tested| tested.ci_high),
        value("p_value", |tested| Some(tested.p_value)),
        value("p_adjusted", |tested| Some(tested.p_adjusted)),
        numbers_or_null::<UInt32Type>("replicates", rows.iter().map(|row| row.tested.as_ref().map(|tested| tested.replicates))),
        text("over", |tested| tested.over.name()),
        text("spread", |tested| tested.spread.name()),
        texts("verdict", rows.iter().map(ClaimRow::verdict)),
    ];
    table::write(at, &table::batch(columns))
}

//! `theory quantiles`: how well the top-K quantile of softmax-at-k is estimated, and what the loss bounds.

pub(crate) mod model;
pub(crate) mod normal;
mod picture;

use super::{Study, fractions};
use crate::text_table::TextTable;
use crate::{
    number,
    tables::{numbers, numbers_or_null, texts, texts_or_null},
    usage::Usage,
};
use anyhow::Result;
use arrow::datatypes::{Float64Type, UInt32Type, UInt64Type};
use dataset::table::Column;
use theory::{
    Statement,
    quantile::{Errors, one_sided, samples_to_say_anything, two_sided},
    softmax_bound, within,
};

/// The quantile that is estimated, and from how much.
#[derive(Clone, Debug)]
pub(crate) struct QuantileSettings {
    /// K: the quantile is the K-th largest score.
    pub(crate) cutoff: u32,
    /// N: how many items an estimate draws.
    pub(crate) negatives: Vec<u32>,
    /// The error that Theorem 3.2 is asked about.
    pub(crate) error: f64,
    /// The seed of all draws.
    pub(crate) seed: u64,
}

/// Items drawn for one estimate at most, as for a sampler.
const MOST: u64 = 1 << 20;

impl QuantileSettings {
    /// Whether there are such quantiles of so many items.
    ///
    /// # Errors
    /// The first value that is out of range.
    pub(crate) fn check(&self, items: u32) -> Result<()> {
        within("items", items.into(), 2, u32::MAX.into(), "")?;
        within("cutoff", self.cutoff.into(), 1, u64::from(items) - 1, ", one less than there are items")?;
        self.negatives.iter().try_for_each(|&negatives| within("negatives", negatives.into(), 1, MOST, ""))?;
        if !(self.error.is_finite() && self.error > 0.0) {
            return Err(Usage(format!("--error {}: expected a number above 0", self.error)).into());
        }
        Ok(())
    }
}

/// The scores whose quantile is estimated.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// The name in the heading.
    pub(crate) title: String,
    /// The trial and its dataset; none for normal scores.
    pub(crate) trial: Option<(String, String)>,
    /// n: items.
    pub(crate) items: u32,
}

impl Subject {
    /// Whether Theorem 3.2 has its bound; else the least that it can be, whatever the scores are.
    fn has_known_distribution(&self) -> bool {
        self.trial.is_none()
    }
}

/// How a quantile is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Estimator {
    /// The K-th largest of all train positives and N uniform negatives: what training does.
    Union,
    /// The quantile of N uniform items: what Theorem 3.2 speaks of.
    Sample,
}

impl Estimator {
    fn name(self) -> &'static str {
        match self {
            Self::Union => "positives-and-negatives",
            Self::Sample => "sample",
        }
    }
}

/// How an estimator did.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) estimator: Estimator,
    pub(crate) negatives: u32,
    pub(crate) errors: Errors,
    /// The distance of Theorem 3.2 that stands for the error asked about; for scores of unknown distribution, the largest possible.
    pub(crate) delta: f64,
}

/// Puts together what was measured.
///
/// # Errors
/// When a picture has no axis.
pub(crate) fn study(subject: &Subject, settings: &QuantileSettings, rows: &[Row]) -> Result<Study> {
    Ok(Study {
        name: "quantiles",
        heading: format!(
            "How far is an estimated top-{} quantile from the exact one? {}, {} items (paper 001, Theorems 3.1 and 3.2)",
            settings.cutoff,
            subject.title,
            number::count(subject.items as usize)
        ),
        tables: vec![("", columns(subject, settings, rows))],
        statements: statements(subject, settings, rows),
        chart: picture::chart(subject, settings, rows)?,
        rows: shown(subject, settings, rows),
        remarks: remarks(subject, settings),
    })
}

fn columns(subject: &Subject, settings: &QuantileSettings, rows: &[Row]) -> Vec<Column> {
    let value = |name, field: &dyn Fn(&Row) -> f64| numbers::<Float64Type>(name, rows.iter().map(field));
    let of_trial =
        |name, field: fn(&(String, String)) -> &String| texts_or_null(name, rows.iter().map(|_| subject.trial.as_ref().map(field)));
    vec![
        of_trial("trial", |(trial, _)| trial),
        of_trial("dataset", |(_, dataset)| dataset),
        texts("estimator", rows.iter().map(|row| row.estimator.name())),
        numbers::<UInt32Type>("items", rows.iter().map(|_| subject.items)),
        numbers::<UInt32Type>("cutoff", rows.iter().map(|_| settings.cutoff)),
        numbers::<UInt32Type>("negatives", rows.iter().map(|row| row.negatives)),
        numbers::<UInt64Type>("estimates", rows.iter().map(|row| row.errors.count)),
        value("mean", &|row| row.errors.mean),
        value("deviation", &|row| row.errors.deviation),
        value("exact", &|row| row.errors.exact),
        value("above", &|row| row.errors.above),
        value("error", &|_| settings.error),
        value("beyond", &|row| row.errors.beyond),
        numbers_or_null::<Float64Type>("bound", rows.iter().map(|row| bound(row, two_sided))),
        numbers_or_null::<Float64Type>("bound_one_sided", rows.iter().map(|row| bound(row, one_sided))),
    ]
}

/// Theorem 3.2 speaks of samples only.
fn bound(row: &Row, of: fn(f64, f64) -> f64) -> Option<f64> {
    (row.estimator == Estimator::Sample).then(|| of(row.negatives.into(), row.delta))
}

fn shown(subject: &Subject, settings: &QuantileSettings, rows: &[Row]) -> TextTable {
    let beyond = format!("beyond {}", settings.error);
    let bounds = if subject.has_known_distribution() { ["at most (3.2)", "one-sided"] } else { ["(3.2) says, or more", "one-sided"] };
    let mut table = TextTable::new(&["estimate from", "N", "mean error", "deviation", "exact", "above", &beyond, bounds[0], bounds[1]]);
    for row in rows {
        let errors = &row.errors;
        let probability = |of| bound(row, of).map_or_else(|| "-".to_owned(), |bound: f64| format!("{bound:.4}"));
        table.add([
            row.estimator.name().to_owned(),
            number::count(row.negatives as usize),
            format!("{:+.4}", errors.mean),
            format!("{:.4}", errors.deviation),
            format!("{:.4}", errors.exact),
            format!("{:.4}", errors.above),
            format!("{:.4}", errors.beyond),
            probability(two_sided),
            probability(one_sided),
        ]);
    }
    table
}

fn statements(subject: &Subject, settings: &QuantileSettings, rows: &[Row]) -> Vec<Statement> {
    let mut statements = softmax_bound::statements(&mut fractions(settings.seed));
    if subject.has_known_distribution() {
        let bounds = rows.iter().filter_map(|row| bound(row, two_sided));
        let says_something = bounds.map(|bound| bound < 1.0);
        statements.push(Statement::of(
            "the bound on the quantile's error is below 1, and so says something",
            "Theorem 3.2",
            says_something,
        ));
    }
    let unions = || rows.iter().filter(|row| row.estimator == Estimator::Union);
    let above = |row: &Row| (row.errors.above * row.errors.count as f64).round() as u64;
    if unions().next().is_some() {
        statements.push(Statement {
            claim: "the estimate from positives and negatives is not above the quantile".into(),
            source: "as a union of distinct items",
            cases: unions().map(|row| row.errors.count).sum(),
            violations: unions().map(above).sum(),
        });
    }
    statements
}

fn remarks(subject: &Subject, settings: &QuantileSettings) -> Vec<String> {
    let mut remarks: Vec<String> = vacuous(subject, settings).into_iter().collect();
    remarks.push(
        "Theorem 3.1 needs all items in the sum and the exact quantile: with the released sum over negatives the bound does not hold."
            .into(),
    );
    if subject.trial.is_some() {
        remarks.push(
            "The last columns are what Theorem 3.2 would say of the scores that suit it best. Of these it says as much or more, so that the numbers are no bounds on \
             what was measured."
                .into(),
        );
        remarks.push(
            "Positives and negatives: exact where all of a user's top K are positives or drawn. Negatives are drawn with replacement, as in \
             training, so that one counts twice now and then and lifts the estimate above the quantile."
                .into(),
        );
    }
    remarks
}

/// For which of the tested N the bound of Theorem 3.2 says nothing, whatever the scores are; none where it may say something for all.
fn vacuous(subject: &Subject, settings: &QuantileSettings) -> Option<String> {
    let needed = samples_to_say_anything(subject.items.into(), settings.cutoff.into());
    let below = settings.negatives.iter().filter(|&&negatives| f64::from(negatives) < needed);
    let below: Vec<String> = below.map(|&negatives| number::count(negatives as usize)).collect();
    (!below.is_empty()).then(|| {
        let here = if below.len() == settings.negatives.len() { "here".to_owned() } else { format!("for N = {}", number::listed(&below)) };
        format!(
            "Theorem 3.2 is vacuous {here}: at the top {} of {} items, whatever the scores are, its bound is at least 1 below N = {}. Only \
             the measured errors say how good an estimate is.",
            settings.cutoff,
            number::count(subject.items as usize),
            number::count(needed as usize)
        )
    })
}

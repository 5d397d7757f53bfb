//! Printed numbers and claims as a section of `report.html`.

use super::{
    super::{Input, number},
    Reproduction, words,
};
use crate::tables::{ClaimRow, ReproductionRow};
use serde::Serialize;

/// The section's content; the template says how it looks.
#[derive(Serialize)]
pub(in crate::report) struct ReproductionSection {
    numbers: Option<VerdictTable<NumberLine>>,
    claims: Option<VerdictTable<ClaimLine>>,
}

/// A table, what it comes to, and how to read it.
#[derive(Serialize)]
struct VerdictTable<Line> {
    verdict: String,
    how: String,
    rows: Vec<Line>,
}

#[derive(Serialize)]
struct NumberLine {
    place: String,
    dataset: String,
    method: String,
    metric: String,
    printed: String,
    ours: String,
    share: String,
    interval: String,
    seeds: String,
    verdict: &'static str,
}

#[derive(Serialize)]
struct ClaimLine {
    place: String,
    dataset: String,
    claim: String,
    metric: String,
    share: String,
    difference: String,
    interval: String,
    p: String,
    verdict: &'static str,
}

impl ReproductionSection {
    pub(in crate::report) fn new(input: &Input, reproduction: &Reproduction) -> Self {
        let numbers = input.printed.map(|printed| VerdictTable {
            verdict: words::numbers(reproduction, printed),
            how: words::numbers_how(reproduction, printed, input.evaluation),
            rows: reproduction.numbers.iter().map(number_line).collect(),
        });
        let claims = (!reproduction.claims.is_empty()).then(|| VerdictTable {
            verdict: words::claims(reproduction),
            how: words::claims_how(reproduction, input),
            rows: reproduction.claims.iter().map(claim_line).collect(),
        });
        Self { numbers, claims }
    }
}

fn number_line(row: &ReproductionRow) -> NumberLine {
    let ours = row.ours.as_ref();
    NumberLine {
        place: row.place.clone(),
        dataset: row.dataset.clone(),
        method: row.title.clone(),
        metric: row.at.to_string(),
        printed: number::rounded(row.printed, row.unit),
        ours: ours.map(|ours| number::value(ours.mean)).unwrap_or_default(),
        share: words::share(row).unwrap_or_default(),
        interval: words::interval(ours.and_then(|ours| ours.ci_low), ours.and_then(|ours| ours.ci_high)),
        seeds: ours.map(|ours| ours.replicates.to_string()).unwrap_or_default(),
        verdict: row.verdict(),
    }
}

fn claim_line(row: &ClaimRow) -> ClaimLine {
    let tested = row.tested.as_ref();
    ClaimLine {
        place: row.place.clone(),
        dataset: row.dataset.clone(),
        claim: row.claim.clone(),
        metric: row.at.to_string(),
        share: tested.and_then(|tested| tested.relative).map(words::percent).unwrap_or_default(),
        difference: tested.map(|tested| number::difference(tested.difference)).unwrap_or_default(),
        interval: words::interval(tested.and_then(|tested| tested.ci_low), tested.and_then(|tested| tested.ci_high)),
        p: tested.map(|tested| number::p_value(tested.p_adjusted)).unwrap_or_default(),
        verdict: row.verdict(),
    }
}

//! The leaderboards as CSV: the columns of `leaderboard.parquet`, one row for each dataset, headline metric and method.

use super::super::{Input, Report};
use crate::tables::LeaderboardRow;
use anyhow::Context;
use evaluator::{settings::Over, significance::Verdict};
use serde::Serialize;

/// The leaderboard as comma-separated text, with a header. Unknown values are empty, and numbers have all their digits.
pub(super) fn csv(report: &Report, input: &Input) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for manifest in input.manifests {
        for at in input.headline() {
            report.ranking(&manifest.name, at).into_iter().try_for_each(|row| writer.serialize(SpreadsheetRow::from(row)))?;
        }
    }
    String::from_utf8(writer.into_inner()?).context("the leaderboard as CSV")
}

#[derive(Serialize)]
struct SpreadsheetRow<'a> {
    dataset: &'a str,
    metric: &'static str,
    cutoff: Option<u32>,
    rank: Option<u32>,
    method: &'a str,
    title: &'a str,
    backbone: &'a str,
    loss: Option<&'a str>,
    sampler: Option<&'a str>,
    parameters: Option<String>,
    configurations: u32,
    seeds: u32,
    failed: u32,
    users: u32,
    mean: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    over: Option<&'static str>,
    seed_std: Option<f64>,
    verdict: Option<&'static str>,
    letters: &'a str,
}

impl<'a> From<&'a LeaderboardRow> for SpreadsheetRow<'a> {
    fn from(row: &'a LeaderboardRow) -> Self {
        Self {
            dataset: &row.dataset,
            metric: row.at.metric.name(),
            cutoff: row.at.cutoff,
            rank: row.rank,
            method: &row.method,
            title: &row.title,
            backbone: &row.backbone,
            loss: row.loss.as_deref(),
            sampler: row.sampler.as_deref(),
            parameters: row.parameters.as_ref().map(ToString::to_string),
            configurations: row.configurations,
            seeds: row.seeds,
            failed: row.failed,
            users: row.users,
            mean: row.mean,
            ci_low: row.ci_low,
            ci_high: row.ci_high,
            over: row.over.map(Over::name),
            seed_std: row.seed_std,
            verdict: row.verdict.map(Verdict::name),
            letters: &row.letters,
        }
    }
}

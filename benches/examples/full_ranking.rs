//! Times what the peers' `full_ranking.py` times: NDCG@20 and Recall@20 over the full catalogue for every test user of a dataset, with
//! random factors of 64 dimensions and train masked; reading and drawing are left out.
//!
//! ```text
//! full_ranking [auc] FOLDER | full_ranking [auc] USERS ITEMS
//! ```
//! The folder is that of a prepared dataset; with sizes, interactions are random. With `auc`, that is measured too, and so the rank of every
//! held-out item. Prints a JSON line with the faster of two runs, and a digest of every user's values, which must be the same for any
//! number of threads (`RAYON_NUM_THREADS`).
#![allow(clippy::print_stdout, reason = "its output")]

use anyhow::{Context, Result, bail};
use benches::{random_dataset, random_factors};
use dataset::{Dataset, Location};
use evaluator::{
    MetricAt, Scorer,
    metric::{self, Given},
    rank::rank_within,
    settings::{RecallDenominator, Ties},
};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::time::Instant;

const DIM: usize = 64;
/// Bytes for scores: the default of `--memory`.
const MEMORY: usize = 2 << 30;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (names, arguments) = match arguments.split_first() {
        Some((first, rest)) if first == "auc" => (&["ndcg@20", "recall@20", "auc"][..], rest),
        _ => (&["ndcg@20", "recall@20"][..], &arguments[..]),
    };
    let metrics = names.iter().map(|name| name.parse()).collect::<evaluator::Result<Vec<MetricAt>>>()?;
    let dataset = match arguments {
        [folder] => Dataset::read(&Location::parse(folder)?)?,
        [users, items] => random_dataset(users.parse()?, items.parse()?, 20),
        _ => bail!("expected `auc` or not, and the folder of a dataset, or numbers of users and items"),
    };
    let scorer = random_factors(dataset.users(), dataset.items(), DIM);
    let runs = (0..2).map(|_| timed(&scorer, &dataset, &metrics)).collect::<Result<Vec<_>>>()?;
    let (seconds, (users, means, digest)) = runs.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).context("two runs")?;
    println!("{}", json!({"seconds": seconds, "users": users, "items": dataset.items(), "means": means, "digest": digest}));
    Ok(())
}

type Values = (usize, Vec<f64>, String);

/// Ranks and measures once: seconds, and what came out.
fn timed(scorer: &Scorer, dataset: &Dataset, metrics: &[MetricAt]) -> Result<(f64, Values)> {
    let start = Instant::now();
    let (depth, given) = (metric::depth(metrics), Given::new(RecallDenominator::Standard, &dataset.train, dataset.items()));
    let rankings = rank_within(scorer, &dataset.train, &[&dataset.train], &dataset.test, Ties::Pessimistic, MEMORY, depth)?;
    let values: Vec<Vec<f64>> = metrics.iter().map(|&at| metric::values(&rankings, at, &given)).collect();
    let means = values.iter().map(|values| values.iter().sum::<f64>() / values.len() as f64).collect();
    let seconds = start.elapsed().as_secs_f64();
    let mut digest = Sha256::new();
    values.iter().flatten().for_each(|value| digest.update(value.to_le_bytes()));
    Ok((seconds, (rankings.len(), means, hex::encode(digest.finalize()))))
}

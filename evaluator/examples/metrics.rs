//! Reads a list of `{"users": [{"scores": […], "masked": […], "held_out": […]}], "metrics": ["ndcg@5", …], "recall", "ties"}` from standard
//! input, ranks every user's items by the scores, and prints for each of the list every metric's values by user as JSON.
//! `tests/compare_metrics.py` holds them against other implementations.

use dataset::Interactions;
use evaluator::{
    Factors, Matrix, MetricAt, Scorer, Similarity,
    metric::{self, Given, depth},
    rank::rank_within,
    settings::{RecallDenominator, Ties},
};
use std::{collections::BTreeMap, io};

#[derive(serde::Deserialize)]
struct Input {
    users: Vec<User>,
    metrics: Vec<MetricAt>,
    recall: RecallDenominator,
    ties: Ties,
}

#[derive(serde::Deserialize)]
struct User {
    scores: Vec<f32>,
    masked: Vec<u32>,
    held_out: Vec<u32>,
}

fn main() -> anyhow::Result<()> {
    let inputs: Vec<Input> = serde_json::from_reader(io::stdin().lock())?;
    let outputs: Vec<BTreeMap<String, Vec<f64>>> = inputs.into_iter().map(values).collect::<anyhow::Result<_>>()?;
    serde_json::to_writer(io::stdout().lock(), &outputs)?;
    Ok(())
}

fn values(Input { users, metrics, recall, ties }: Input) -> anyhow::Result<BTreeMap<String, Vec<f64>>> {
    let masked = interactions(&users, |user| &user.masked);
    let held_out = interactions(&users, |user| &user.held_out);
    let given = Given::new(recall, &masked, users[0].scores.len());
    let rankings = rank_within(&scorer(&users), &masked, &[&masked], &held_out, ties, 1 << 30, depth(&metrics))?;
    Ok(metrics.into_iter().map(|at| (at.to_string(), metric::values(&rankings, at, &given))).collect())
}

/// Unit vectors as users, and the users' scores as the items' coordinates.
fn scorer(users: &[User]) -> Scorer {
    let (dim, items) = (users.len(), users[0].scores.len());
    let unit = (0..dim * dim).map(|at| if at / dim == at % dim { 1.0 } else { 0.0 });
    let scores = (0..items).flat_map(|item| users.iter().map(move |user| user.scores[item]));
    Scorer::Factors(Factors {
        users: Matrix { rows: dim, dim, values: unit.collect() },
        items: Matrix { rows: items, dim, values: scores.collect() },
        similarity: Similarity::Dot,
    })
}

fn interactions(users: &[User], items: fn(&User) -> &[u32]) -> Interactions {
    let pairs = users.iter().zip(0..).flat_map(|(user, id)| items(user).iter().map(move |&item| (id, item)));
    Interactions::from_pairs(users.len(), pairs)
}

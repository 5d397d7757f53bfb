//! Parts of a step of training by themselves: scores and their gradients, Adam, propagation. Compared with nothing outside: the peers
//! show whole steps alone.
//!
//! Floors: for scoring 2 * 64 flops for each score forward and 4 * 64 back; for Adam the bytes of the moved rows, read and written, 256 for
//! each of parameters and moments; for propagation 64 additions for each edge, direction and layer, on rows from the third-level cache.

use crate::parts::{Moving, Propagating, Scoring};
use benches::{interactions, random_tables};
use divan::{
    Bencher,
    counter::{BytesCount, ItemsCount},
};
use streams::{Purpose, Stream};
use trainer::Optimizer;

const USERS: usize = 30_000;
const BATCH: usize = 1_024;
const NEGATIVES: usize = 1_000;

fn scoring(items: usize) -> Scoring {
    let mut stream = Stream::new(1, Purpose::Negatives, 0, 0, 0);
    let mut draw = |bound: usize| stream.below(bound as u32);
    let pairs: Vec<(u32, u32)> = (0..BATCH).map(|_| (draw(USERS), draw(items))).collect();
    let negatives = (0..BATCH * NEGATIVES).map(|_| draw(items)).collect();
    Scoring::new(random_tables(USERS, items, 64), &pairs, negatives)
}

/// Scores per second, with the items' unit vectors.
#[divan::bench(args = [8_000, 40_000])]
fn scores(bencher: Bencher, items: usize) {
    let mut scoring = scoring(items);
    bencher.counter(ItemsCount::new(BATCH * (1 + NEGATIVES))).bench_local(|| scoring.forward());
}

/// Scores per second, to gradients of both tables.
#[divan::bench(args = [8_000, 40_000])]
fn gradients_of_scores(bencher: Bencher, items: usize) {
    let mut scoring = scoring(items);
    scoring.forward();
    bencher.counter(ItemsCount::new(BATCH * (1 + NEGATIVES))).bench_local(|| scoring.backward());
}

fn adam() -> Optimizer {
    serde_json::from_value(serde_json::json!({"adam": {"learning_rate": 0.001}})).expect("an optimizer")
}

/// Bytes per second of a step that moves every row by a gradient.
#[divan::bench(args = [8_000, 40_000])]
fn adam_on_all_rows(bencher: Bencher, rows: usize) {
    let [table, _] = random_tables(rows, 1, 64);
    let mut moving = Moving::new(&adam(), table, Vec::new());
    bencher.counter(BytesCount::new(rows * 256 * 7)).bench_local(|| moving.step());
}

/// Bytes per second of a step with a gradient on so many of 40,000 rows; the others are left behind.
#[divan::bench(args = [1_000, 4_000])]
fn adam_on_few_rows(bencher: Bencher, rows: usize) {
    let [table, _] = random_tables(40_000, 1, 64);
    let mut moving = Moving::new(&adam(), table, (0..40_000).step_by(40_000 / rows).collect());
    bencher.counter(BytesCount::new(rows * 256 * 6)).bench_local(|| moving.step());
}

/// Edges per second, both directions counted, through so many layers.
#[divan::bench(args = [1, 3], sample_count = 20)]
fn propagation(bencher: Bencher, layers: u32) {
    let train = interactions(USERS, 40_000, 30, 1);
    let mut propagating = Propagating::new(&train, random_tables(USERS, 40_000, 64), layers);
    bencher.counter(ItemsCount::new(2 * train.len() * layers as usize)).bench_local(|| propagating.step());
}

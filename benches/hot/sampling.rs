//! Draws of negatives, the user's own items rejected, and what rules make of their scores. Uniform draws are compared with numba's sampler
//! in the peers' `torch_mf.py`, one thread each; the others with nothing outside.
//!
//! Floors: for a draw one multiplication of 64 bits and one probe of a table in the first-level cache, about 1 ns; by weights one probe of
//! a table of all items more. For a rule a read of each score, and an exponential where it weighs them. For preparing PageRank an addition
//! in the second-level cache for each interaction that a user's walk is pushed over, about 0.9 million on Yelp2018.

use benches::interactions;
use divan::{Bencher, black_box, counter::ItemsCount};
use trainer::{
    Sampler,
    sampler::{Choice, Popularity, Ppr, Prepared, Purpose, Row, Stream, Uniform},
};

const USERS: usize = 4_096;
const ITEMS: usize = 40_000;
const ROW: [u32; 3] = [1, 32, 1_000];

/// Rows of so many draws, one for each user; the figure per item is that of a draw.
fn draws(bencher: Bencher, sampler: &Sampler, negatives: u32) {
    let train = interactions(USERS, ITEMS, 30, 1);
    let sampler = Prepared::new(sampler, &train, ITEMS).expect("every user lacks items");
    let mut ids = vec![0; negatives as usize];
    let mut step = 0;
    bencher.counter(ItemsCount::new(USERS * ids.len())).bench_local(|| {
        step += 1;
        for user in 0..USERS as u32 {
            sampler.draw(&mut Stream::new(1, Purpose::Negatives, 1, step, user), Row::alone(user), black_box(&mut ids), None);
        }
    });
}

#[divan::bench(args = ROW)]
fn uniform(bencher: Bencher, negatives: u32) {
    draws(bencher, &Sampler::Uniform(Uniform { negatives, replacement: true }), negatives);
}

#[divan::bench(args = ROW)]
fn uniform_distinct(bencher: Bencher, negatives: u32) {
    draws(bencher, &Sampler::Uniform(Uniform { negatives, replacement: false }), negatives);
}

#[divan::bench(args = ROW)]
fn popularity(bencher: Bencher, negatives: u32) {
    draws(bencher, &Sampler::Popularity(Popularity { negatives, exponent: 0.75 }), negatives);
}

/// Of a few pushes: a draw costs the same however its law was prepared.
#[divan::bench(args = ROW)]
fn ppr(bencher: Bencher, negatives: u32) {
    let sampler: Ppr = serde_json::from_value(serde_json::json!({"negatives": negatives, "accuracy": 1e-5})).expect("settings");
    draws(bencher, &Sampler::Ppr(sampler), negatives);
}

/// Users per second of preparing PageRank at the size of Yelp2018, by all threads.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn ppr_prepared(bencher: Bencher) {
    let (users, items) = (31_668, 38_048);
    let train = interactions(users, items, 40, 1);
    let sampler = Sampler::Ppr(serde_json::from_value(serde_json::json!({"negatives": 1})).expect("settings"));
    bencher.counter(ItemsCount::new(users)).bench(|| Prepared::new(&sampler, &train, items).expect("every user lacks items"));
}

const CANDIDATES: usize = 200;

/// A rule's look at rows of 200 candidates, without their scores: the figure per item is that of a candidate.
#[divan::bench(args = [
    r#"{"dns": {"candidates": 200}}"#,
    r#"{"dns-mn": {"candidates": 200, "negatives": 5}}"#,
    r#"{"softmax": {"candidates": 200, "temperature": 1.0}}"#,
    r#"{"softmax": {"candidates": 200, "temperature": 1.0, "negatives": 5}}"#,
    r#"{"softmax-v": {"candidates": 200, "divergence": 1.0}}"#,
    r#"{"pris": {"candidates": 200}}"#,
    r#"{"warp": {"candidates": 200}}"#,
])]
fn rule(bencher: Bencher, sampler: &str) {
    let rule = serde_json::from_str::<Sampler>(sampler).expect("settings").rule(ITEMS).expect("a hard sampler");
    let mut stream = Stream::new(1, Purpose::Negatives, 1, 0, 0);
    let mut random = |count: usize, scale: f64| -> Vec<f32> { (0..count).map(|_| (scale * stream.fraction()) as f32).collect() };
    let (scores, log_probabilities) = (random(USERS * CANDIDATES, 1.0), random(CANDIDATES, -1.0));
    let mut choice = Choice::default();
    bencher.counter(ItemsCount::new(scores.len())).bench_local(|| {
        for (row, scores) in (0..).zip(scores.chunks_exact(CANDIDATES)) {
            let rng = &mut Stream::new(1, Purpose::Choices, 1, 0, row);
            rule.choose(rng, 0.9, scores, Some(&log_probabilities), &mut choice);
            black_box(&choice.places);
        }
    });
}

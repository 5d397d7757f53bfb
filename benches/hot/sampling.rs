//! Draws from every pool, the user's own items rejected, what pools that look at the model pay for a look, and every rule on scored
//! candidates. Uniform draws are compared with numba's sampler in the peers' `torch_mf.py`, one thread each. The other pools and the rules
//! have no peer on a CPU.
//!
//! Floors: one multiplication of 64 bits and one probe of a table in the first-level cache for each draw, about 1 ns; for a rule one pass
//! over its scores, and its exponentials, for each candidate well below 1 ns; for a look the products that it is made of, such as 2 * 64
//! flops for each user and item of `irgan`'s draws, and three times as many for a pass of its generator.

use crate::parts::Looking;
use crate::training::{epoch, trial};
use benches::{interactions, random_dataset, random_tables};
use divan::{Bencher, black_box, counter::ItemsCount};
use samplers::{Choice, Prepared, Row, RowScores};
use serde_json::json;
use streams::{Purpose, Stream};
use trainer::Sampler;

const USERS: usize = 4_096;
const ITEMS: usize = 40_000;

/// Rows that a pool draws for which looks at the model.
const LIVE_ROWS: u32 = 256;

/// Candidates of a rule.
const CANDIDATES: usize = 200;

fn sampler(text: &str) -> Sampler {
    serde_json::from_str(text).expect("a sampler")
}

fn draws(bencher: Bencher, sampler: &Sampler) {
    let train = interactions(USERS, ITEMS, 30, 1);
    let mut ids = vec![0; sampler.candidates(1024).expect("it draws")];
    let sampler = Prepared::new(sampler, &train, ITEMS).expect("every user lacks items");
    let positives: Vec<u32> = (0..1024).collect();
    let mut step = 0;
    bencher.counter(ItemsCount::new(USERS * ids.len())).bench_local(|| {
        step += 1;
        for user in 0..USERS as u32 {
            let row = Row { user, place: user as usize % positives.len(), positives: &positives };
            sampler.draw(&mut Stream::new(1, Purpose::Negatives, 1, step, user), row, black_box(&mut ids), None);
        }
    });
}

/// Rows of so many draws, one for each user; the figure per item is that of a draw.
#[divan::bench(args = [1, 32, 1_000])]
fn uniform(bencher: Bencher, negatives: u32) {
    draws(bencher, &sampler(&format!(r#"{{"uniform": {{"negatives": {negatives}}}}}"#)));
}

/// The other pools, 200 draws a row.
#[divan::bench(args = [
    r#"{"uniform": {"negatives": 200, "replacement": false}}"#,
    r#"{"popularity": {"negatives": 200, "exponent": 0.75}}"#,
    r#"{"in-batch": {"negatives": 200}}"#,
    r#"{"ppr": {"negatives": 200}}"#,
])]
fn pool(bencher: Bencher, text: &str) {
    draws(bencher, &sampler(text));
}

/// The pools that look at the model, 200 draws a row, as of their last look.
#[divan::bench(sample_count = 20, args = [
    r#"{"aobpr": {"negatives": 200, "scale": 0.1}}"#,
    r#"{"kernel": {"negatives": 200}}"#,
    r#"{"ada-sir": {"negatives": 200}}"#,
    r#"{"irgan": {"negatives": 200, "pretraining_epochs": 0}}"#,
])]
fn live_pool(bencher: Bencher, text: &str) {
    let train = interactions(USERS, ITEMS, 30, 1);
    let mut pool = Looking::new(&sampler(text), &train, random_tables(USERS, ITEMS, 64)).expect("every user lacks items");
    pool.refresh(1);
    let (mut ids, mut step) = ([0; 200], 0);
    bencher.counter(ItemsCount::new(LIVE_ROWS as usize * ids.len())).bench_local(|| {
        step += 1;
        for user in 0..LIVE_ROWS {
            pool.draw(&mut Stream::new(1, Purpose::Negatives, 1, step, user), user, black_box(&mut ids));
        }
    });
}

/// A later look at a model of Gowalla's size, by all threads: one draw for each train pair by `irgan`, and then also a pass of its generator.
#[divan::bench(sample_count = 1, sample_size = 1, args = [
    r#"{"aobpr": {"negatives": 1, "scale": 0.1}}"#,
    r#"{"kernel": {"negatives": 1}}"#,
    r#"{"ada-sir": {"negatives": 1}}"#,
    r#"{"irgan": {"negatives": 1, "pretraining_epochs": 0, "redraw_every": 1}}"#,
    r#"{"irgan": {"negatives": 1, "pretraining_epochs": 0, "every": 1, "generator_epochs": 1}}"#,
])]
fn look(bencher: Bencher, text: &str) {
    let (users, items) = (29_858, 40_981);
    let train = interactions(users, items, 34, 1);
    let mut pool = Looking::new(&sampler(text), &train, random_tables(users, items, 64)).expect("every user lacks items");
    let mut epoch = 1;
    pool.refresh(epoch);
    bencher.bench_local(|| {
        epoch += 1;
        pool.refresh(epoch);
    });
}

/// An epoch of BPR by all threads, whose negatives are mixed of 64 candidates or the best of as many; the figure per item is that of a pair.
#[divan::bench(sample_count = 5, args = [r#"{"mix-gcf": {}}"#, r#"{"dns": {"candidates": 64}}"#])]
fn epoch_of_64_candidates(bencher: Bencher, text: &str) {
    let trial = trial(&json!({"mf": {"dim": 64}}), &json!({"bpr": {}}), &serde_json::from_str(text).expect("a sampler"));
    epoch(bencher, &random_dataset(2_048, ITEMS, 30), &trial, 1);
}

/// A rule on 200 candidates; the figure per item is that of a candidate.
#[divan::bench(args = [
    r#"{"dns": {"candidates": 200}}"#,
    r#"{"dns-mn": {"candidates": 200, "negatives": 5}}"#,
    r#"{"softmax": {"candidates": 200, "temperature": 1}}"#,
    r#"{"softmax": {"candidates": 200, "temperature": 1, "negatives": 5}}"#,
    r#"{"softmax-v": {"candidates": 200, "divergence": 0.1}}"#,
    r#"{"pris": {"candidates": 200}}"#,
    r#"{"warp": {"candidates": 200}}"#,
])]
fn rule(bencher: Bencher, text: &str) {
    let rule = sampler(text).rule(ITEMS).expect("it has a rule");
    let mut stream = Stream::new(1, Purpose::Choices, 1, 1, 0);
    let scores: Vec<f32> = (0..CANDIDATES).map(|_| 4.0 * stream.fraction() as f32 - 2.0).collect();
    let mut choice = Choice::default();
    bencher.counter(ItemsCount::new(CANDIDATES)).bench_local(|| {
        let row = RowScores { positive: 2.9, candidates: black_box(&scores), log_probabilities: None };
        rule.choose(&mut stream, row, &mut choice);
        choice.weights.first().copied()
    });
}

/// Users per second of preparing PageRank at the size of Yelp2018, by all threads.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn ppr_prepared(bencher: Bencher) {
    let (users, items) = (31_668, 38_048);
    let train = interactions(users, items, 40, 1);
    let sampler = sampler(r#"{"ppr": {"negatives": 1}}"#);
    bencher.counter(ItemsCount::new(users)).bench(|| Prepared::new(&sampler, &train, items).expect("every user lacks items"));
}

//! Draws from every pool that looks at no score, the user's own items rejected, and every rule on scored candidates. Uniform draws are
//! compared with numba's sampler in the peers' `torch_mf.py`, one thread each. The other pools and the rules have no peer on a CPU.
//!
//! Floors: one multiplication of 64 bits and one probe of a table in the first-level cache for each draw, about 1 ns; for a rule one pass
//! over its scores, and its exponentials, for each candidate well below 1 ns.

use benches::interactions;
use divan::{Bencher, black_box, counter::ItemsCount};
use trainer::{
    Sampler,
    sampler::{Choice, Prepared, Purpose, Row, Stream},
};

const USERS: usize = 4_096;
const ITEMS: usize = 40_000;

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
        rule.choose(&mut stream, 2.9, black_box(&scores), None, &mut choice);
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

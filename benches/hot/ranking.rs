//! Ranks of held-out items among the full catalogue, and lists of the best items. Compared with `full_ranking.py` of the peers (torch's
//! product, mask and topk; implicit's `ranking_metrics_at_k`).
//!
//! Floor: the bare product, 2 * 64 flops for each user and item; items per second times 128 is the rate to hold against sgemm.

use benches::{random_dataset, random_factors};
use divan::{Bencher, counter::ItemsCount};
use evaluator::{
    rank::{rank, rank_within, top_k},
    settings::Ties,
};

const USERS: usize = 2_048;
const MEMORY: usize = 2 << 30;

/// Scores per second of ranks in whole lists, which AUC needs.
#[divan::bench(args = [10_000, 40_000], sample_count = 20)]
fn ranks(bencher: Bencher, items: usize) {
    let (dataset, scorer) = (random_dataset(USERS, items, 30), random_factors(USERS, items, 64));
    bencher
        .counter(ItemsCount::new(USERS * items))
        .bench(|| rank(&scorer, &dataset.train, &[&dataset.train], &dataset.test, Ties::Pessimistic, MEMORY).expect("finite scores"));
}

/// Scores per second of ranks down to 20, as deep as ndcg@20 looks.
#[divan::bench(args = [10_000, 40_000], sample_count = 20)]
fn ranks_up_to_20(bencher: Bencher, items: usize) {
    let (dataset, scorer) = (random_dataset(USERS, items, 30), random_factors(USERS, items, 64));
    bencher.counter(ItemsCount::new(USERS * items)).bench(|| {
        rank_within(&scorer, &dataset.train, &[&dataset.train], &dataset.test, Ties::Pessimistic, MEMORY, Some(20)).expect("finite scores")
    });
}

#[divan::bench(args = [10_000, 40_000], sample_count = 20)]
fn best_20(bencher: Bencher, items: usize) {
    let (dataset, scorer) = (random_dataset(USERS, items, 30), random_factors(USERS, items, 64));
    let users: Vec<u32> = (0..USERS as u32).collect();
    bencher
        .counter(ItemsCount::new(USERS * items))
        .bench(|| top_k(&scorer, &dataset.train, &[&dataset.train], &users, 20, MEMORY).expect("finite scores"));
}

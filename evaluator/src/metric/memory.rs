//! What metrics of lists need beside the ranking.

use super::{Measure, MetricAt, depth};
use crate::rank::list_memory;

/// Bytes that metrics take at most: the users' lists and, where one asks for them, vectors of items and the sums of each thread. None where all of
/// them look at ranks alone.
pub fn memory(metrics: &[MetricAt], users: usize, items: usize, interactions: usize, threads: usize) -> usize {
    let list = depth(metrics).list as usize;
    if list == 0 {
        return 0;
    }
    // Counts, order and part of each item; the groups of items and of users.
    let by_item = items * (2 * size_of::<u32>() + 3 * size_of::<usize>()) + users * (2 * size_of::<u32>() + size_of::<usize>());
    let needs_vectors = metrics.iter().any(|at| matches!(at.metric.kind().measure(), Measure::Vectors(_)));
    let of_item = interactions * size_of::<u32>() + 3 * (items + 1) * size_of::<usize>() + threads * users * size_of::<f64>();
    list_memory(users, list, threads) + by_item + if needs_vectors { of_item } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(metrics: &[&str]) -> usize {
        memory(&metrics.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>(), 30_000, 40_000, 800_000, 2)
    }

    #[test]
    fn what_is_not_asked_for_takes_nothing() {
        assert_eq!(of(&["ndcg@20", "auc"]), 0);
        // Of vectors 800,000 users of items, three numbers of eight bytes of each item, and two threads' sums of 30,000 users.
        assert_eq!(of(&["ndcg@20", "diversity@20"]) - of(&["novelty@20"]), 3_200_000 + 960_024 + 480_000);
        // 30 more places of each list: three times four bytes, and of a thread's 256 users twice eight.
        assert_eq!(of(&["novelty@50"]) - of(&["novelty@20"]), 30 * (30_000 * 12 + 2 * 256 * 16));
    }
}

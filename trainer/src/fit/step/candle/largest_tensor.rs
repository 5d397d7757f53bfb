//! The largest tensor of a step, which a GPU has to come to the end of.
//!
//! A kernel of candle has a thread for each number of a tensor, and counts in 32 bits. From 2^31 numbers on threads come round and make some numbers again, the
//! more often the nearer 2^32 is, and from there on they never end.

use crate::{Error, Learning, Result, Trial, fit::step::parts::SCORES_ELSEWHERE};
use models::{Sizes, TensorSize};

/// The most numbers of a tensor: none is made more than 16 times.
const MOST: u64 = 15 << 28;

/// The least that a network leaves of a pair for each number of its widest tensor.
const OF_WIDEST: u64 = 8;

/// Refuses a trial with a tensor that a GPU would not come to the end of, where it trains by candle's operations with so many users, items and train interactions and so many
/// ranks.
///
/// # Errors
/// [`Error::TooLarge`].
pub(super) fn check(trial: &Trial, learning: &Learning, sizes: [usize; 3], ranks: u32) -> Result<()> {
    match largest(trial, learning, sizes.map(|count| count as u64), ranks).filter(|tensor| tensor.numbers > MOST) {
        Some(TensorSize { numbers, what }) => Err(Error::TooLarge { what, numbers, most: MOST }),
        None => Ok(()),
    }
}

/// The largest tensor; `None` of what does not learn by a loss.
fn largest(trial: &Trial, learning: &Learning, [users, items, train]: [u64; 3], ranks: u32) -> Option<TensorSize> {
    let (model, loss) = (trial.backbone.learned()?, &learning.loss);
    let (batch, list) = learning.batch(users, train);
    let rows = batch.div_ceil(u64::from(ranks.max(1)));
    let [candidates, negatives] = [learning.candidates(), learning.negatives()].map(|count| count.map_or(items, |count| count as u64));
    // Rows that the loss's formula is given at once, as `parts` has them.
    let at_once = if loss.couples_rows() { rows } else { (SCORES_ELSEWHERE as u64 / negatives.max(1)).clamp(1, rows.max(1)) };
    let tables = if model.reads_order() { items } else { users.max(items) };
    let of_network = model.network(0).map_or(0, |network| (list + candidates).saturating_mul(network.floats_of_pair() / OF_WIDEST));
    let tensor = |what, numbers| TensorSize { numbers, what };
    let tensors = [
        tensor("the larger table", tables.saturating_mul(model.dim().into())),
        model.largest_tensor(Sizes { users, items, train, batch, positives: batch * list }),
        tensor("what the loss makes of some rows' scores", at_once.saturating_mul(loss.numbers_of_row(list + negatives))),
        tensor("the similarities of a batch's rows", u64::from(loss.relations().of_rows) * rows.saturating_mul(rows)),
        tensor("what the network makes of a row", of_network),
    ];
    tensors.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest tensor of a trial on so many users, items and train interactions, and whether it is refused.
    fn found([backbone, loss, sampler]: [&str; 3], batch_size: u32, sizes: [usize; 3], ranks: u32) -> (TensorSize, bool) {
        let text = format!(
            r#"{{"version": 4, "dataset": "x", "select_by": "ndcg@20", "backbone": {{{backbone}}}, "learning": {{"loss": {{{loss}}}, "sampler": {{{sampler}}},
            "optimizer": {{"adam": {{"learning_rate": 0.1}}}}, "seed": 1, "training": {{"epochs": 1, "batch_size": {batch_size}, "evaluate_every": 1}}}}}}"#
        );
        let trial: Trial = serde_json::from_str(&text).unwrap();
        let learning = trial.learning.as_ref().unwrap();
        let tensor = largest(&trial, learning, sizes.map(|count| count as u64), ranks).unwrap();
        (tensor, check(&trial, learning, sizes, ranks).is_err())
    }

    const BPR: &str = r#""bpr": {}"#;
    const UNIFORM: &str = r#""uniform": {"negatives": 1}"#;

    /// 60,000,000 and 62,000,000 edges and 2,000,000 loops, of 64 numbers each.
    #[test]
    fn edges_that_a_gpu_cannot_count_are_refused() {
        let of = |train: usize| found([r#""gcn": {"dim": 64, "layers": 2}"#, BPR, UNIFORM], 1024, [1_000_000, 1_000_000, train], 1);
        let what = "the vectors at all edges of the train graph";
        assert_eq!(of(30_000_000), (TensorSize { numbers: 3_968_000_000, what }, false));
        assert_eq!(of(31_000_000), (TensorSize { numbers: 4_096_000_000, what }, true));
    }

    /// All 1,024 lists are given at once, as 4,194 would be: each has 2,005 scores, which are compared with each other. Two ranks have half of the lists each.
    #[test]
    fn scores_that_a_gpu_cannot_count_are_refused() {
        let loss = r#""neural-ndcg": {"temperature": 1, "positives": 5}"#;
        let of =
            |ranks: u32| found([r#""mf": {"dim": 8}"#, loss, r#""uniform": {"negatives": 2000}"#], 1024, [10_000, 10_000, 100_000], ranks);
        let what = "what the loss makes of some rows' scores";
        assert_eq!(of(1), (TensorSize { numbers: 1024 * 2005 * 2005, what }, true));
        assert_eq!(of(2), (TensorSize { numbers: 512 * 2005 * 2005, what }, false));
    }

    /// 70,000 rows with each other are 4,900,000,000 pairs. A loss of rows is given up to 8,388,608 negatives at once: 838 rows of 10,000, and of a positive each.
    #[test]
    fn the_largest_of_a_batch_is_named() {
        let of = |loss: &str, sampler: &str| found([r#""mf": {"dim": 8}"#, loss, sampler], 70_000, [10_000, 10_000, 100_000], 1);
        let what = "the similarities of a batch's rows";
        assert_eq!(
            of(r#""direct-au": {"uniformity": 1}"#, r#""in-batch": {"negatives": 1}"#),
            (TensorSize { numbers: 4_900_000_000, what }, true)
        );
        let what = "what the loss makes of some rows' scores";
        assert_eq!(of(r#""cce": {}"#, r#""all": {}"#), (TensorSize { numbers: 838 * 10_001, what }, false));
    }

    #[test]
    fn the_refusal_says_what_to_do() {
        let error = Error::TooLarge { what: "the larger table", numbers: 5_000_000_000, most: MOST };
        assert!(!error.repeats(), "a CPU has no such bound");
        assert_eq!(
            error.to_string(),
            "the larger table would be one tensor of 5000000000 numbers, and candle's operations on a GPU count 4026531840 at most: take fewer dimensions or \
             a smaller batch, or train it with `device: cpu`"
        );
    }
}

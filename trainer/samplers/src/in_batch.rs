//! The positives of the batch's other rows.
//!
//! ```text
//! row a of B:  the positives of the rows a + 1 + floor((j + 1/2) (B - 1) / N), j = 0 ... N - 1, counted around the end of the batch
//! q_j = c_j / |D|   over the pairs D that are rows: all of train, of a model of histories its targets
//! ```
//! An epoch is in random order, so other rows are as good as random train pairs, and their items come by train count: `q` is the
//! probability of one of them, which leaves out that a batch has no pair twice. Models of sequences have a user's rows one after the other, so that the N rows
//! are spread over the batch. Repeats are kept; dropping them would need another `q`.
//! Papers score the whole batch against itself, which is N = B - 1, the default; in a last and smaller batch losses have the B - 1 other rows that there are.
//! Rows are masked where the item is one of the user's own: their entry is the row's own positive, which stands for no item.
//! Hidasi et al., ICLR 2016, arXiv:1511.06939; the correction by `log q` is Yi et al., RecSys 2019, doi:10.1145/3298689.3346996, whose
//! estimate of `q` from a stream is not needed where the counts are known.

use super::{
    Draws, Error, Facts, Pool, Row, SamplerKind, Stream,
    pool::{PoolKind, PoolSizes, with_train_users},
    proposal::{Proposal, UserItems},
};
use dataset::{Interactions, Location};
use serde::{Deserialize, Serialize};

/// `in-batch` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InBatch {
    /// Negatives for each positive, fewer than `batch_size`; all other rows of the batch when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negatives: Option<u32>,
}

impl SamplerKind for InBatch {
    fn facts(&self) -> Facts {
        Facts { paper: "Hidasi et al., ICLR 2016", values: "–", state: "the items' shares of the train pairs", cost: "no draw" }
    }

    fn draws(&self) -> Draws {
        Draws { pool: Pool::InBatch(InBatchPool {}), count: self.negatives }
    }

    fn compares_rows(&self) -> bool {
        true
    }

    /// 1: losses count as many draws as the batch has other rows.
    fn revision(&self) -> u32 {
        1
    }
}

/// `in-batch` as a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InBatchPool {}

impl PoolKind for InBatchPool {
    fn is_in_batch(&self) -> bool {
        true
    }

    /// 1: rows are spread over the batch, and a row without negatives moves nothing of its user or item.
    fn revision(&self) -> u32 {
        1
    }

    fn drawable(&self, train: &Interactions, items: usize) -> usize {
        with_train_users(train, items)
    }

    fn memory(&self, _draws: u64, sizes: PoolSizes) -> u64 {
        sizes.train * 4
    }

    fn prepare(&self, _draws: u32, train: &Interactions, items: usize, _cache: Option<&Location>) -> Result<Box<dyn Proposal>, Error> {
        Ok(Box::new(InBatchProposal { log_probabilities: log_shares(&train.item_counts(items)) }))
    }
}

/// The logarithm of each count's share in the sum; minus infinity of a count of 0.
fn log_shares(counts: &[u32]) -> Vec<f32> {
    let log_total = counts.iter().map(|&count| f64::from(count)).sum::<f64>().ln();
    counts.iter().map(|&count| (f64::from(count).ln() - log_total) as f32).collect()
}

/// The items' probabilities.
#[derive(Debug)]
struct InBatchProposal {
    log_probabilities: Vec<f32>,
}

impl Proposal for InBatchProposal {
    fn set_row_counts(&mut self, of_items: &[u32]) {
        self.log_probabilities = log_shares(of_items);
    }

    fn fill(&self, of: UserItems<'_>, row: Row<'_>, _rng: &mut Stream, ids: &mut [u32]) {
        let (own, non_positives) = (row.positives[row.place], of.non_positives());
        let (rows, wanted) = (row.positives.len(), ids.len());
        let others = rows - 1;
        for (draw, id) in ids.iter_mut().enumerate() {
            let before = if wanted < others { (2 * draw + 1) * others / (2 * wanted) } else { draw };
            let item = if before < others { row.positives[(row.place + 1 + before) % rows] } else { own };
            *id = if non_positives.contains(item) { item } else { own };
        }
    }

    fn log_probabilities(&self, _of: UserItems<'_>, ids: &[u32], out: &mut [f32]) {
        out.iter_mut().zip(ids).for_each(|(out, &id)| *out = self.log_probabilities[id as usize]);
    }

    fn needs_positives(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::{InBatch, Prepared, Row, Sampler};
    use dataset::Interactions;
    use streams::{Purpose, Stream};
    use testing::assert_drawn_from;

    const SAMPLER: Sampler = Sampler::InBatch(InBatch { negatives: None });

    fn stream() -> Stream {
        Stream::new(7, Purpose::Negatives, 1, 0, 0)
    }

    #[test]
    fn other_rows_give_their_positives() {
        // User 0 has items 4 and 6; the batch's rows are of other users but for row 3, which is its own.
        let train = Interactions::from_pairs(3, [(0, 4), (0, 6), (1, 1), (1, 2), (2, 3), (2, 4), (2, 1)].into_iter());
        let prepared = Prepared::new(&SAMPLER, &train, 7).unwrap();
        assert!(prepared.needs_positives());
        let row = Row { user: 0, place: 3, positives: &[1, 2, 4, 6, 3, 1] };
        let (mut ids, mut log_probabilities) = ([0; 5], [0.0; 5]);
        prepared.draw(&mut stream(), row, &mut ids, Some(&mut log_probabilities));
        assert_eq!(ids, [3, 1, 1, 2, 6]); // item 4 is one of the user's own: its place holds the row's positive, 6
        let counts = [1.0, 2.0, 2.0, 1.0, 1.0f64];
        for (found, count) in log_probabilities.iter().zip(counts) {
            assert!((f64::from(*found) - (count / 7.0).ln()).abs() < 1e-6, "{log_probabilities:?}");
        }
        // Of five others two: 1 + floor(1/2 * 5/2) and 1 + floor(3/2 * 5/2) rows on.
        let mut few = [0; 2];
        prepared.draw(&mut stream(), row, &mut few, None);
        assert_eq!(few, [1, 2]);
    }

    /// Where the rows of an epoch are not the train interactions, an item is as likely as it is the positive of a row.
    #[test]
    fn items_are_counted_over_rows_where_these_are_others() {
        let train = Interactions::from_pairs(2, [(0, 0), (0, 1), (1, 1), (1, 2)].into_iter());
        let mut prepared = Prepared::new(&SAMPLER, &train, 3).unwrap();
        let of = |prepared: &Prepared| [0, 1, 2].map(|item| prepared.log_probability(0, item).exp());
        assert_eq!(of(&prepared), [0.25, 0.5, 0.25]);
        prepared.set_row_counts(&[0, 1, 3]);
        assert_eq!(of(&prepared), [0.0, 0.25, 0.75]);
    }

    #[test]
    fn a_smaller_batch_has_no_more_rows() {
        let train = Interactions::from_pairs(2, [(0, 0), (1, 1), (1, 2)].into_iter());
        let prepared = Prepared::new(&SAMPLER, &train, 4).unwrap();
        let mut ids = [9; 3];
        prepared.draw(&mut stream(), Row { user: 0, place: 1, positives: &[2, 0] }, &mut ids, None);
        assert_eq!(ids, [2, 0, 0]);
        prepared.draw(&mut stream(), Row { user: 0, place: 0, positives: &[0] }, &mut ids, None);
        assert_eq!(ids, [0, 0, 0]);
    }

    /// In a random order the row that follows has each item by its train count, without the row's own pair.
    #[test]
    fn negatives_come_by_train_count() {
        let pairs: Vec<(u32, u32)> =
            [(0, 0)].into_iter().chain((1..8).map(|user| (user, 1))).chain((8..12).map(|user| (user, 2))).collect();
        let train = Interactions::from_pairs(12, pairs.iter().copied());
        let prepared = Prepared::new(&SAMPLER, &train, 4).unwrap();
        let mut found = [0.0; 4];
        for epoch in 0..20_000 {
            let mut stream = Stream::new(7, Purpose::Order, epoch, 0, 0);
            let mut order: Vec<u32> = pairs.iter().map(|&(_, item)| item).collect();
            for at in (1..order.len()).rev() {
                order.swap(at, stream.below(at as u32 + 1) as usize);
            }
            let place = order.iter().position(|&item| item == 0).unwrap();
            let mut ids = [0; 1];
            prepared.draw(&mut stream, Row { user: 0, place, positives: &order }, &mut ids, None);
            found[ids[0] as usize] += 1.0;
        }
        assert_drawn_from(&found, &[0.0, 7.0 / 11.0, 4.0 / 11.0, 0.0], 1.0);
    }

    #[test]
    fn widths_and_batches() {
        let some = |negatives| Sampler::InBatch(InBatch { negatives: Some(negatives) });
        assert_eq!([SAMPLER.candidates(1024), SAMPLER.negatives(64), some(5).negatives(64)], [Some(1023), Some(63), Some(5)]);
        assert_eq!([SAMPLER.check(), SAMPLER.check_batch(2), some(63).check_batch(64)], [Ok(()), Ok(()), Ok(())]);
        assert!(some(0).check().unwrap_err().starts_with("negatives is 0"));
        assert!(some(64).check_batch(64).unwrap_err().starts_with("negatives is 64: expected at most the 63 other rows"));
        assert!(SAMPLER.check_batch(1).unwrap_err().starts_with("batch_size is 1: expected at least 2"));
    }
}

//! A user's interactions in the order of time.
//!
//! Those at the same time are in the order of (hash, item) with the hash of [`order`](crate::order) by the key (0, 5), which is not that of a split. No data
//! says which of them came first; in the order of their ids a model of sequences would learn the ids.

use crate::order::Order;

/// What sets the order of ties apart from that of splits.
const PURPOSE: u64 = 5;

/// Sorts histories, one after the other.
#[derive(Default)]
pub(crate) struct History {
    sorted: Vec<usize>,
    tied: Vec<(u64, usize)>,
}

impl History {
    /// The places of a user's items, ascending by `times`; those of its train, validation and test alike.
    pub(crate) fn by_time(&mut self, user_id: &str, items: &[u32], times: &[f64], item_ids: &[String]) -> &[usize] {
        let Self { sorted, tied } = self;
        sorted.clear();
        sorted.extend(0..times.len());
        sorted.sort_unstable_by(|&a, &b| times[a].total_cmp(&times[b]));
        let mut order = None;
        for ties in sorted.chunk_by_mut(|&a, &b| times[a].total_cmp(&times[b]).is_eq()).filter(|ties| ties.len() > 1) {
            let order = order.get_or_insert_with(|| Order::new([0, PURPOSE], user_id));
            tied.clear();
            tied.extend(ties.iter().map(|&place| (order.hash(&item_ids[items[place] as usize]), place)));
            tied.sort_unstable();
            ties.iter_mut().zip(&*tied).for_each(|(place, tied)| *place = tied.1);
        }
        sorted
    }
}

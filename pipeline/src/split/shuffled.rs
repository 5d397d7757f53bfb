//! A user's train interactions in the frozen random order of [`order`](crate::order).

use crate::{edges::UserRow, order::Order};
use dataset::Split;

/// A user's train interactions, of which the first in random order can be taken.
pub(crate) struct Shuffled(Vec<(u64, usize)>);

impl Shuffled {
    pub(crate) fn new(row: &UserRow<'_>, item_ids: &[String], seed: u64) -> Self {
        let mut order = Order::new([seed, 0], row.user_id);
        let mut keyed = Vec::with_capacity(row.items.len());
        let train = (0..row.items.len()).filter(|&place| row.parts[place] == Split::Train);
        keyed.extend(train.map(|place| (order.hash(&item_ids[row.items[place] as usize]), place)));
        Self(keyed)
    }

    /// How many train interactions are left.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Puts those whose places in the order are picked into a part.
    pub(crate) fn put_each(&mut self, is_picked: impl Fn(usize) -> bool, row: &mut UserRow<'_>, part: Split) {
        self.0.sort_unstable();
        let mut place = 0..;
        self.0.retain(|&(_, at)| {
            let is_picked = place.next().is_some_and(&is_picked);
            if is_picked {
                row.parts[at] = part;
            }
            !is_picked
        });
    }

    /// Puts the first `count` that are left into a part.
    pub(crate) fn put(&mut self, count: usize, row: &mut UserRow<'_>, part: Split) {
        if count > 0 && count < self.0.len() {
            self.0.select_nth_unstable(count);
        }
        for (_, place) in self.0.drain(..count) {
            row.parts[place] = part;
        }
    }
}

//! A frozen random order of a user's interactions.
//!
//! The hash is SipHash-2-4 with the key (seed, 0), and another second number where it is not for a split, over the user's own id, the byte 0xFF
//! (which no UTF-8 text holds) and the item's own id. Within a user, interactions are in the order of (hash, item). It depends on nothing but the
//! key and the ids.

use crate::edges::UserRow;
use dataset::Split;
use siphasher::sip::SipHasher24;

/// The hash of interactions of one user.
pub(crate) struct Order {
    hasher: SipHasher24,
    bytes: Vec<u8>,
    user: usize,
}

impl Order {
    /// Makes the hash of a user's interactions, by the two numbers of a key.
    pub(crate) fn new(key: [u64; 2], user: &str) -> Self {
        let bytes = [user.as_bytes(), &[0xFF]].concat();
        Self { hasher: SipHasher24::new_with_keys(key[0], key[1]), user: bytes.len(), bytes }
    }

    pub(crate) fn hash(&mut self, item: &str) -> u64 {
        self.bytes.truncate(self.user);
        self.bytes.extend_from_slice(item.as_bytes());
        self.hasher.hash(&self.bytes)
    }
}

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

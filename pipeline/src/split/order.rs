//! A frozen random order of a user's interactions.
//!
//! The hash is SipHash-2-4 with the key (seed, 0) over the user's own id, the byte 0xFF (which no UTF-8 text holds) and the item's own
//! id. Within a user, interactions are in the order of (hash, item). It depends on nothing but the seed and the ids.

use crate::edges::{Edges, unpair};
use dataset::Split;
use siphasher::sip::SipHasher24;
use std::ops::Range;

/// The hash of an interaction.
pub(crate) fn hash(seed: u64, user: &str, item: &str) -> u64 {
    let bytes = [user.as_bytes(), &[0xFF], item.as_bytes()].concat();
    SipHasher24::new_with_keys(seed, 0).hash(&bytes)
}

/// The places of a user's train interactions, in random order.
pub(crate) fn shuffled(edges: &Edges, row: Range<usize>, seed: u64) -> Vec<usize> {
    let keyed = |place: usize| {
        let (user, item) = unpair(edges.pairs[place]);
        (hash(seed, &edges.user_ids[user as usize], &edges.item_ids[item as usize]), place)
    };
    let mut keys: Vec<(u64, usize)> = row.filter(|&place| edges.parts[place] == Split::Train).map(keyed).collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, place)| place).collect()
}

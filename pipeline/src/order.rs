//! A frozen random order of a user's interactions.
//!
//! The hash is SipHash-2-4 with the key (seed, 0), and another second number where it is not for a split, over the user's own id, the byte 0xFF
//! (which no UTF-8 text holds) and the item's own id. Within a user, interactions are in the order of (hash, item). It depends on nothing but the
//! key and the ids.

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

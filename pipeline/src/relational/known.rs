//! Which ids have been written, so that each is written about once.

use std::{
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering},
};

/// Ids whose hashes stand side by side: a line of the processor's cache, so that a look takes one access to memory.
const WAYS: usize = 8;
/// Rows for each slot: there are fewer ids, but how many the first rows do not tell.
const ROWS: u64 = 2;
/// The part of the memory limit that the ids of one side may take.
const SHARE: usize = 6;
/// Lines of the smallest table.
const LINES: usize = 1 << 7;

/// An id: the hash that stands for it in relations, and another one, by which two ids of one hash are told apart, and both written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) code: u64,
    pub(super) check: u64,
}

/// Ids by their second hash, in the line that the first one says; 0 where there is none. Two ids that agree in the line and in the second hash would be taken for one: among a billion
/// ids once in 10^9 times.
#[derive(Default)]
#[repr(align(64))]
struct CacheLine([AtomicU64; WAYS]);

/// What all threads have written. Where a line is full, a new id takes the place of another one, which may then be written once more.
pub(super) struct Known {
    lines: Vec<CacheLine>,
}

impl Known {
    /// Knows nothing yet. There is room for an id in every second row, within a sixth of the memory limit.
    pub(super) fn new(rows: u64, memory: Option<usize>) -> Self {
        let most = memory.unwrap_or(usize::MAX) / SHARE / size_of::<CacheLine>();
        let wanted = rows.div_ceil(ROWS * WAYS as u64).min(most as u64) as usize;
        let lines = 1 << wanted.max(LINES).ilog2();
        Self { lines: (0..lines).map(|_| CacheLine::default()).collect() }
    }

    /// Brings what will be looked at for an id into the processor's cache. Of many ids at once, these are under way side by side; [`Self::is_new`]
    /// waits for each.
    pub(super) fn fetch(&self, ids: &[Fingerprint]) {
        black_box(ids.iter().fold(0, |all, &id| all | self.line(id)[0].load(Ordering::Relaxed)));
    }

    fn line(&self, id: Fingerprint) -> &[AtomicU64; WAYS] {
        // Lines are a power of two.
        &self.lines[id.code as usize & (self.lines.len() - 1)].0
    }

    /// Notes an id; whether it is not known to have been. Two threads that note the same one at the same time may both hear that it is new.
    pub(super) fn is_new(&self, id: Fingerprint) -> bool {
        let line = self.line(id);
        let own = id.check.max(1);
        let kept: [u64; WAYS] = std::array::from_fn(|way| line[way].load(Ordering::Relaxed));
        if kept.contains(&own) {
            return false;
        }
        let way = kept.iter().position(|&other| other == 0).unwrap_or(own as usize % WAYS);
        line[way].store(own, Ordering::Relaxed);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn id(code: u64, check: u64) -> Fingerprint {
        Fingerprint { code, check }
    }

    #[test]
    fn each_id_is_new_once() {
        let (known, mut found) = (Known::new(64_000, None), HashSet::new());
        // 1,700 hashes, most of which come three times, and some with a second id.
        for n in 0..5_000u64 {
            let one =
                id((n % 1_700 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15), (n % 1_700 + 1).wrapping_mul(0xD134_2543_DE82_EF95) + n % 7 / 6);
            assert_eq!(known.is_new(one), found.insert((one.code, one.check)), "{n}");
        }
        assert!(found.len() > 1_700);
    }

    #[test]
    fn zero_is_an_id() {
        let known = Known::new(1, None);
        assert_eq!([0, 0].map(|check| known.is_new(id(0, check))), [true, false]);
    }

    #[test]
    fn a_full_line_forgets_one_id_for_a_new_one() {
        let known = Known::new(1, None);
        assert_eq!(known.lines.len(), LINES);
        let ids: Vec<Fingerprint> = (1..=WAYS as u64 + 1).map(|check| id(0, check * 8)).collect();
        assert!(ids.iter().all(|&id| known.is_new(id)));
        // The last one has taken the place of the first.
        assert!(ids[1..].iter().all(|&id| !known.is_new(id)));
        assert!(known.is_new(ids[0]));
    }

    #[test]
    fn there_is_room_for_every_second_row_within_the_limit() {
        let lines = |rows, memory| Known::new(rows, memory).lines.len();
        assert_eq!([lines(0, None), lines(1_000_000, None), lines(1_000_000, Some(1 << 20))], [128, 32_768, 2_048]);
    }
}

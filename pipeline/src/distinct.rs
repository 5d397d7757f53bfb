//! One interaction for each user and item: the latest.
//!
//! Partitions are sorted one by one, and what is left of each stays in the memory of its rows.

use crate::{
    edges::unpair,
    k_core::Neighbours,
    partitions::{CHUNK, PARTITIONS, Partitions, Row},
};
use rayon::prelude::*;
use std::ops::Range;

/// Interactions without repeats, by the codes of users; each user's items ascending.
pub(crate) struct Distinct {
    partitions: Vec<Partition>,
    users: usize,
}

/// The users of one partition, in the order of their codes.
struct Partition {
    /// Where each user's rows start.
    offsets: Vec<u32>,
    /// All full but the last.
    chunks: Vec<Vec<Row>>,
}

impl Distinct {
    /// Finds the distinct interactions among the rows of `users` users.
    pub(crate) fn new(rows: Vec<Partitions>, users: usize) -> Self {
        let partitions: Vec<_> = Partitions::merged(rows).enumerate().collect();
        let sort = |scratch: &mut Scratch, (place, chunks): (usize, Vec<Vec<Row>>)| {
            // The codes of a partition are `place`, `place + PARTITIONS`, …
            scratch.partition(chunks, users.saturating_sub(place).div_ceil(PARTITIONS))
        };
        Self { partitions: partitions.into_par_iter().with_max_len(1).map_init(Scratch::default, sort).collect(), users }
    }

    /// The user's items, ascending, and their times; none for users that only came later.
    pub(crate) fn row(&self, user: u32) -> impl Iterator<Item = (u32, f64)> {
        let partition = &self.partitions[user as usize % PARTITIONS];
        partition.rows(self.range(user)).map(|&(pair, time)| (unpair(pair).1, time))
    }

    /// Where the user's rows stand in the partition.
    fn range(&self, user: u32) -> Range<usize> {
        let offsets = &self.partitions[user as usize % PARTITIONS].offsets;
        match offsets.get(user as usize / PARTITIONS..) {
            Some(&[start, end, ..]) => start as usize..end as usize,
            _ => 0..0,
        }
    }
}

impl Neighbours for Distinct {
    fn nodes(&self) -> usize {
        self.users
    }

    fn degree(&self, user: u32) -> u32 {
        self.range(user).len() as u32
    }

    fn of(&self, user: u32) -> impl Iterator<Item = u32> {
        self.row(user).map(|row| row.0)
    }
}

impl Partition {
    fn rows(&self, range: Range<usize>) -> impl Iterator<Item = &Row> {
        let chunks = range.start / CHUNK..range.end.div_ceil(CHUNK).max(range.start / CHUNK);
        chunks.flat_map(move |chunk| {
            let start = chunk * CHUNK;
            &self.chunks[chunk][range.start.max(start) - start..range.end.min(start + CHUNK) - start]
        })
    }
}

/// The rows of a partition by user, in a buffer that is used again.
#[derive(Default)]
struct Scratch {
    rows: Vec<Row>,
}

impl Scratch {
    fn partition(&mut self, mut chunks: Vec<Vec<Row>>, users: usize) -> Partition {
        let ends = self.by_user(&chunks, users);
        let offsets = self.latest(&ends);
        chunks.truncate(self.rows.len().div_ceil(CHUNK));
        for (chunk, rows) in chunks.iter_mut().zip(self.rows.chunks(CHUNK)) {
            chunk.clear();
            chunk.extend_from_slice(rows);
        }
        Partition { offsets, chunks }
    }

    /// Takes the rows by user, in no order within a user; the ends of the users' rows.
    fn by_user(&mut self, chunks: &[Vec<Row>], users: usize) -> Vec<u32> {
        let user = |row: &Row| unpair(row.0).0 as usize / PARTITIONS;
        let mut next = vec![0u32; users + 1];
        chunks.iter().flatten().for_each(|row| next[user(row) + 1] += 1);
        for place in 1..next.len() {
            next[place] += next[place - 1];
        }
        self.rows.clear();
        self.rows.resize(next[users] as usize, Row::default());
        // A user's next place moves from the start of their rows to the end.
        for row in chunks.iter().flatten() {
            let next = &mut next[user(row)];
            self.rows[*next as usize] = *row;
            *next += 1;
        }
        next.truncate(users);
        next
    }

    /// Keeps the latest of equal items of each user, by item; where each user's rows start.
    fn latest(&mut self, ends: &[u32]) -> Vec<u32> {
        let (mut start, mut kept, mut offsets) = (0, 0, vec![0]);
        for &end in ends {
            self.rows[start..end as usize].sort_unstable_by_key(|row| row.0);
            let first = kept;
            for place in start..end as usize {
                let row = self.rows[place];
                if kept > first && self.rows[kept - 1].0 == row.0 {
                    let latest = &mut self.rows[kept - 1].1;
                    *latest = latest.max(row.1);
                } else {
                    self.rows[kept] = row;
                    kept += 1;
                }
            }
            start = end as usize;
            offsets.push(kept as u32);
        }
        self.rows.truncate(kept);
        offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::pair;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// One user for each partition's first and second place; the last has rows enough for several chunks.
    fn user(draw: u32) -> u32 {
        if draw < 600 { draw } else { 511 }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_latest_of_each_pair_is_kept(
            rows in prop::collection::vec((0u32..2_000, 0u32..3_000, 0u8..9), 0..6_000), threads in 1usize..4,
        ) {
            let mut partitions: Vec<Partitions> = (0..threads).map(|_| Partitions::default()).collect();
            let mut expected = BTreeMap::new();
            for (place, &(draw, item, time)) in rows.iter().enumerate() {
                let (user, time) = (user(draw), f64::from(time) - 4.0);
                partitions[place % threads].push(user, (pair(user, item), time));
                let latest = expected.entry((user, item)).or_insert(time);
                *latest = latest.max(time);
            }
            let distinct = Distinct::new(partitions, 600);
            let found = (0..700).flat_map(|user| distinct.row(user).map(move |(item, time)| ((user, item), time)));
            prop_assert!(found.eq(expected.iter().map(|(&pair, &time)| (pair, time))));
            prop_assert!((0..700).all(|user| distinct.degree(user) as usize == distinct.row(user).count()));
        }
    }
}

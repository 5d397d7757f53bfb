//! One interaction for each user and item: the latest.

use crate::{
    edges::unpair,
    k_core::Neighbours,
    partitions::{PARTITIONS, Partitions, Row},
};
use rayon::prelude::*;

/// Interactions without repeats, by the codes of users; each user's items ascending.
pub(crate) struct Distinct {
    partitions: Vec<Partition>,
    users: usize,
}

/// The users of one partition, in the order of their codes.
#[derive(Default)]
struct Partition {
    offsets: Vec<u32>,
    items: Vec<u32>,
    times: Vec<f64>,
}

impl Distinct {
    /// Of the rows of `users` users.
    pub(crate) fn new(rows: Vec<Partitions>, users: usize) -> Self {
        let partitions: Vec<_> = Partitions::merged(rows).enumerate().collect();
        let sort = |scratch: &mut Scratch, (place, chunks): (usize, Vec<Vec<Row>>)| {
            // The codes of a partition are `place`, `place + PARTITIONS`, …
            scratch.partition(chunks, users.saturating_sub(place).div_ceil(PARTITIONS))
        };
        Self { partitions: partitions.into_par_iter().with_max_len(1).map_init(Scratch::default, sort).collect(), users }
    }

    /// The user's items, ascending, and their times; none for users that only came later.
    pub(crate) fn row(&self, user: u32) -> (&[u32], &[f64]) {
        if user as usize >= self.users {
            return (&[], &[]);
        }
        let partition = &self.partitions[user as usize % PARTITIONS];
        let place = user as usize / PARTITIONS;
        let row = partition.offsets[place] as usize..partition.offsets[place + 1] as usize;
        (&partition.items[row.clone()], &partition.times[row])
    }
}

impl Neighbours for Distinct {
    fn nodes(&self) -> usize {
        self.users
    }

    fn of(&self, user: u32) -> &[u32] {
        self.row(user).0
    }
}

/// The rows of a partition by user, in a buffer that is used again.
#[derive(Default)]
struct Scratch {
    rows: Vec<(u32, f64)>,
}

impl Scratch {
    fn partition(&mut self, chunks: Vec<Vec<Row>>, users: usize) -> Partition {
        let user = |row: &Row| unpair(row.0).0 as usize / PARTITIONS;
        let mut ends = vec![0u32; users + 1];
        chunks.iter().flatten().for_each(|row| ends[user(row) + 1] += 1);
        for place in 1..ends.len() {
            ends[place] += ends[place - 1];
        }
        self.rows.clear();
        self.rows.resize(ends[users] as usize, (0, 0.0));
        // Each user's start moves to the end as the rows are put in, which leaves the next user's start.
        for row in chunks.into_iter().flatten() {
            let end = &mut ends[user(&row)];
            self.rows[*end as usize] = (unpair(row.0).1, row.1);
            *end += 1;
        }
        self.latest(&ends[..users])
    }

    /// Keeps the latest of equal items of each user. `ends` are the ends of the users' rows.
    fn latest(&mut self, ends: &[u32]) -> Partition {
        let (mut start, mut kept, mut offsets) = (0, 0, Vec::with_capacity(ends.len() + 1));
        offsets.push(0);
        for &end in ends {
            self.rows[start..end as usize].sort_unstable_by_key(|row| row.0);
            let first = kept;
            for place in start..end as usize {
                let (item, time) = self.rows[place];
                if kept > first && self.rows[kept - 1].0 == item {
                    let latest = &mut self.rows[kept - 1].1;
                    *latest = latest.max(time);
                } else {
                    self.rows[kept] = (item, time);
                    kept += 1;
                }
            }
            start = end as usize;
            offsets.push(kept as u32);
        }
        let rows = &self.rows[..kept];
        Partition { offsets, items: rows.iter().map(|row| row.0).collect(), times: rows.iter().map(|row| row.1).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::pair;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_latest_of_each_pair_is_kept(rows in prop::collection::vec((0u32..600, 0u32..4, 0u8..9), 0..400), threads in 1usize..4) {
            let mut partitions: Vec<Partitions> = (0..threads).map(|_| Partitions::default()).collect();
            let mut expected = BTreeMap::new();
            for (place, &(user, item, time)) in rows.iter().enumerate() {
                let time = f64::from(time) - 4.0;
                partitions[place % threads].push(user, (pair(user, item), time));
                let latest = expected.entry((user, item)).or_insert(time);
                *latest = latest.max(time);
            }
            let distinct = Distinct::new(partitions, 600);
            let found = (0..600).flat_map(|user| {
                let (items, times) = distinct.row(user);
                items.iter().zip(times).map(move |(&item, &time)| ((user, item), time)).collect::<Vec<_>>()
            });
            prop_assert!(found.eq(expected.iter().map(|(&pair, &time)| (pair, time))));
        }
    }
}

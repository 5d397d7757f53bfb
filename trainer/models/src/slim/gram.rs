//! The Gram matrix of the train matrix: how many users have each two items.

use super::super::co_occurrence::{Binary, Counter};
use dataset::Interactions;
use rayon::prelude::*;

/// Items that one parallel task takes.
const ITEMS: usize = 256;

/// How many entries the Gram matrix has.
pub(super) struct GramEntryCounts {
    /// Entries of each item: the items that a user has together with it, itself among them.
    of_item: Vec<usize>,
    /// Entries of all items.
    pub(super) all: usize,
    /// Entries of two items that more users have together than a bound says.
    pub(super) above: usize,
}

impl GramEntryCounts {
    /// Counts the entries, and those that are above the bound.
    pub(super) fn count(users_of: &Interactions, train: &Interactions, bound: f64) -> Self {
        let items = users_of.users();
        let count = |counter: &mut Counter, item: usize| {
            let (mut all, mut above) = (0, 0);
            let matrix = Binary { by_row: users_of, by_column: train };
            counter.of_row(item, matrix, |other, count| {
                all += 1;
                above += usize::from(other as usize != item && f64::from(count) > bound);
            });
            (all, above)
        };
        let counts = (0..items).into_par_iter().with_min_len(ITEMS).map_init(|| Counter::new(items), count);
        let (of_item, above): (Vec<usize>, Vec<usize>) = counts.unzip();
        Self { all: of_item.iter().sum(), above: above.iter().sum(), of_item }
    }
}

/// The Gram matrix by rows, of which only entries above 0 are stored.
pub(super) struct Gram {
    /// Where each item's entries start: `[items + 1]`.
    starts: Vec<usize>,
    others: Vec<u32>,
    /// Numbers of users.
    counts: Vec<f32>,
    /// The diagonal: the users of each item.
    users: Vec<f32>,
}

impl Gram {
    /// Bytes of so many entries, of the items' own numbers, and of counting them.
    pub(super) fn bytes(items: u64, entries: u64) -> u64 {
        8 * entries + 3 * 8 * items + rayon::current_num_threads() as u64 * Counter::bytes(items)
    }

    pub(super) fn new(users_of: &Interactions, train: &Interactions, pairs: &GramEntryCounts) -> Self {
        let items = users_of.users();
        let users = (0..items).map(|item| users_of.row(item).len() as f32).collect();
        let mut gram = Self { starts: vec![0], others: vec![0; pairs.all], counts: vec![0.0; pairs.all], users };
        let mut tasks = Vec::new();
        let (mut others, mut counts) = (&mut *gram.others, &mut *gram.counts);
        for (first, lengths) in (0..).step_by(ITEMS).zip(pairs.of_item.chunks(ITEMS)) {
            let (of_others, of_counts);
            let entries = lengths.iter().sum();
            (of_others, others) = others.split_at_mut(entries);
            (of_counts, counts) = counts.split_at_mut(entries);
            tasks.push((first..first + lengths.len(), of_others, of_counts));
        }
        tasks.into_par_iter().for_each_init(
            || Counter::new(items),
            |counter, (of_task, others, counts)| {
                let mut entries = others.iter_mut().zip(counts);
                for item in of_task {
                    counter.of_row(item, Binary { by_row: users_of, by_column: train }, |other, shared| {
                        let (to, count) = entries.next().expect("as many entries as were counted");
                        (*to, *count) = (other, shared as f32);
                    });
                }
            },
        );
        gram.starts.extend(pairs.of_item.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        gram
    }

    /// How many users have an item.
    pub(super) fn users(&self, item: u32) -> f32 {
        self.users[item as usize]
    }

    /// The items that a user has together with one, itself among them, and how many users have both.
    pub(super) fn row(&self, item: usize) -> impl Iterator<Item = (u32, f32)> {
        let range = self.starts[item]..self.starts[item + 1];
        self.others[range.clone()].iter().copied().zip(self.counts[range].iter().copied())
    }
}

//! How popular items are: by how many users have them in train, or in the histories that are folded in.

use super::list::mean;
use dataset::Interactions;

/// The share of all interactions, as one in so many, that the head has at least, and likewise the tail.
const ONE_IN: u64 = 5;

/// Part of the catalogue by popularity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Band {
    /// The fewest most popular items that have a fifth of all interactions.
    Head,
    /// Items of neither end.
    Middle,
    /// The fewest least popular items that have a fifth of all interactions, and are not of the head; items without any are among them.
    Tail,
}

/// Counts by item.
pub(crate) struct Popularity {
    /// How many users have each item.
    pub(crate) counts: Vec<u32>,
    /// How many users have an item at all.
    pub(super) users: usize,
    pub(super) bands: Vec<Band>,
}

impl Popularity {
    pub(super) fn new(history: &Interactions, items: usize) -> Self {
        let counts = history.item_counts(items);
        let users = (0..history.users()).filter(|&user| !history.row(user).is_empty()).count();
        Self { users, bands: bands(&counts), counts }
    }

    /// The mean number of users that have the items; 0 of no items.
    pub(super) fn mean(&self, items: &[u32]) -> f64 {
        mean(items, |item| f64::from(self.counts[item as usize]))
    }
}

/// The part of each item. Of equally popular items the smaller id counts as the more popular one.
fn bands(counts: &[u32]) -> Vec<Band> {
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&item| std::cmp::Reverse(counts[item]));
    let mut bands = vec![Band::Middle; counts.len()];
    for (band, items) in [(Band::Tail, order.iter().rev().collect::<Vec<_>>()), (Band::Head, order.iter().collect())] {
        let mut taken = 0;
        for &item in items {
            if taken * ONE_IN >= total {
                break;
            }
            taken += u64::from(counts[item]);
            bands[item] = band;
        }
    }
    bands
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 20 interactions the head has 4 or more, and the tail: 9 alone, and 1 + 3 with what nobody has.
    #[test]
    fn the_ends_have_a_fifth_each() {
        use Band::{Head, Middle, Tail};
        assert_eq!(bands(&[3, 9, 0, 7, 1]), [Tail, Head, Tail, Middle, Tail]);
        // One item that has all of it is the head, though the tail would begin with it too.
        assert_eq!(bands(&[0, 5]), [Tail, Head]);
        // Equal ones by id.
        assert_eq!(bands(&[1, 1, 1, 1, 1]), [Head, Middle, Middle, Middle, Tail]);
        assert_eq!(bands(&[0, 0]), [Middle, Middle]);
    }

    #[test]
    fn users_without_items_do_not_count() {
        let popularity = Popularity::new(&Interactions::from_pairs(4, [(0, 0), (0, 2), (2, 2)].into_iter()), 4);
        assert_eq!((popularity.users, popularity.counts.as_slice()), (2, [1, 0, 2, 0].as_slice()));
        assert_eq!((popularity.mean(&[0, 2, 3]), popularity.mean(&[])), (1.0, 0.0));
    }
}

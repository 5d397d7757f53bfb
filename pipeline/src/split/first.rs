//! The first of each user's interactions in a frozen random order: what is left of a part that is cut.
//!
//! The order is that of (hash, item) with the hash of [`order`](crate::order) by a key, so that what a smaller count leaves is among what a greater one does.

use super::Ratio;
use crate::{order::Order, tally::Tally};
use dataset::Interactions;
use rayon::prelude::*;

/// How many of each user's interactions are left.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    /// A share of them, rounded up.
    Share(Ratio),
    /// At most so many.
    Items(usize),
}

/// What is left of a part.
#[derive(Clone, Copy)]
pub(crate) struct First {
    /// The key of the order.
    pub(crate) key: [u64; 2],
    /// How many interactions.
    pub(crate) count: Count,
}

impl First {
    /// Takes the others out of a part, and out of its order; what is left.
    pub(crate) fn keep(self, part: &mut Interactions, order: Option<&mut Vec<u32>>, user_ids: &[String], item_ids: &[String]) -> Tally {
        let places: Vec<Vec<usize>> = (0..part.users()).into_par_iter().map(|user| self.places(part, user, user_ids, item_ids)).collect();
        let offsets = std::iter::once(0).chain(places.iter().scan(0, |end, places| {
            *end += places.len();
            Some(*end)
        }));
        let items: Vec<u32> = places.iter().flatten().map(|&place| part.items()[place]).collect();
        if let Some(order) = order {
            *order = places.iter().flatten().map(|&place| order[place]).collect();
        }
        *part = Interactions::from_sorted(offsets.collect(), items);
        Tally {
            users: places.iter().filter(|places| !places.is_empty()).count(),
            items: part.item_counts(item_ids.len()).into_iter().map(|count| count > 0).collect(),
            interactions: part.len(),
        }
    }

    /// Where those of a user's interactions stand that stay, ascending.
    fn places(self, part: &Interactions, user: usize, user_ids: &[String], item_ids: &[String]) -> Vec<usize> {
        let (start, row) = (part.offsets()[user], part.row(user));
        let mut order = Order::new(self.key, &user_ids[user]);
        let mut keyed: Vec<(u64, usize)> =
            row.iter().zip(start..).map(|(&item, place)| (order.hash(&item_ids[item as usize]), place)).collect();
        keyed.sort_unstable();
        keyed.truncate(match self.count {
            Count::Share(share) => share.rounded_up(row.len()),
            Count::Items(items) => items,
        });
        let mut places: Vec<usize> = keyed.into_iter().map(|(_, place)| place).collect();
        places.sort_unstable();
        places
    }
}

//! Interactions with dense ids, sorted, each with its part.

use crate::dictionary::Dictionary;
use dataset::{Counts, Dataset, Interactions, Split};
use rayon::slice::ParallelSliceMut;
use std::ops::Range;

/// A user and an item in one number: sorted, it is by user, then item.
pub(crate) fn pair(user: u32, item: u32) -> u64 {
    u64::from(user) << 32 | u64::from(item)
}

/// The user and the item of a pair.
pub(crate) fn unpair(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

/// The ids of both sides.
#[derive(Default)]
pub(crate) struct Catalogue {
    pub(crate) users: Dictionary,
    pub(crate) items: Dictionary,
}

impl Catalogue {
    /// What is left, in words and numbers.
    pub(crate) fn counts(&self, step: impl Into<String>, pairs: &[u64]) -> Counts {
        counts(step, pairs.iter().copied(), self.users.len(), self.items.len())
    }

    /// Dense ids in the order of the users' own ids, for what occurs in `pairs`. Each pair keeps its payload.
    pub(crate) fn number<T: Copy + Send>(&self, pairs: &[u64], payload: impl Iterator<Item = T>) -> Numbered<T> {
        let (users, items) = occurring(pairs.iter().copied(), self.users.len(), self.items.len());
        let (user_codes, item_codes) = (self.users.sorted(&users), self.items.sorted(&items));
        let (user_places, item_places) = (inverse(&user_codes, self.users.len()), inverse(&item_codes, self.items.len()));
        let dense = |code: u64| {
            let (user, item) = unpair(code);
            pair(user_places[user as usize], item_places[item as usize])
        };
        let mut rows: Vec<(u64, T)> = pairs.iter().map(|&code| dense(code)).zip(payload).collect();
        rows.par_sort_unstable_by_key(|row| row.0);
        let own = |dictionary: &Dictionary, codes: &[u32]| codes.iter().map(|&code| dictionary.id(code).to_owned()).collect();
        Numbered { user_ids: own(&self.users, &user_codes), item_ids: own(&self.items, &item_codes), rows }
    }
}

/// Dense ids, and pairs of them in order.
pub(crate) struct Numbered<T> {
    pub(crate) user_ids: Vec<String>,
    pub(crate) item_ids: Vec<String>,
    pub(crate) rows: Vec<(u64, T)>,
}

/// Interactions sorted by user, then item, without repeats.
pub(crate) struct Edges {
    pub(crate) user_ids: Vec<String>,
    pub(crate) item_ids: Vec<String>,
    pub(crate) pairs: Vec<u64>,
    /// The time of each, when the source has timestamps.
    pub(crate) times: Option<Vec<f64>>,
    /// The part of each.
    pub(crate) parts: Vec<Split>,
}

impl Edges {
    /// Each user's range of interactions.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let mut starts = vec![0; self.user_ids.len() + 1];
        for &pair in &self.pairs {
            starts[unpair(pair).0 as usize + 1] += 1;
        }
        for user in 1..starts.len() {
            starts[user] += starts[user - 1];
        }
        (1..starts.len()).map(move |user| starts[user - 1]..starts[user])
    }

    /// Puts the interactions at these places into a part.
    pub(crate) fn put(&mut self, places: &[usize], part: Split) {
        for &place in places {
            self.parts[place] = part;
        }
    }

    /// How much a selection of the interactions is.
    pub(crate) fn counts(&self, step: impl Into<String>, selected: impl Fn(usize) -> bool) -> Counts {
        let pairs = (0..self.pairs.len()).filter(|&place| selected(place)).map(|place| self.pairs[place]);
        counts(step, pairs, self.user_ids.len(), self.item_ids.len())
    }

    /// The dataset in memory.
    pub(crate) fn into_dataset(self, name: String, fingerprint: String, steps: Vec<Counts>, settings: serde_json::Value) -> Dataset {
        let of = |part: Split| {
            let pairs = self.pairs.iter().zip(&self.parts).filter(move |(_, other)| **other == part).map(|(&pair, _)| unpair(pair));
            Interactions::from_pairs(self.user_ids.len(), pairs)
        };
        let (train, validation, test) = (of(Split::Train), of(Split::Validation), of(Split::Test));
        Dataset { name, fingerprint, train, validation, test, steps, settings, user_ids: self.user_ids, item_ids: self.item_ids }
    }
}

/// Who occurs in pairs.
fn occurring(pairs: impl Iterator<Item = u64>, users: usize, items: usize) -> (Vec<bool>, Vec<bool>) {
    let (mut with_user, mut with_item) = (vec![false; users], vec![false; items]);
    for (user, item) in pairs.map(unpair) {
        with_user[user as usize] = true;
        with_item[item as usize] = true;
    }
    (with_user, with_item)
}

fn counts(step: impl Into<String>, pairs: impl Iterator<Item = u64>, users: usize, items: usize) -> Counts {
    let mut interactions = 0;
    let (users, items) = occurring(pairs.inspect(|_| interactions += 1), users, items);
    let present = |side: &[bool]| side.iter().filter(|&&occurs| occurs).count();
    Counts { step: step.into(), users: present(&users), items: present(&items), interactions }
}

/// The place of each code in a list of codes; codes that are not in it have none.
fn inverse(codes: &[u32], count: usize) -> Vec<u32> {
    let mut places = vec![u32::MAX; count];
    for (place, &code) in codes.iter().enumerate() {
        places[code as usize] = place as u32;
    }
    places
}

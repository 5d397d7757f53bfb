//! Interactions with dense ids, sorted, each with its part.

use crate::{dictionary::Dictionary, history::History, k_core::Degrees, tally::Tally};
use dataset::{Dataset, Interactions, Order, Split};
use rayon::prelude::*;
use std::ops::Range;

/// The place of what is not left.
const NOWHERE: u32 = u32::MAX;
/// Users that one task takes on.
const USERS: usize = 512;

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

/// Dense ids in the order of the users' own ids, and each user's items, ascending. Each interaction has a payload.
pub(crate) struct Numbered<T> {
    pub(crate) user_ids: Vec<String>,
    pub(crate) item_ids: Vec<String>,
    /// Where each user's interactions start: `[users + 1]`.
    pub(crate) offsets: Vec<usize>,
    pub(crate) items: Vec<u32>,
    pub(crate) payload: Vec<T>,
}

impl<T: Copy + Send + Sync> Numbered<T> {
    /// What `degrees` says is left. `row` gives a user's items by their codes; those that are not left are passed over.
    pub(crate) fn new<R: Iterator<Item = (u32, T)>>(
        catalogue: &Catalogue,
        degrees: &Degrees,
        blank: T,
        row: impl Fn(u32) -> R + Sync,
    ) -> Self {
        let sorted = |dictionary: &Dictionary, degrees: &[u32]| dictionary.sorted(|code| degrees[code as usize] > 0);
        let (users, items) = rayon::join(|| sorted(&catalogue.users, &degrees.users), || sorted(&catalogue.items, &degrees.items));
        let places = inverse(&items, catalogue.items.len());
        let mut offsets = vec![0];
        offsets.extend(users.iter().scan(0, |end, &user| {
            *end += degrees.users[user as usize] as usize;
            Some(*end)
        }));
        let count = offsets[users.len()];
        let (mut dense, mut payload) = (vec![0; count], vec![blank; count]);
        let tasks = tasks(&offsets);
        let rows = cut(&mut dense, &tasks, &offsets).into_par_iter().zip(cut(&mut payload, &tasks, &offsets));
        rows.zip(&tasks).for_each_init(Vec::new, |sorted: &mut Vec<(u32, T)>, ((dense, payload), task)| {
            for user in task.clone() {
                sorted.clear();
                sorted.extend(row(users[user]).map(|(item, payload)| (places[item as usize], payload)).filter(|row| row.0 != NOWHERE));
                sorted.sort_unstable_by_key(|row| row.0);
                for (at, &(item, value)) in (offsets[user] - offsets[task.start]..).zip(&*sorted) {
                    (dense[at], payload[at]) = (item, value);
                }
            }
        });
        let own = |dictionary: &Dictionary, codes: &[u32]| codes.par_iter().map(|&code| dictionary.id(code).to_owned()).collect();
        Self { user_ids: own(&catalogue.users, &users), item_ids: own(&catalogue.items, &items), offsets, items: dense, payload }
    }
}

/// Interactions sorted by user, then item, without repeats.
#[derive(Default)]
pub(crate) struct Edges {
    pub(crate) user_ids: Vec<String>,
    pub(crate) item_ids: Vec<String>,
    /// Where each user's interactions start: `[users + 1]`.
    pub(crate) offsets: Vec<usize>,
    pub(crate) items: Vec<u32>,
    /// The time of each, when the source has timestamps.
    pub(crate) times: Option<Vec<f64>>,
    /// The part of each.
    pub(crate) parts: Vec<Split>,
}

/// A user's interactions.
pub(crate) struct UserRow<'a> {
    pub(crate) user_id: &'a str,
    pub(crate) items: &'a [u32],
    pub(crate) times: Option<&'a [f64]>,
    pub(crate) parts: &'a mut [Split],
    /// Sorts the interactions by time.
    pub(crate) history: &'a mut History,
}

impl Edges {
    /// Gives each user's interactions a part, in any order.
    pub(crate) fn each_user(&mut self, hold_out: impl Fn(UserRow<'_>, &[String]) + Sync) {
        let Self { user_ids, item_ids, offsets, items, times, parts } = self;
        let tasks = tasks(offsets);
        cut(parts, &tasks, offsets).into_par_iter().zip(&tasks).for_each_init(History::default, |history, (mut parts, task)| {
            for user in task.clone() {
                let row = offsets[user]..offsets[user + 1];
                let (own, rest) = parts.split_at_mut(row.len());
                parts = rest;
                let times = times.as_ref().map(|times| &times[row.clone()]);
                hold_out(UserRow { user_id: &user_ids[user], items: &items[row], times, parts: own, history }, item_ids);
            }
        });
    }

    /// How much a selection of the interactions is. `selected` gets the user and the interaction's place.
    pub(crate) fn tally(&self, selected: impl Fn(usize, usize) -> bool + Sync) -> Tally {
        let of_task = |task: Range<usize>| {
            let mut tally = Tally { items: vec![false; self.item_ids.len()], ..Tally::default() };
            for user in task {
                let before = tally.interactions;
                for place in (self.offsets[user]..self.offsets[user + 1]).filter(|&place| selected(user, place)) {
                    tally.items[self.items[place] as usize] = true;
                    tally.interactions += 1;
                }
                tally.users += usize::from(tally.interactions > before);
            }
            tally
        };
        let add = |mut one: Tally, other: Tally| {
            one.add(other);
            one
        };
        let few = self.user_ids.len().div_ceil(4 * rayon::current_num_threads()).max(1);
        let tasks = (0..self.user_ids.len()).step_by(few).collect::<Vec<_>>().into_par_iter();
        tasks.map(|start| of_task(start..self.user_ids.len().min(start + few))).reduce_with(add).unwrap_or_default()
    }

    /// The dataset in memory, without steps; `folds` where users are held out as a whole.
    pub(crate) fn into_dataset(mut self, name: String, fingerprint: String, settings: serde_json::Value, folds: bool) -> Dataset {
        let places = self.places();
        // Frees the memory before more is taken.
        self.times = None;
        let order = places.map(|places| {
            let of = |part: Split| places.iter().zip(&self.parts).filter(|(_, own)| **own == part).map(|(&place, _)| place).collect();
            Order { train: of(Split::Train), fold_in: of(Split::FoldIn), validation: of(Split::Validation), test: of(Split::Test) }
        });
        let of = |part: Split| {
            let count = self.parts.par_iter().filter(|own| **own == part).count();
            let (mut offsets, mut items) = (Vec::with_capacity(self.offsets.len()), Vec::with_capacity(count));
            offsets.push(0);
            for row in self.offsets.windows(2) {
                items.extend((row[0]..row[1]).filter(|&place| self.parts[place] == part).map(|place| self.items[place]));
                offsets.push(items.len());
            }
            Interactions::from_sorted(offsets, items)
        };
        let (train, (validation, test)) = rayon::join(|| of(Split::Train), || (of(Split::Validation), of(Split::Test)));
        let fold_in = folds.then(|| of(Split::FoldIn));
        let (user_ids, item_ids, steps) = (self.user_ids, self.item_ids, Vec::new());
        Dataset { name, fingerprint, train, fold_in, validation, test, one_node_set: false, order, steps, settings, user_ids, item_ids }
    }

    /// The place of each interaction in its user's history by time, where there are times.
    fn places(&self) -> Option<Vec<u32>> {
        let times = self.times.as_ref()?;
        let mut places = vec![0; times.len()];
        let tasks = tasks(&self.offsets);
        cut(&mut places, &tasks, &self.offsets).into_par_iter().zip(&tasks).for_each_init(
            History::default,
            |history, (mut places, task)| {
                for user in task.clone() {
                    let row = self.offsets[user]..self.offsets[user + 1];
                    let (own, rest) = places.split_at_mut(row.len());
                    places = rest;
                    let sorted = history.by_time(&self.user_ids[user], &self.items[row.clone()], &times[row], &self.item_ids);
                    sorted.iter().zip(0..).for_each(|(&at, place)| own[at] = place);
                }
            },
        );
        Some(places)
    }
}

/// Users in runs, one for each task.
fn tasks(offsets: &[usize]) -> Vec<Range<usize>> {
    let users = offsets.len() - 1;
    (0..users).step_by(USERS).map(|start| start..users.min(start + USERS)).collect()
}

/// The interactions of each task.
fn cut<'a, T>(mut all: &'a mut [T], tasks: &[Range<usize>], offsets: &[usize]) -> Vec<&'a mut [T]> {
    let mut rows = Vec::with_capacity(tasks.len());
    for task in tasks {
        let (row, rest) = all.split_at_mut(offsets[task.end] - offsets[task.start]);
        rows.push(row);
        all = rest;
    }
    rows
}

/// The place of each code in a list of codes; codes that are not in it have none.
fn inverse(codes: &[u32], count: usize) -> Vec<u32> {
    let mut places = vec![NOWHERE; count];
    for (place, &code) in codes.iter().enumerate() {
        places[code as usize] = place as u32;
    }
    places
}

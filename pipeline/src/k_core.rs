//! The k-core: the largest set of users and items in which each user has at least so many of the items, and each item so many of
//! the users.
//!
//! Peeled in rounds: all users and items below their bound leave at once, which may put others below theirs. Each interaction is
//! looked at twice, however long the chain of removals. Needs 4 bytes an interaction beside the rows.

use crate::{Error, Result};
use dataset::{Counts, Interactions};
use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// `k_core: 10`, or `k_core: {users: 10, items: 5}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum KCore {
    /// One bound for both users and items.
    Both(u32),
    /// A bound for each.
    Each(KCoreBounds),
}

/// The least number of interactions of a user and of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KCoreBounds {
    /// The least number of interactions of a user.
    pub users: u32,
    /// The least number of interactions of an item.
    pub items: u32,
}

impl KCore {
    /// The bound of each side.
    pub fn bounds(self) -> KCoreBounds {
        match self {
            Self::Both(least) => KCoreBounds { users: least, items: least },
            Self::Each(bounds) => bounds,
        }
    }

    pub(crate) fn check(self) -> Result<()> {
        let KCoreBounds { users, items } = self.bounds();
        if users == 0 || items == 0 {
            return Err(Error::setting("k_core", "0 is no bound (expected an integer of at least 1; leave the key out for no k-core)"));
        }
        Ok(())
    }

    /// The step's name in the counts.
    pub(crate) fn step(self, rounds: usize) -> String {
        let rounds = if rounds == 1 { "1 round".to_owned() } else { format!("{rounds} rounds") };
        match self.bounds() {
            KCoreBounds { users, items } if users == items => format!("{users}-core ({rounds})"),
            KCoreBounds { users, items } => format!("core of {users} per user and {items} per item ({rounds})"),
        }
    }
}

impl<'de> Deserialize<'de> for KCore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct KCoreVisitor;
        impl<'de> de::Visitor<'de> for KCoreVisitor {
            type Value = KCore;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number of at least 1, or {users, items}")
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<KCore, E> {
                u32::try_from(value).map(KCore::Both).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> std::result::Result<KCore, E> {
                u32::try_from(value).map(KCore::Both).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> std::result::Result<KCore, A::Error> {
                KCoreBounds::deserialize(de::value::MapAccessDeserializer::new(map)).map(KCore::Each)
            }
        }
        deserializer.deserialize_any(KCoreVisitor)
    }
}

/// Rows of a sparse matrix.
pub(crate) trait Neighbours: Sync {
    /// The number of rows.
    fn nodes(&self) -> usize;

    /// The number of a row's columns.
    fn degree(&self, node: u32) -> u32;

    /// A row's columns.
    fn of(&self, node: u32) -> impl Iterator<Item = u32>;
}

impl Neighbours for Interactions {
    fn nodes(&self) -> usize {
        self.users()
    }

    fn degree(&self, node: u32) -> u32 {
        self.row(node as usize).len() as u32
    }

    fn of(&self, node: u32) -> impl Iterator<Item = u32> {
        self.row(node as usize).iter().copied()
    }
}

/// The number of interactions of each user and of each item; 0 for who is not left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Degrees {
    pub(crate) users: Vec<u32>,
    pub(crate) items: Vec<u32>,
}

impl Degrees {
    /// Counts the degrees of users in rows, with this number of items.
    pub(crate) fn of(rows: &impl Neighbours, items: usize) -> Self {
        let count = |mut degrees: Vec<u32>, user: u32| {
            rows.of(user).for_each(|item| degrees[item as usize] += 1);
            degrees
        };
        let add = |mut degrees: Vec<u32>, more: Vec<u32>| {
            degrees.iter_mut().zip(more).for_each(|(degree, more)| *degree += more);
            degrees
        };
        let users = (0..rows.nodes() as u32).into_par_iter();
        let tasks = users.clone().with_min_len(rows.nodes().div_ceil(rayon::current_num_threads()));
        let items = tasks.fold(|| vec![0; items], count).reduce(|| vec![0; items], add);
        Self { users: users.map(|user| rows.degree(user)).collect(), items }
    }

    /// Adds up several degrees; users that only came later have none in those before.
    pub(crate) fn sum(all: &[Self]) -> Self {
        let side = |side: fn(&Self) -> &[u32]| {
            let mut sum = vec![0; all.iter().map(|one| side(one).len()).max().unwrap_or_default()];
            all.iter().for_each(|one| sum.iter_mut().zip(side(one)).for_each(|(sum, degree)| *sum += degree));
            sum
        };
        Self { users: side(|one| &one.users), items: side(|one| &one.items) }
    }

    /// What is left, in words and numbers.
    pub(crate) fn counts(&self, step: impl Into<String>) -> Counts {
        let left = |degrees: &[u32]| degrees.iter().filter(|&&degree| degree > 0).count();
        let interactions = self.users.iter().map(|&degree| degree as usize).sum();
        Counts { step: step.into(), users: left(&self.users), items: left(&self.items), interactions }
    }
}

/// Peels to the fixed point; the number of rounds.
pub(crate) fn peel(rows: &impl Neighbours, degrees: &mut Degrees, bounds: KCoreBounds) -> usize {
    let columns = transpose(rows, &degrees.items);
    rounds(rows, &columns, degrees, bounds)
}

/// The same, of rows without some interactions, which `degrees` count: those of which neither the user nor the item will leave.
pub(crate) fn peel_part(rows: &impl Neighbours, degrees: &mut Degrees, bounds: KCoreBounds) -> usize {
    let columns = transpose(rows, &Degrees::of(rows, degrees.items.len()).items);
    rounds(rows, &columns, degrees, bounds)
}

fn rounds(rows: &impl Neighbours, columns: &Interactions, degrees: &mut Degrees, bounds: KCoreBounds) -> usize {
    let mut users = SideDegrees { degrees: &mut degrees.users, bound: bounds.users };
    let mut items = SideDegrees { degrees: &mut degrees.items, bound: bounds.items };
    let (mut leaving_users, mut leaving_items) = (users.below(), items.below());
    let mut rounds = 0;
    while !leaving_users.is_empty() || !leaving_items.is_empty() {
        rounds += 1;
        users.remove(&leaving_users);
        items.remove(&leaving_items);
        let next_items = items.lose(&leaving_users, rows);
        leaving_users = users.lose(&leaving_items, columns);
        leaving_items = next_items;
    }
    rounds
}

/// The items' users.
fn transpose(rows: &impl Neighbours, degrees: &[u32]) -> Interactions {
    let mut offsets = vec![0; degrees.len() + 1];
    for (item, &degree) in degrees.iter().enumerate() {
        offsets[item + 1] = offsets[item] + degree as usize;
    }
    let (mut next, mut users) = (offsets.clone(), vec![0; offsets[degrees.len()]]);
    for user in 0..rows.nodes() as u32 {
        rows.of(user).for_each(|item| {
            users[next[item as usize]] = user;
            next[item as usize] += 1;
        });
    }
    Interactions::from_sorted(offsets, users)
}

/// The users, or the items, with what is left of each one's interactions.
struct SideDegrees<'a> {
    degrees: &'a mut [u32],
    bound: u32,
}

impl SideDegrees<'_> {
    fn below(&self) -> Vec<u32> {
        (0..self.degrees.len() as u32).filter(|&node| (1..self.bound).contains(&self.degrees[node as usize])).collect()
    }

    fn remove(&mut self, leaving: &[u32]) {
        leaving.iter().for_each(|&node| self.degrees[node as usize] = 0);
    }

    /// Takes away the interactions with nodes that leave the other side; those that fall below the bound by it.
    fn lose(&mut self, leaving: &[u32], neighbours: &impl Neighbours) -> Vec<u32> {
        let mut fallen = Vec::new();
        for node in leaving.iter().flat_map(|&other| neighbours.of(other)) {
            let degree = &mut self.degrees[node as usize];
            // Those that have left are at 0.
            if *degree > 0 {
                *degree -= 1;
                if *degree + 1 == self.bound {
                    fallen.push(node);
                }
            }
        }
        fallen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Pairs = BTreeSet<(u32, u32)>;

    fn core_of(pairs: &Pairs, bounds: KCoreBounds) -> Pairs {
        let (degrees, _) = peeled(pairs, bounds);
        pairs.iter().copied().filter(|&(user, item)| degrees.users[user as usize] > 0 && degrees.items[item as usize] > 0).collect()
    }

    fn peeled(pairs: &Pairs, bounds: KCoreBounds) -> (Degrees, usize) {
        let rows = Interactions::from_pairs(12, pairs.iter().copied());
        let mut degrees = Degrees::of(&rows, 12);
        let rounds = peel(&rows, &mut degrees, bounds);
        (degrees, rounds)
    }

    fn holds(pairs: &Pairs, bounds: KCoreBounds) -> bool {
        pairs.iter().all(|&(user, item)| {
            pairs.iter().filter(|pair| pair.0 == user).count() >= bounds.users as usize
                && pairs.iter().filter(|pair| pair.1 == item).count() >= bounds.items as usize
        })
    }

    /// Drops one offending interaction's user or item at a time, until none offends.
    fn naive(mut pairs: Pairs, bounds: KCoreBounds) -> Pairs {
        loop {
            let users = |user: u32, pairs: &Pairs| pairs.iter().filter(|pair| pair.0 == user).count() < bounds.users as usize;
            let items = |item: u32, pairs: &Pairs| pairs.iter().filter(|pair| pair.1 == item).count() < bounds.items as usize;
            let Some(&(user, item)) = pairs.iter().find(|&&(user, item)| users(user, &pairs) || items(item, &pairs)) else {
                return pairs;
            };
            let by_user = users(user, &pairs);
            pairs.retain(|pair| if by_user { pair.0 != user } else { pair.1 != item });
        }
    }

    proptest! {
        #[test]
        fn the_result_is_the_fixed_point_of_a_naive_loop(
            pairs in prop::collection::btree_set((0u32..12, 0u32..12), 0..70), users in 1u32..5, items in 1u32..5,
        ) {
            let bounds = KCoreBounds { users, items };
            let core = core_of(&pairs, bounds);
            prop_assert!(holds(&core, bounds));
            let left = Interactions::from_pairs(12, core.iter().copied());
            prop_assert_eq!(peeled(&pairs, bounds).0, Degrees::of(&left, 12));
            prop_assert_eq!(core, naive(pairs, bounds));
        }

        #[test]
        fn no_larger_set_holds(pairs in prop::collection::btree_set((0u32..4, 0u32..4), 0..16), least in 1u32..4) {
            let bounds = KCoreBounds { users: least, items: least };
            let core = core_of(&pairs, bounds);
            for subset in 0u32..256 {
                let inside: Pairs = pairs.iter().copied().filter(|&(u, i)| subset >> u & 1 == 1 && subset >> (4 + i) & 1 == 1).collect();
                prop_assert!(!holds(&inside, bounds) || inside.is_subset(&core));
            }
        }
    }

    #[test]
    fn a_chain_is_peeled_from_both_ends() {
        let chain: Pairs = (0..11).flat_map(|n| [(n, n), (n + 1, n)]).collect();
        let (degrees, rounds) = peeled(&chain, KCoreBounds { users: 2, items: 2 });
        assert_eq!(rounds, 12);
        assert!(degrees.users.iter().chain(&degrees.items).all(|&degree| degree == 0));
    }

    #[test]
    fn both_forms_are_read() {
        let read = |text: &str| serde_json::from_str::<KCore>(text);
        assert_eq!(read("10").unwrap().bounds(), KCoreBounds { users: 10, items: 10 });
        assert_eq!(read(r#"{"users": 10, "items": 5}"#).unwrap().bounds(), KCoreBounds { users: 10, items: 5 });
        assert!(read(r#"{"users": 10, "itmes": 5}"#).unwrap_err().to_string().contains("itmes"));
        assert!(read("\"ten\"").unwrap_err().to_string().contains("a whole number of at least 1, or {users, items}"));
        assert!(read("-1").is_err());
    }
}

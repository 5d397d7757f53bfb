//! The k-core: the largest set of users and items in which each user has at least so many of the items, and each item so many of
//! the users.
//!
//! Peeled in rounds: all users and items below their bound leave at once, which may put others below theirs. Each interaction is
//! looked at twice, however long the chain of removals. Needs 8 bytes an interaction.

use crate::{Error, Result};
use dataset::Interactions;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// `k_core: 10`, or `k_core: {users: 10, items: 5}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum KCore {
    /// The same bound for users and items.
    Both(u32),
    /// A bound for each.
    Each(KCoreBounds),
}

/// The least number of interactions of a user and of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KCoreBounds {
    /// Of a user.
    pub users: u32,
    /// Of an item.
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
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
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
        deserializer.deserialize_any(Visitor)
    }
}

/// Who stays.
pub(crate) struct Core {
    pub(crate) users: Vec<bool>,
    pub(crate) items: Vec<bool>,
    /// How often some were removed.
    pub(crate) rounds: usize,
}

/// Peels to the fixed point. `columns` is the transpose of `rows`.
pub(crate) fn peel(rows: &Interactions, columns: &Interactions, bounds: KCoreBounds) -> Core {
    let mut users = Side::new(rows, bounds.users);
    let mut items = Side::new(columns, bounds.items);
    let (mut leaving_users, mut leaving_items) = (users.below(), items.below());
    let mut rounds = 0;
    while !leaving_users.is_empty() || !leaving_items.is_empty() {
        rounds += 1;
        for &user in &leaving_users {
            users.stays[user as usize] = false;
        }
        for &item in &leaving_items {
            items.stays[item as usize] = false;
        }
        let next_items = items.lose(&leaving_users, rows);
        leaving_users = users.lose(&leaving_items, columns);
        leaving_items = next_items;
    }
    Core { users: users.stays, items: items.stays, rounds }
}

/// The users, or the items, with their number of interactions.
struct Side {
    degrees: Vec<u32>,
    stays: Vec<bool>,
    bound: u32,
}

impl Side {
    fn new(neighbours: &Interactions, bound: u32) -> Self {
        let degrees: Vec<u32> = (0..neighbours.users()).map(|node| neighbours.row(node).len() as u32).collect();
        let stays = degrees.iter().map(|&degree| degree > 0).collect();
        Self { degrees, stays, bound }
    }

    fn below(&self) -> Vec<u32> {
        (0..self.degrees.len() as u32).filter(|&node| self.stays[node as usize] && self.degrees[node as usize] < self.bound).collect()
    }

    /// Takes away the interactions with nodes that leave the other side; those that fall below the bound by it.
    fn lose(&mut self, leaving: &[u32], neighbours: &Interactions) -> Vec<u32> {
        let mut fallen = Vec::new();
        for &other in leaving {
            for &node in neighbours.row(other as usize) {
                let degree = &mut self.degrees[node as usize];
                *degree -= 1;
                if *degree + 1 == self.bound && self.stays[node as usize] {
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
        let rows = Interactions::from_pairs(12, pairs.iter().copied());
        let core = peel(&rows, &rows.transpose(12), bounds);
        pairs.iter().copied().filter(|&(user, item)| core.users[user as usize] && core.items[item as usize]).collect()
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
        let rows = Interactions::from_pairs(12, chain.iter().copied());
        let core = peel(&rows, &rows.transpose(12), KCoreBounds { users: 2, items: 2 });
        assert_eq!(core.rounds, 12);
        assert!(core.users.iter().chain(&core.items).all(|stays| !stays));
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

//! False positives: items that a user never took, put among what models learn from.
//!
//! A user with `n` train interactions gets ceil(ratio * n) items more: a set of those that are in none of the user's parts, each set as
//! likely as any other. Validation and test stay as they are, and none of their items is drawn, or noise would tell what is true. A user
//! with fewer items left gets them all. Drawn once, after the split, so each epoch and each trial has the same.
//!
//! The draws are Floyd's (Bentley, CACM 30(9), 1987). Each comes from SipHash-2-4 with the key (seed, 1) over the user's own id, the byte
//! 0xFF and the number of places that are drawn from, as 4 bytes; places are those of the items left, by dense id. So they depend on the
//! seed, the user's id and the user's items, and on no other user. The bias of a draw is at most items / 2^64.
//!
//! Yang et al., KDD 2025, appendix F.2, which does not say whether held-out items may be drawn.

use crate::{Result, split::Ratio, tally::Tally};
use dataset::{Counts, Dataset, Interactions};
use rayon::prelude::*;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};
use siphasher::sip::SipHasher24;
use std::{borrow::Cow, fmt};

/// Users that one task takes on.
const USERS: usize = 512;

/// False positives that could not be drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    users: usize,
    interactions: usize,
}

impl Missing {
    /// Adds those of other users.
    pub(crate) fn add(&mut self, other: Self) {
        self.users += other.users;
        self.interactions += other.interactions;
    }

    /// The step of missing false positives in the counts, where any are missing.
    pub(crate) fn counts(self) -> Option<Counts> {
        let Self { users, interactions } = self;
        let step = "noise that is missing, of users with too few items left".to_owned();
        (users > 0).then_some(Counts { step, users, items: 0, interactions })
    }
}

/// `noise: 0.1`, or `noise: {ratio: 0.1, seed: 2024}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// False positives of a user for each train interaction, from 0 to 1.
    pub ratio: f64,
    /// The seed; 0 in the short form.
    pub seed: u64,
}

impl Noise {
    pub(crate) fn check(self) -> Result<()> {
        self.share().map(|_| ())
    }

    /// Whether the noise adds nothing.
    pub fn is_off(self) -> bool {
        self.ratio == 0.0
    }

    /// The step's name in the counts.
    pub fn step(self) -> String {
        format!("false positives in train (noise {}, seed {})", self.ratio, self.seed)
    }

    fn share(self) -> Result<Ratio> {
        Ratio::up_to_one("noise.ratio", self.ratio)
    }

    /// Adds them to train, which has no order then, as what never happened has no time; how many, and, where a user had fewer items left than asked for, how many are missing.
    pub(crate) fn add(self, dataset: &mut Dataset) -> Result<(Tally, Missing)> {
        let share = self.share()?;
        let wanted = |user: usize| share.rounded_up(dataset.train.row(user).len());
        let left = |user: usize| {
            dataset.items() - [&dataset.train, &dataset.validation, &dataset.test].map(|part| part.row(user).len()).iter().sum::<usize>()
        };
        let drawn: Vec<usize> = (0..dataset.users()).map(|user| wanted(user).min(left(user))).collect();
        let train = self.with_noise(dataset, &drawn);
        let (before, after) = (dataset.train.item_counts(dataset.items()), train.item_counts(dataset.items()));
        let added = Tally {
            users: drawn.iter().filter(|&&count| count > 0).count(),
            items: before.iter().zip(&after).map(|(before, after)| before < after).collect(),
            interactions: train.len() - dataset.train.len(),
        };
        let missing: Vec<usize> = (0..dataset.users()).map(|user| wanted(user) - drawn[user]).filter(|&missing| missing > 0).collect();
        (dataset.train, dataset.order) = (train, None);
        Ok((added, Missing { users: missing.len(), interactions: missing.iter().sum() }))
    }

    /// Train with so many false positives of each user.
    fn with_noise(self, dataset: &Dataset, drawn: &[usize]) -> Interactions {
        let rows = drawn.par_chunks(USERS).enumerate().map(|(task, drawn)| {
            let users = (task * USERS..).zip(drawn);
            users.flat_map(|(user, &count)| self.row(dataset, user, count)).collect()
        });
        let rows: Vec<Vec<u32>> = rows.collect();
        let mut offsets = Vec::with_capacity(drawn.len() + 1);
        offsets.push(0);
        offsets.extend(drawn.iter().enumerate().scan(0, |end, (user, drawn)| {
            *end += dataset.train.row(user).len() + drawn;
            Some(*end)
        }));
        Interactions::from_sorted(offsets, rows.concat())
    }

    /// A user's train items and so many that are in no part, ascending.
    fn row(self, dataset: &Dataset, user: usize, drawn: usize) -> Vec<u32> {
        let train = dataset.train.row(user);
        let mut known = [train, dataset.validation.row(user), dataset.test.row(user)].concat();
        known.sort_unstable();
        let places = self.places(&dataset.user_ids[user], drawn, dataset.items() - known.len());
        let mut row = train.to_vec();
        let mut passed = 0;
        for place in places {
            while known.get(passed).is_some_and(|&item| item <= place + passed as u32) {
                passed += 1;
            }
            row.push(place + passed as u32);
        }
        row.sort_unstable();
        row
    }

    /// So many of the first `bound` numbers, ascending.
    fn places(self, user: &str, count: usize, bound: usize) -> Vec<u32> {
        let hasher = SipHasher24::new_with_keys(self.seed, 1);
        let mut key = [user.as_bytes(), &[0xFF; 5]].concat();
        let end = key.len() - 4;
        let mut chosen = Vec::with_capacity(count);
        for last in (bound - count) as u32..bound as u32 {
            key[end..].copy_from_slice(&(last + 1).to_le_bytes());
            let place = ((u128::from(hasher.hash(&key)) * u128::from(last + 1)) >> 64) as u32;
            match chosen.binary_search(&place) {
                Ok(_) => chosen.push(last),
                Err(at) => chosen.insert(at, place),
            }
        }
        chosen
    }
}

/// The long form.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Long {
    /// False positives of a user for each train interaction, from 0 to 1.
    ratio: f64,
    /// The seed.
    #[serde(default)]
    seed: u64,
}

impl JsonSchema for Noise {
    fn schema_name() -> Cow<'static, str> {
        "Noise".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (ratio, long) = (generator.subschema_for::<f64>(), generator.subschema_for::<Long>());
        json_schema!({"anyOf": [ratio, long]})
    }
}

impl<'de> Deserialize<'de> for Noise {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct NoiseVisitor;
        impl<'de> de::Visitor<'de> for NoiseVisitor {
            type Value = Noise;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number from 0 to 1, or {ratio, seed}")
            }

            fn visit_f64<E: de::Error>(self, ratio: f64) -> std::result::Result<Noise, E> {
                Ok(Noise { ratio, seed: 0 })
            }

            fn visit_u64<E: de::Error>(self, ratio: u64) -> std::result::Result<Noise, E> {
                self.visit_f64(ratio as f64)
            }

            fn visit_i64<E: de::Error>(self, ratio: i64) -> std::result::Result<Noise, E> {
                self.visit_f64(ratio as f64)
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> std::result::Result<Noise, A::Error> {
                let Long { ratio, seed } = Long::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Noise { ratio, seed })
            }
        }
        deserializer.deserialize_any(NoiseVisitor)
    }
}

#[cfg(test)]
mod tests;

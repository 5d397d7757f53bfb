//! A seeded generator with a long tail, tastes and drift, so that learned models beat popularity.
//!
//! ```text
//! P(item | user, time) = sum_k taste(user, k, time) * appeal(item, k)
//! appeal(item, k)      ~ popularity(item) * (1 if k is the item's topic, else 1/50)
//! ```
//! Item popularity falls with rank r as 1 / (r + items/20), user activity as 1 / (r + users/10). Each user likes three of the `dim`
//! topics, drawn with replacement; the shares 0.6, 0.3 and 0.1 move from one to the next over the two years of timestamps. A user takes
//! an item once. Every user draws from a generator of their own, and only +, -, * and / touch floating-point numbers: the same settings
//! give the same rows on every machine.

use super::{
    Has, SourceKind,
    row::{Row, Sinks},
};
use crate::{Error, Result};
use dataset::Split;
use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher24;

/// `synthetic` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Synthetic {
    /// Number of users; each has at least one interaction.
    pub users: u32,
    /// Number of items; unpopular ones may have no interaction.
    pub items: u32,
    /// Number of interactions.
    pub interactions: usize,
    /// Number of topics.
    pub dim: u32,
    /// The seed.
    pub seed: u64,
}

impl Default for Synthetic {
    fn default() -> Self {
        Self { users: 2_000, items: 1_000, interactions: 60_000, dim: 16, seed: 0 }
    }
}

/// The first timestamp, in seconds since 1970.
const START: f64 = 1_600_000_000.0;
/// Two years, in seconds.
const SPAN: f64 = 63_072_000.0;
/// The shares of a user's three topics.
const SHARES: [f64; 3] = [0.6, 0.3, 0.1];
/// What an item has of the appeal of topics that are not its own.
const ELSEWHERE: f64 = 0.02;
/// More users, interactions, or numbers of items and topics together are not generated.
const MOST_USERS: u32 = 1 << 27;
const MOST_INTERACTIONS: usize = 1 << 33;
const MOST_APPEALS: u64 = 1 << 28;
/// Draws before the next free item is taken instead.
const TRIES: usize = 32;

impl SourceKind for Synthetic {
    fn files(&self) -> Vec<(&'static str, Split, &str)> {
        Vec::new()
    }

    fn timestamps(&self) -> Has {
        Has::Yes
    }

    fn is_read_in_parallel(&self) -> bool {
        false
    }

    fn rows(&self, _part: Split) -> Result<u64> {
        Ok(self.interactions as u64)
    }

    fn check(&self) -> Result<()> {
        let (users, items) = (self.users as usize, self.items as usize);
        if users == 0 || items == 0 || self.dim == 0 {
            return Err(Error::setting("source", "`users`, `items` and `dim` must be at least 1"));
        }
        self.check_size()?;
        if self.interactions < users || self.interactions > users.saturating_mul(items) / 2 {
            let most = users.saturating_mul(items) / 2;
            let reason = format!(
                "{} interactions of {users} users with {items} items (expected at least one per user and at most half of all pairs: {users} to {most})",
                self.interactions
            );
            return Err(Error::setting("source.interactions", reason));
        }
        Ok(())
    }

    /// Bytes of the topics' cumulative appeals, of what a user has taken, and of the users' activity.
    fn memory(&self) -> f64 {
        let (users, items, topics) = (f64::from(self.users), f64::from(self.items), f64::from(self.dim));
        items * (topics * size_of::<f64>() as f64 + size_of::<u32>() as f64) + users * size_of::<usize>() as f64
    }

    fn read(&self, _part: Split, sinks: &dyn Sinks) -> Result<()> {
        let mut sink = sinks.sink();
        let topics = Topics::new(self);
        let mut taken = vec![u32::MAX; self.items as usize];
        for (user, count) in self.activity().into_iter().enumerate() {
            let user = user as u32;
            let mut draws = self.generator(Stream::User, user);
            let likes: [u32; 3] = std::array::from_fn(|_| below(&mut draws, self.dim));
            let (start, id) = (uniform(&mut draws) / 2.0, (user + 1).to_string());
            for event in 0..count {
                let time = start + (event as f64 + uniform(&mut draws)) / count as f64 / 2.0;
                let topic = likes[liked(time, uniform(&mut draws))];
                let item = topics.draw(topic, &mut draws, |item| taken[item as usize] != user);
                taken[item as usize] = user;
                let time = (START + time * SPAN).floor();
                sink.row(Row { user: &id, item: &(item + 1).to_string(), rating: None, time: Some(time) })?;
            }
        }
        sink.finish()
    }
}

impl Synthetic {
    /// That a machine holds what is generated.
    fn check_size(&self) -> Result<()> {
        let Self { users, items, interactions, dim, .. } = *self;
        if users > MOST_USERS {
            return Err(Error::setting("source.users", format!("`users` is {users} (expected at most {MOST_USERS})")));
        }
        if interactions > MOST_INTERACTIONS {
            return Err(Error::setting(
                "source.interactions",
                format!("`interactions` is {interactions} (expected at most {MOST_INTERACTIONS})"),
            ));
        }
        if u64::from(items) * u64::from(dim) > MOST_APPEALS {
            let (key, value) = if u64::from(items) > u64::from(dim) { ("source.items", "`items`") } else { ("source.dim", "`dim`") };
            let reason =
                format!("{value} is too large: {items} items of {dim} topics (expected at most {MOST_APPEALS} numbers, items times `dim`)");
            return Err(Error::setting(key, reason));
        }
        Ok(())
    }

    /// Each user's number of interactions; together exactly `interactions`, each between 1 and the number of items.
    fn activity(&self) -> Vec<usize> {
        let users = self.users as usize;
        let weights: Vec<f64> = self.ranks(Stream::Activity, self.users).iter().map(|&rank| falling(rank, users, 10)).collect();
        let (total, spare) = (weights.iter().sum::<f64>(), (self.interactions - users) as f64);
        let mut counts: Vec<usize> =
            weights.iter().map(|weight| (1 + (spare * (weight / total)) as usize).min(self.items as usize)).collect();
        let mut missing = self.interactions - counts.iter().sum::<usize>();
        for user in (0..users).cycle() {
            if missing == 0 {
                return counts;
            }
            if counts[user] < self.items as usize {
                counts[user] += 1;
                missing -= 1;
            }
        }
        counts
    }

    /// A random rank for each of `count` things.
    fn ranks(&self, stream: Stream, count: u32) -> Vec<usize> {
        let mut draws = self.generator(stream, 0);
        let mut ranks: Vec<usize> = (0..count as usize).collect();
        for last in (1..count).rev() {
            ranks.swap(last as usize, below(&mut draws, last + 1) as usize);
        }
        ranks
    }

    fn generator(&self, stream: Stream, key: u32) -> Xoshiro256PlusPlus {
        let bytes = [(stream as u32).to_le_bytes(), key.to_le_bytes()].concat();
        Xoshiro256PlusPlus::seed_from_u64(SipHasher24::new_with_keys(self.seed, 0).hash(&bytes))
    }
}

/// What a generator is for.
#[derive(Clone, Copy)]
enum Stream {
    Popularity,
    Topic,
    Activity,
    User,
}

/// The cumulative appeal of items, for each topic.
struct Topics {
    cumulative: Vec<Vec<f64>>,
}

impl Topics {
    fn new(settings: &Synthetic) -> Self {
        let items = settings.items as usize;
        let popularity: Vec<f64> =
            settings.ranks(Stream::Popularity, settings.items).iter().map(|&rank| falling(rank, items, 20)).collect();
        let mut draws = settings.generator(Stream::Topic, 0);
        let own: Vec<u32> = (0..items).map(|_| below(&mut draws, settings.dim)).collect();
        let cumulative = |topic: u32| {
            let mut sum = 0.0;
            let appeal = (0..items).map(|item| popularity[item] * if own[item] == topic { 1.0 } else { ELSEWHERE });
            appeal
                .map(|appeal| {
                    sum += appeal;
                    sum
                })
                .collect()
        };
        Self { cumulative: (0..settings.dim).map(cumulative).collect() }
    }

    /// An item that is free, by its appeal in a topic.
    fn draw(&self, topic: u32, draws: &mut Xoshiro256PlusPlus, free: impl Fn(u32) -> bool) -> u32 {
        let cumulative = &self.cumulative[topic as usize];
        let items = cumulative.len() as u32;
        let mut item = 0;
        for _ in 0..TRIES {
            let at = uniform(draws) * cumulative[cumulative.len() - 1];
            item = (cumulative.partition_point(|&sum| sum <= at) as u32).min(items - 1);
            if free(item) {
                return item;
            }
        }
        (item..items).chain(0..item).find(|&item| free(item)).expect("a user has at most as many interactions as there are items")
    }
}

/// 1 / (rank + count / softness): a long tail.
fn falling(rank: usize, count: usize, softness: usize) -> f64 {
    1.0 / (rank as f64 + 1.0 + count as f64 / softness as f64)
}

/// Which of the three topics, at a time in [0, 1): the shares move on by one place over the whole time.
fn liked(time: f64, at: f64) -> usize {
    let share = |topic: usize| SHARES[topic] * (1.0 - time) + SHARES[(topic + 1) % 3] * time;
    if at < share(0) {
        0
    } else if at < share(0) + share(1) {
        1
    } else {
        2
    }
}

/// Uniform in [0, 1), in steps of 2^-53.
fn uniform(draws: &mut Xoshiro256PlusPlus) -> f64 {
    (draws.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Uniform below a bound; the bias is at most bound / 2^64.
fn below(draws: &mut Xoshiro256PlusPlus, bound: u32) -> u32 {
    ((u128::from(draws.next_u64()) * u128::from(bound)) >> 64) as u32
}

#[cfg(test)]
mod tests {
    use super::super::row::testing::{Kept, read};
    use super::*;
    use crate::Source;
    use dataset::Split;
    use std::collections::{BTreeMap, BTreeSet};

    fn generated(settings: Synthetic) -> Result<Kept> {
        read(&Source::Synthetic(settings), Split::Train)
    }

    #[test]
    fn sizes_are_exact_and_pairs_unique() {
        for (users, items, interactions) in [(2_000, 1_000, 60_000), (20, 30, 300), (7, 1, 7), (5, 4, 10)] {
            let settings =
                Synthetic { users, items, interactions: interactions.min(users as usize * items as usize), ..Synthetic::default() };
            let Ok(kept) = generated(settings) else {
                assert_eq!((users, items), (7, 1), "only this one asks for more than half of all pairs");
                continue;
            };
            assert_eq!(kept.rows.len(), interactions);
            let pairs: BTreeSet<(&str, &str)> = kept.rows.iter().map(|row| (&row.0[..], &row.1[..])).collect();
            assert_eq!(pairs.len(), interactions);
            assert_eq!(pairs.iter().map(|pair| pair.0).collect::<BTreeSet<_>>().len(), users as usize);
        }
    }

    #[test]
    fn the_seed_decides() {
        let rows = |seed| generated(Synthetic { users: 50, items: 40, interactions: 500, dim: 4, seed }).unwrap().rows;
        assert_eq!(rows(1), rows(1));
        assert_ne!(rows(1), rows(2));
    }

    /// The rows of the same generator written in Python.
    #[test]
    fn the_rows_are_frozen() {
        let expected = [
            (1, 1, 1_610_624_209.0),
            (1, 4, 1_616_758_200.0),
            (1, 3, 1_619_228_303.0),
            (1, 2, 1_631_321_739.0),
            (2, 3, 1_610_303_142.0),
            (2, 5, 1_633_765_626.0),
            (3, 2, 1_635_663_187.0),
        ];
        let rows = generated(Synthetic { users: 3, items: 5, interactions: 7, dim: 2, seed: 1 }).unwrap().rows;
        assert_eq!(rows, expected.map(|(user, item, time)| (format!("{user}"), format!("{item}"), None, Some(time))));
    }

    #[test]
    fn popularity_has_a_long_tail() {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for row in generated(Synthetic::default()).unwrap().rows {
            *counts.entry(row.1).or_default() += 1;
        }
        let mut counts: Vec<usize> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let head: usize = counts.iter().take(100).sum();
        assert!(head > 60_000 / 4 && counts[0] > 5 * counts[500], "{head} {} {}", counts[0], counts[500]);
    }

    /// Recall@20 on every fifth interaction, from the others.
    #[test]
    fn cooccurrence_beats_popularity() {
        let rows = generated(Synthetic::default()).unwrap().rows;
        let (mut train, mut test) = (vec![Vec::new(); 2_000], vec![Vec::new(); 2_000]);
        for (at, row) in rows.iter().enumerate() {
            let (user, item): (usize, usize) = (row.0.parse::<usize>().unwrap() - 1, row.1.parse::<usize>().unwrap() - 1);
            if at % 5 == 0 { test[user].push(item) } else { train[user].push(item) }
        }
        let mut together = vec![0f64; 1_000 * 1_000];
        for items in &train {
            for &a in items {
                items.iter().for_each(|&b| together[a * 1_000 + b] += 1.0);
            }
        }
        let popular: Vec<f64> = (0..1_000).map(|item| together[item * 1_001]).collect();
        let similar = |a: usize, b: usize| together[a * 1_000 + b] / (popular[b].sqrt() + 1.0);
        let by_popularity = recall(&train, &test, |_, item| popular[item]);
        let by_taste = recall(&train, &test, |items, item| items.iter().map(|&other| similar(other, item)).sum());
        assert!(by_taste > 1.5 * by_popularity && by_taste > 0.15, "{by_taste} {by_popularity}");
    }

    fn recall(train: &[Vec<usize>], test: &[Vec<usize>], score: impl Fn(&[usize], usize) -> f64) -> f64 {
        let mut sum = 0.0;
        for (train, test) in train.iter().zip(test) {
            let mut items: Vec<(f64, usize)> =
                (0..1_000).filter(|item| !train.contains(item)).map(|item| (score(train, item), item)).collect();
            items.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let hits = items[..20].iter().filter(|(_, item)| test.contains(item)).count();
            sum += hits as f64 / test.len().max(1) as f64;
        }
        sum / train.len() as f64
    }
}

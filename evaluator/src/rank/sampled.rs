//! Ranking of each user's held-out items among a few sampled ones, as papers do that print such values.
//!
//! ```text
//! candidates of u = held-out items of u, and N distinct items drawn uniformly from those that are neither held out nor masked
//! ```
//! A metric of such ranks is not the metric of the full catalogue, and may order methods otherwise: it is here to be set beside printed numbers. Which
//! items are drawn follows from the seed and the user, so that all models are ranked among the same ones. Krichene and Rendle, "On Sampled Metrics for
//! Item Recommendation", KDD 2020.

use super::{
    check,
    lists::reduce_lists,
    rankings::{Candidates, Rankings},
};
use crate::{Result, Scorer};
use dataset::Interactions;
use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use serde::{Deserialize, Serialize};
use vectors::Ties;

/// `sampled_candidates` of an evaluation: the items that a user's held-out items are ranked among.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampledCandidates {
    /// N: drawn items of each user; all that there are where there are fewer.
    pub negatives: u32,
    /// The seed of the draws.
    #[serde(default = "first")]
    pub seed: u64,
}

fn first() -> u64 {
    1
}

impl SampledCandidates {
    /// The drawn items of a user, who has these items, ascending and distinct, among so many.
    fn draw(self, user: u32, own: &[u32], items: usize) -> Vec<u32> {
        let free = items - own.len();
        let count = (self.negatives as usize).min(free);
        let start = SplitMix64::seed_from_u64(self.seed).next_u64();
        let mut words = SplitMix64::seed_from_u64(start ^ u64::from(user).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Floyd's method, over the places of free items.
        let mut places: Vec<u32> = Vec::with_capacity(count);
        for last in free - count..free {
            let place = ((u128::from(words.next_u64()) * (last as u128 + 1)) >> 64) as u32;
            let at = places.binary_search(&place);
            let (at, place) = at.map_or_else(|at| (at, place), |_| (places.len(), last as u32));
            places.insert(at, place);
        }
        free_items(&places, own)
    }
}

/// The free items at these ascending places, where `own` are the items that are not free.
fn free_items(places: &[u32], own: &[u32]) -> Vec<u32> {
    let mut before = 0;
    let item = |&place: &u32| {
        while own.get(before).is_some_and(|&own| own <= place + before as u32) {
            before += 1;
        }
        place + before as u32
    };
    places.iter().map(item).collect()
}

/// Ranks as [`rank_within`](super::rank_within()) does, among sampled candidates; no lists are kept.
///
/// # Errors
/// Those of [`rank()`](super::rank()), and for a scorer that is top-N lists, which has no scores of other items.
#[allow(clippy::too_many_arguments, reason = "those of `rank_within`, and the sample")]
pub fn rank_sampled(
    scorer: &Scorer,
    history: &Interactions,
    masked: &[&Interactions],
    held_out: &Interactions,
    ties: Ties,
    memory: usize,
    limit: Option<u32>,
    sample: SampledCandidates,
) -> Result<Rankings> {
    check::sizes(scorer, history, masked, held_out.users())?;
    check::held_out(scorer.items(), masked, held_out)?;
    let users: Vec<u32> = (0..held_out.users() as u32).filter(|&user| !held_out.row(user as usize).is_empty()).collect();
    let list = |user: u32, items: &mut Vec<u32>| {
        let own = held_out.row(user as usize);
        let rows = masked.iter().map(|masked| masked.row(user as usize)).chain([own]);
        let mut taken: Vec<u32> = rows.flatten().copied().collect();
        taken.sort_unstable();
        taken.dedup();
        items.extend_from_slice(own);
        items.extend(sample.draw(user, &taken, scorer.items()));
    };
    let count = |user: u32, scores: &mut [f32]| {
        let (own, others) = scores.split_at(held_out.row(user as usize).len());
        let number = |holds: &dyn Fn(f32) -> bool| others.iter().filter(|&&score| holds(score)).count() as u32;
        let mut before: Vec<(u32, u32)> =
            own.iter().map(|&score| (number(&|other| other >= score), number(&|other| other > score))).collect();
        before.sort_unstable();
        (scores.len(), before)
    };
    let counts = reduce_lists(scorer, history, &users, list, count, memory)?;
    let mut rankings = Rankings::new(limit.into());
    for (user, (count, before)) in users.into_iter().zip(counts) {
        let is_asked = |&(place, &(_, above)): &(u32, &(u32, u32))| limit.is_none_or(|limit| above + place <= limit);
        let asked = (1..).zip(&before).take_while(is_asked).count();
        rankings.add(Candidates { user, count, list: &[] }, before.len(), &before[..asked], ties);
    }
    Ok(rankings)
}

#[cfg(test)]
mod tests {
    use super::super::rank_within;
    use super::*;
    use crate::{Factors, Matrix, Similarity};
    use proptest::prelude::*;

    fn scorer(users: usize, items: usize) -> Scorer {
        let matrix = |rows: usize, step: f32| Matrix { rows, dim: 2, values: (0..2 * rows).map(|at| (at as f32 * step).sin()).collect() };
        Scorer::Factors(Factors { users: matrix(users, 0.7), items: matrix(items, 0.31), similarity: Similarity::Dot })
    }

    /// With as many negatives as there are, ranks are those of the full catalogue.
    #[test]
    fn all_candidates_are_the_full_catalogue() {
        let scorer = scorer(5, 40);
        let known = Interactions::from_pairs(5, (0..5).flat_map(|user| (0..4).map(move |at| (user, (user * 7 + at) % 20))));
        let held_out = Interactions::from_pairs(5, (0..4).flat_map(|user| (0..2).map(move |at| (user, 20 + (user * 3 + at * 5) % 20))));
        for limit in [None, Some(5)] {
            let all = SampledCandidates { negatives: 1_000, seed: 3 };
            let sampled = rank_sampled(&scorer, &known, &[&known], &held_out, Ties::Pessimistic, 1 << 20, limit, all).unwrap();
            let full = rank_within(&scorer, &known, &[&known], &held_out, Ties::Pessimistic, 1 << 20, limit).unwrap();
            let rows = |rankings: &Rankings| rankings.iter().map(|row| (row.user, row.ranks.to_vec(), row.candidates)).collect::<Vec<_>>();
            assert_eq!(rows(&sampled), rows(&full));
        }
    }

    /// One held-out item among 10 of 1,000 others, of which 500 are above it: its rank less 1 is hypergeometric, with a mean of 5.
    #[test]
    fn ranks_are_those_of_a_sample() {
        let users = 2_000;
        let values: Vec<f32> = (0..1_001).map(|item| item as f32).collect();
        let scorer = Scorer::Factors(Factors {
            users: Matrix { rows: users, dim: 1, values: vec![1.0; users] },
            items: Matrix { rows: 1_001, dim: 1, values },
            similarity: Similarity::Dot,
        });
        let (known, held_out) = (Interactions::empty(users), Interactions::from_pairs(users, (0..users as u32).map(|user| (user, 500))));
        let ten = SampledCandidates { negatives: 10, seed: 1 };
        let found = rank_sampled(&scorer, &known, &[&known], &held_out, Ties::Pessimistic, 1 << 20, None, ten).unwrap();
        let mean = found.iter().map(|row| f64::from(row.ranks[0] - 1)).sum::<f64>() / users as f64;
        // The variance is 10 / 4 * 990 / 999, so that the standard error is 0.035.
        assert!((mean - 5.0).abs() < 0.14, "{mean}");
        let variance = found.iter().map(|row| (f64::from(row.ranks[0] - 1) - mean).powi(2)).sum::<f64>() / users as f64;
        assert!((variance / (2.5 * 990.0 / 999.0) - 1.0).abs() < 0.1, "{variance}");
        assert!(found.iter().all(|row| row.candidates == 11));
    }

    /// From SplitMix64 and Floyd's method in Python.
    #[test]
    fn draws_are_of_the_user_and_the_seed() {
        let drawn = |seed, user| SampledCandidates { negatives: 6, seed }.draw(user, &[3, 10], 60);
        assert_eq!(drawn(1, 7), [12, 16, 18, 21, 34, 53]);
        assert_eq!(drawn(1, 8), [0, 14, 38, 40, 44, 59]);
        assert_eq!(drawn(2, 7), [12, 18, 34, 42, 55, 57]);
        assert_eq!(serde_json::from_str::<SampledCandidates>(r#"{"negatives": 6}"#).unwrap().draw(7, &[3, 10], 60), drawn(1, 7));
    }

    proptest! {
        #[test]
        fn draws_are_distinct_and_free(own in prop::collection::btree_set(0_u32..60, 0..60), negatives in 0_u32..80, seed: u64) {
            let own: Vec<u32> = own.into_iter().collect();
            let sample = SampledCandidates { negatives, seed };
            let drawn = sample.draw(7, &own, 60);
            prop_assert_eq!(drawn.len(), (negatives as usize).min(60 - own.len()));
            prop_assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]) && drawn.iter().all(|item| *item < 60 && !own.contains(item)));
        }
    }
}

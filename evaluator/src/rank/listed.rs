//! Ranking of top-N lists: a held-out item stands where the list has it, and one that is not listed was not retrieved.
//!
//! ```text
//! rank = other listed candidates above (and, where ties are pessimistic, level) + place among the user's own held-out items
//! ```
//! Masked items are no candidates, and are passed over. What is not listed is never a hit, whatever the cutoff and the catalogue; for the area
//! under the curve it stands behind all listed items, in random order.

use super::{
    check,
    depth::Depth,
    rankings::{Candidates, Rankings},
};
use crate::{Result, Scorer, scorer::Lists};
use dataset::Interactions;
use vectors::Ties;

/// What is remarkable of lists beside their ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListCounts {
    /// The largest cutoff.
    pub cutoff: u32,
    /// Ranked users whose lists have fewer candidates than the cutoff, though the catalogue has more for them.
    pub short: usize,
    /// Users among `short` whose lists have no candidate.
    pub empty: usize,
    /// Masked items in the lists of ranked users, which are passed over.
    pub masked: usize,
}

/// Counts what is remarkable of lists up to a cutoff, over the users with held-out items; `None` for a scorer of all items.
///
/// # Errors
/// [`Error::Ranking`](crate::Error::Ranking) when sizes do not fit.
pub fn list_counts(scorer: &Scorer, masked: &[&Interactions], held_out: &Interactions, cutoff: u32) -> Result<Option<ListCounts>> {
    let Some(lists) = scorer.lists() else { return Ok(None) };
    check::sizes(scorer, held_out, masked, held_out.users())?;
    let mut counts = ListCounts { cutoff, ..ListCounts::default() };
    for user in (0..held_out.users()).filter(|&user| !held_out.row(user).is_empty()) {
        let candidates = lists.row(user).filter(|&(item, _)| !is_masked(masked, user, item)).count();
        let known: usize = masked.iter().map(|masked| masked.row(user).len()).sum();
        counts.masked += lists.row(user).len() - candidates;
        counts.short += usize::from(candidates < (cutoff as usize).min(lists.items() - known));
        counts.empty += usize::from(candidates == 0);
    }
    Ok(Some(counts))
}

/// Ranks checked lists; `depth` is as for [`rank_within`](super::rank_within()).
pub(super) fn rank(lists: &Lists, masked: &[&Interactions], held_out: &Interactions, ties: Ties, depth: Depth) -> Rankings {
    let mut rankings = Rankings::new(depth);
    let mut row: Vec<(u32, f64)> = Vec::new();
    for user in (0..held_out.users()).filter(|&user| !held_out.row(user).is_empty()) {
        row.clear();
        row.extend(lists.row(user).filter(|&(item, _)| !is_masked(masked, user, item)));
        let known: usize = masked.iter().map(|masked| masked.row(user).len()).sum();
        let (count, candidates) = (held_out.row(user).len(), lists.items() - known);
        let (mut before, mut others) = (Vec::new(), 0);
        for level in row.chunk_by(|one, next| one.1 == next.1) {
            let hits = level.iter().filter(|(item, _)| held_out.contains(user, *item)).count();
            let above = others;
            others += (level.len() - hits) as u32;
            before.extend(std::iter::repeat_n((others, above), hits));
        }
        let retrieved = before.len();
        before.extend(std::iter::repeat_n(((candidates - count) as u32, others), count - retrieved));
        let list: Vec<u32> = row.iter().take(depth.list as usize).map(|&(item, _)| item).collect();
        rankings.add_retrieved(Candidates { user: user as u32, count: candidates, list: &list }, &before, retrieved, ties);
    }
    rankings
}

/// The `k` best listed candidates of each user, as [`top_k`](super::top_k()) gives them.
pub(super) fn top_k(lists: &Lists, masked: &[&Interactions], users: &[u32], k: usize) -> Vec<Vec<(u32, f32)>> {
    let of_user = |&user: &u32| {
        let candidates = lists.row(user as usize).filter(|&(item, _)| !is_masked(masked, user as usize, item));
        candidates.take(k).map(|(item, score)| (item, score as f32)).collect()
    };
    users.iter().map(of_user).collect()
}

fn is_masked(masked: &[&Interactions], user: usize, item: u32) -> bool {
    masked.iter().any(|masked| masked.contains(user, item))
}

#[cfg(test)]
mod tests {
    use super::super::{Rankings, rank_within, reduce_lists, top_k};
    use super::*;
    use crate::{Factors, Matrix, Similarity};
    use proptest::prelude::*;

    fn ranks(rankings: &Rankings) -> Vec<Vec<u32>> {
        rankings.iter().map(|ranked| ranked.ranks.to_vec()).collect()
    }

    fn pairs(users: usize, pairs: &[(u32, u32)]) -> Interactions {
        Interactions::from_pairs(users, pairs.iter().copied())
    }

    fn lists(catalogue: usize, rows: &[&[(u32, f64)]]) -> Scorer {
        Scorer::Lists(Lists::from_rows(catalogue, rows.iter().map(|row| row.to_vec()).collect()).unwrap())
    }

    /// User 0 lists 5, 3, 1 and 4, of which 3 is masked: the held-out 1 is second and 4 third; the held-out 0 was not retrieved. User 1 has no list.
    #[test]
    fn what_is_listed_has_its_place_and_the_rest_is_no_hit() {
        let scorer = lists(6, &[&[(5, 4.0), (3, 3.0), (1, 2.0), (4, 1.0)], &[]]);
        let (masked, held_out) = (pairs(2, &[(0, 3)]), pairs(2, &[(0, 0), (0, 1), (0, 4), (1, 2)]));
        for ties in [Ties::Pessimistic, Ties::Optimistic] {
            for limit in [Some(20), None] {
                let found = rank_within(&scorer, &masked, &[&masked], &held_out, ties, 1 << 20, limit).unwrap();
                assert_eq!(ranks(&found), [vec![2, 3, u32::MAX], vec![u32::MAX]]);
                assert_eq!(found.tied_users(), 0);
            }
        }
        let counts = list_counts(&scorer, &[&masked], &held_out, 4).unwrap();
        assert_eq!(counts, Some(ListCounts { cutoff: 4, short: 2, empty: 1, masked: 1 }));
        assert_eq!(list_counts(&scorer, &[&masked], &pairs(2, &[(0, 1)]), 3).unwrap().unwrap().short, 0);
    }

    /// Of user 0 the candidates are 0, 1, 2, 4 and 5; others than the held-out ones are 2 and 5. Before 1 and 4 is 5, behind them 2, and 0 is level
    /// with 2: (1 + 1 + 1/2) of 6 pairs. User 1 has one held-out item, level with five others.
    #[test]
    fn the_area_has_unlisted_items_in_random_order_behind() {
        let scorer = lists(6, &[&[(5, 4.0), (3, 3.0), (1, 2.0), (4, 1.0)], &[]]);
        let (masked, held_out) = (pairs(2, &[(0, 3)]), pairs(2, &[(0, 0), (0, 1), (0, 4), (1, 2)]));
        let found = rank_within(&scorer, &masked, &[&masked], &held_out, Ties::Pessimistic, 1 << 20, None).unwrap();
        let areas: Vec<f64> = found.iter().map(|ranked| ranked.auc).collect();
        assert_eq!(areas, [2.5 / 6.0, 0.5]);
    }

    #[test]
    fn equal_scores_are_ties() {
        let scorer = lists(9, &[&[(0, 1.0), (1, 1.0), (2, 1.0), (3, 0.5)]]);
        let (nothing, held_out) = (pairs(1, &[]), pairs(1, &[(0, 1), (0, 3)]));
        let found = |ties| rank_within(&scorer, &nothing, &[], &held_out, ties, 1 << 20, Some(4)).unwrap();
        assert_eq!((ranks(&found(Ties::Pessimistic)), ranks(&found(Ties::Optimistic))), (vec![vec![3, 4]], vec![vec![1, 4]]));
        assert_eq!(found(Ties::Pessimistic).tied_users(), 1);
    }

    #[test]
    fn recommended_are_the_first_of_the_list_and_no_more() {
        let scorer = lists(6, &[&[(5, 4.0), (3, 3.0), (1, 2.0)], &[(2, 0.25)]]);
        let masked = pairs(2, &[(0, 3)]);
        let found = top_k(&scorer, &masked, &[&masked], &[1, 0], 2, 1 << 20).unwrap();
        assert_eq!(found, [vec![(2, 0.25)], vec![(5, 4.0), (1, 2.0)]]);
        let message = reduce_lists(&scorer, &masked, &[0], |_, items| items.push(2), |_, _| (), 1 << 20).unwrap_err().to_string();
        assert!(message.contains("top-N lists have no scores of items that they do not name"), "{message}");
        assert!(top_k(&scorer, &masked, &[], &[2], 2, 1 << 20).unwrap_err().to_string().contains("user 2 is outside"));
    }

    proptest! {
        /// The whole order of a model as lists has the model's ranks, of any rule and limit.
        #[test]
        fn whole_lists_rank_as_their_model(
            values in prop::collection::vec(-3i8..4, 3 * 40),
            known in prop::collection::vec((0u32..3, 0u32..40), 0..30),
            held_out in prop::collection::vec((0u32..3, 0u32..40), 1..30),
            limit in prop::option::of(1u32..40),
        ) {
            let masked = pairs(3, &known);
            let held_out = Interactions::from_pairs(3, held_out.into_iter().filter(|&(user, item)| !masked.contains(user as usize, item)));
            // Three users' scores as vectors: unit vectors of users meet items whose numbers are the scores.
            let users = Matrix { rows: 3, dim: 3, values: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0] };
            let items = Matrix { rows: 40, dim: 3, values: values.iter().map(|&value| f32::from(value)).collect() };
            let row = |user: usize| (0..40).map(|item| (item, f64::from(items.row(item as usize)[user]))).collect();
            let scorer = Scorer::Lists(Lists::from_rows(40, (0..3).map(row).collect()).unwrap());
            let model = Scorer::Factors(Factors { users, items: items.clone(), similarity: Similarity::Dot });
            for ties in [Ties::Pessimistic, Ties::Optimistic] {
                let [found, expected] = [&scorer, &model]
                    .map(|scorer| rank_within(scorer, &masked, &[&masked], &held_out, ties, 1 << 20, limit).unwrap());
                prop_assert_eq!(ranks(&found), ranks(&expected));
                prop_assert_eq!(found.tied_users(), expected.tied_users());
                let areas = |rankings: &Rankings| rankings.iter().map(|ranked| ranked.auc.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(areas(&found), areas(&expected));
            }
        }
    }
}

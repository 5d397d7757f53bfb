//! Items by their popularity: how often their held-out interactions are found, and how many places of lists they have.

use super::{GroupValue, Grouping, equal::Groups};
use crate::{Rankings, metric::Given};
use dataset::Interactions;

/// From the lists of ranked users and their held-out items, cut after each of these numbers of items. A group without held-out interactions has no recall.
pub(crate) fn of_items(rankings: &Rankings, held_out: &Interactions, given: &Given<'_>, cutoffs: &[u32]) -> Vec<GroupValue> {
    if cutoffs.is_empty() {
        return Vec::new();
    }
    let groups = Groups::new(&given.popularity().counts);
    let sizes = groups.sizes();
    let held = groups.count(held_out.items().iter().map(|&item| item as usize));
    let mut all = Vec::new();
    for &cutoff in cutoffs {
        let listed = || rankings.iter().flat_map(|ranked| ranked.list.iter().take(cutoff as usize).map(move |&item| (ranked.user, item)));
        let hits = groups.count(listed().filter(|&(user, item)| held_out.contains(user as usize, item)).map(|(_, item)| item as usize));
        let places = groups.count(listed().map(|(_, item)| item as usize));
        let shown: u32 = places.iter().sum();
        let shares = |name: &'static str, parts: Vec<u32>, wholes: Vec<u32>| {
            let known = parts.into_iter().zip(wholes).enumerate().filter(|(_, (_, whole))| *whole > 0);
            known.map(move |(group, (part, whole))| (name, group, f64::from(part) / f64::from(whole))).collect::<Vec<_>>()
        };
        let values = [shares("recall", hits, held.clone()), shares("exposure", places, vec![shown; sizes.len()])].concat();
        all.extend(values.into_iter().map(|(metric, group, value)| GroupValue {
            of: Grouping::Items,
            group: group as u32 + 1,
            low: *groups.ranges[group].start(),
            high: *groups.ranges[group].end(),
            size: sizes[group],
            metric: metric.to_owned(),
            cutoff: Some(cutoff),
            value,
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Factors, Matrix, Scorer, Similarity, metric::denominator::RecallDenominator, rank};
    use vectors::Ties;

    const USERS: usize = 4;
    const ITEMS: usize = 5;

    /// The lists whose first items these are, from a model that scores them so.
    fn rankings(first: [[u32; 2]; USERS], held_out: &Interactions) -> Rankings {
        let one_hot = (0..USERS * USERS).map(|at| f32::from(u8::from(at % (USERS + 1) == 0))).collect();
        let score = |item: u32, user: usize| first[user].iter().position(|&listed| listed == item).map_or(0.0, |place| 9.0 - place as f32);
        let scores = (0..ITEMS as u32).flat_map(|item| (0..USERS).map(move |user| score(item, user))).collect();
        let scorer = Scorer::Factors(Factors {
            users: Matrix { rows: USERS, dim: USERS, values: one_hot },
            items: Matrix { rows: ITEMS, dim: USERS, values: scores },
            similarity: Similarity::Dot,
        });
        let nothing = Interactions::empty(USERS);
        let depth = rank::Depth { ranks: None, list: 2 };
        rank::rank_within(&scorer, &nothing, &[&nothing], held_out, Ties::Pessimistic, 1 << 20, depth).unwrap()
    }

    /// By hand. Items 0, 1 and 2 have one user each, items 3 and 4 three.
    #[test]
    fn recall_and_exposure_of_groups_of_items() {
        let history = Interactions::from_pairs(USERS, [(0, 0), (0, 3), (1, 1), (1, 3), (1, 4), (2, 2), (2, 4), (3, 3), (3, 4)].into_iter());
        let given = Given::new(RecallDenominator::Standard, &history, ITEMS);
        let found = |held_out: &[(u32, u32)], cutoffs: &[u32]| {
            let held_out = Interactions::from_pairs(USERS, held_out.iter().copied());
            let rankings = rankings([[4, 2], [2, 0], [3, 0], [1, 2]], &held_out);
            of_items(&rankings, &held_out, &given, cutoffs)
        };
        let values = |values: &[GroupValue]| {
            let value = |value: &GroupValue| (value.metric.clone(), value.cutoff.unwrap(), value.group, value.value);
            values.iter().map(value).collect::<Vec<_>>()
        };
        let (recall, exposure) = ("recall".to_owned(), "exposure".to_owned());
        // Held out are two interactions of each group. First are 4 (held out), 2 and 3 (held out); second 2, 0 (held out) and 0.
        let both = found(&[(0, 1), (0, 4), (1, 0), (2, 3)], &[1, 2]);
        let expected = [
            (recall.clone(), 1, 1, 0.0),
            (recall.clone(), 1, 2, 1.0),
            (exposure.clone(), 1, 1, 1.0 / 3.0),
            (exposure.clone(), 1, 2, 2.0 / 3.0),
            (recall.clone(), 2, 1, 0.5),
            (recall.clone(), 2, 2, 1.0),
            (exposure.clone(), 2, 1, 4.0 / 6.0),
            (exposure.clone(), 2, 2, 2.0 / 6.0),
        ];
        assert_eq!(values(&both), expected);
        let group = |value: &GroupValue| (value.of, value.low, value.high, value.size);
        assert_eq!((group(&both[0]), group(&both[1])), ((Grouping::Items, 1, 1, 3), (Grouping::Items, 3, 3, 2)));
        // Where nothing of a group is held out, it has no recall; users without held-out items have no list.
        assert_eq!(values(&found(&[(1, 0)], &[2])), [(recall, 2, 1, 1.0), (exposure.clone(), 2, 1, 1.0), (exposure, 2, 2, 0.0)]);
        assert!(found(&[(1, 0)], &[]).is_empty());
    }
}

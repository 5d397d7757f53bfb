//! A share of train: how well models do where users have told little.
//!
//! A user with `n` train interactions keeps ceil(share * n) of them, and so at least one. The others are in no part, and are ranked as any item that the
//! user does not have. Validation and test stay as they are, as do the ids: an item may have no train interaction left. Kept are the first in a frozen
//! random order, so that what a smaller share keeps is among what a greater one does: the order of (hash, item) with the hash of
//! [`order`](crate::order) by the key (seed, 2), which is not that of a split.
//!
//! Paper ITEM, Table 9, with 10 %, 20 % and 50 % of each user's train interactions; it does not tell how they are chosen or rounded.

use crate::{
    Error, Result,
    split::{Count, First, Ratio},
    tally::Tally,
};
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `train_share: {share: 0.1, seed: 2024}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainShare {
    /// The share of each user's train interactions that stays, above 0 and at most 1.
    pub share: f64,
    /// The seed.
    #[serde(default)]
    pub seed: u64,
}

/// What sets the order apart from that of splits.
const PURPOSE: u64 = 2;

impl TrainShare {
    pub(crate) fn check(self) -> Result<()> {
        match self.ratio()?.is_zero() {
            true => Err(Error::setting("train_share.share", "0 leaves nothing to learn from (expected a number above 0 and at most 1)")),
            false => Ok(()),
        }
    }

    /// Whether all stays.
    pub fn is_off(self) -> bool {
        self.share == 1.0
    }

    /// The step's name in the counts.
    pub fn step(self) -> String {
        format!("train that is kept (share {}, seed {})", self.share, self.seed)
    }

    fn ratio(self) -> Result<Ratio> {
        Ratio::up_to_one("train_share.share", self.share)
    }

    /// Takes the others out of train, and out of its order; what is left.
    pub(crate) fn keep(self, dataset: &mut Dataset) -> Result<Tally> {
        let first = First { key: [self.seed, PURPOSE], count: Count::Share(self.ratio()?) };
        let order = dataset.order.as_mut().map(|order| &mut order.train);
        Ok(first.keep(&mut dataset.train, order, &dataset.user_ids, &dataset.item_ids))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::{Interactions, Order as Times};
    use proptest::prelude::*;

    /// Users with the first so many items in train, and the last in test; they took them from the last to the first.
    fn dataset(items: usize, users: &[(&str, u32)]) -> Dataset {
        let train = (0..).zip(users).flat_map(|(user, &(_, count))| (0..count).map(move |item| (user, item)));
        let test = (0..users.len() as u32).map(|user| (user, items as u32 - 1));
        let times = users.iter().flat_map(|&(_, count)| (0..count).rev()).collect();
        Dataset {
            name: "d".into(),
            fingerprint: "f00d".into(),
            user_ids: users.iter().map(|user| user.0.to_owned()).collect(),
            item_ids: (0..items).map(|item| item.to_string()).collect(),
            train: Interactions::from_pairs(users.len(), train.collect::<Vec<_>>().into_iter()),
            validation: Interactions::empty(users.len()),
            one_node_set: false,
            test: Interactions::from_pairs(users.len(), test.collect::<Vec<_>>().into_iter()),
            fold_in: None,
            order: Some(Times {
                train: times,
                fold_in: Vec::new(),
                validation: Vec::new(),
                test: users.iter().map(|user| user.1).collect(),
            }),
            steps: Vec::new(),
            settings: serde_json::Value::Null,
        }
    }

    fn kept(share: f64, seed: u64, before: &Dataset) -> Dataset {
        let mut after = before.clone();
        TrainShare { share, seed }.keep(&mut after).unwrap();
        after
    }

    /// By an implementation of SipHash in Python.
    #[test]
    fn what_is_kept_is_frozen() {
        let before = dataset(12, &[("a", 10)]);
        let of = |share, seed| kept(share, seed, &before).train.row(0).to_vec();
        assert_eq!([of(0.1, 0), of(0.2, 0), of(0.5, 0)], [vec![3], vec![0, 3], vec![0, 3, 4, 6, 8]]);
        assert_eq!([of(0.1, 2024), of(0.2, 2024), of(0.5, 2024)], [vec![1], vec![1, 2], vec![1, 2, 5, 7, 9]]);
    }

    #[test]
    fn each_user_keeps_the_share_rounded_up_and_its_times() {
        let mut after = dataset(30, &[("a", 3), ("b", 10), ("c", 25), ("d", 0)]);
        let test = after.test.clone();
        let share = TrainShare { share: 0.1, seed: 0 };
        let counts = share.keep(&mut after).unwrap().counts(share.step());
        assert_eq!([0, 1, 2, 3].map(|user| after.train.row(user).len()), [1, 1, 3, 0]);
        assert_eq!((&*counts.step, counts.users, counts.interactions), ("train that is kept (share 0.1, seed 0)", 3, 5));
        assert_eq!(after.test, test);
        let times = after.order.unwrap().train;
        let expected = (0..).zip([3, 10, 25]).flat_map(|(user, count)| after.train.row(user).iter().map(move |&item| count - 1 - item));
        assert_eq!(times, expected.collect::<Vec<u32>>());
    }

    proptest! {
        #[test]
        fn a_smaller_share_is_part_of_a_greater_one(counts in prop::collection::vec(0u32..40, 1..6), (one, other) in (1u32..=100, 1u32..=100), seed: u64) {
            let names: Vec<String> = (0..counts.len()).map(|user| user.to_string()).collect();
            let users: Vec<(&str, u32)> = names.iter().map(String::as_str).zip(counts).collect();
            let before = dataset(41, &users);
            let [fewer, more] = [one.min(other), one.max(other)].map(|percent| kept(f64::from(percent) / 100.0, seed, &before).train);
            prop_assert!(fewer.pairs().all(|(user, item)| more.contains(user as usize, item)));
            prop_assert!((0..users.len()).all(|user| fewer.row(user).is_empty() == before.train.row(user).is_empty()));
            prop_assert_eq!(kept(1.0, seed, &before), before);
        }
    }
}

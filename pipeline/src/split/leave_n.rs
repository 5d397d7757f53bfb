//! So many interactions of each user, or a share of them: the last ones, or any.
//!
//! A user with more than `test` interactions gives the last `test` of them; with more than `test` and `validation` together, the `validation` before those to
//! validation. Other users stay in train. A share is of each user's interactions, that of `validation` of those that `test` leaves, both rounded down. Interactions of a user at the same time are in the order of [`history`](crate::history). With `pick: random` they
//! are taken from the front of the order of [`order`](crate::order) instead, test before validation, and no timestamps are needed.

use super::{Amount, Borders, SplitKind, shuffled::Shuffled};
use crate::{
    Error, Result,
    edges::{Edges, UserRow},
};
use dataset::Split;
use serde::{Deserialize, Serialize};

/// `leave-n` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaveN {
    /// Interactions of a user that are test: so many, or a share.
    pub test: Amount,
    /// Interactions of a user that are validation: so many, or a share of what `test` leaves.
    #[serde(default)]
    pub validation: Amount,
    /// Which interactions these are.
    #[serde(default)]
    pub pick: Pick,
    /// The seed, with `pick: random`.
    #[serde(default)]
    pub seed: u64,
}

/// `pick` of [`LeaveN`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// The last ones by time.
    #[default]
    Last,
    /// Any, drawn by the seed.
    Random,
}

impl SplitKind for LeaveN {
    fn needs_timestamps(&self) -> bool {
        self.pick == Pick::Last
    }

    fn has_validation(&self) -> bool {
        !self.validation.is_nothing()
    }

    fn validation_key(&self) -> &'static str {
        "validation: 1"
    }

    fn seed(&self) -> Option<u64> {
        (self.pick == Pick::Random).then_some(self.seed)
    }

    fn check(&self) -> Result<()> {
        if self.test.is_nothing() {
            let reason = "0 leaves nothing to test on (expected at least 1 interaction of each user, or a share of them)";
            return Err(Error::setting("split.test", reason));
        }
        self.test.check("split.test")?;
        self.validation.check("split.validation")
    }

    fn hold_out(&self, edges: &mut Edges, _: &Borders) -> Result<()> {
        if self.pick == Pick::Last && edges.times.is_none() {
            return Err(super::no_timestamps());
        }
        edges.each_user(|mut row, item_ids| match self.pick {
            Pick::Last => self.hold_out_last(&mut row, item_ids),
            Pick::Random => {
                let mut train = Shuffled::new(&row, item_ids, self.seed);
                for (count, part) in self.of_user(train.len()) {
                    train.put(count, &mut row, part);
                }
            }
        });
        Ok(())
    }
}

impl LeaveN {
    /// How many of a user's interactions go to test, and how many to validation.
    fn of_user(&self, interactions: usize) -> [(usize, Split); 2] {
        let test = self.test.of(interactions);
        let validation = test.and_then(|test| self.validation.of(interactions - test));
        [(test.unwrap_or(0), Split::Test), (validation.unwrap_or(0), Split::Validation)]
    }

    fn hold_out_last(&self, row: &mut UserRow<'_>, item_ids: &[String]) {
        let mut places = row.history.by_time(row.user_id, row.items, row.times.expect("checked before"), item_ids);
        for (count, part) in self.of_user(places.len()) {
            let (left, taken) = places.split_at(places.len() - count);
            taken.iter().for_each(|&place| row.parts[place] = part);
            places = left;
        }
    }
}

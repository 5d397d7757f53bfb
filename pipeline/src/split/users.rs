//! Users are held out as a whole: no training sees them, and they are ranked by a part of their histories.
//!
//! Of `n` users floor(test * n) are test users and floor(validation * n) validation users, by the order of [`drawn_users`](super::drawn_users). The other
//! users have all of their interactions in train. A held-out user with `m` interactions, `m` at least 2, is ranked on max(floor(fold_out * m), 1) of them,
//! the fold-out, which stand in test or in validation: the first in the order of [`order`](crate::order). The rest is the fold-in, by which alone a
//! model knows the user. A held-out user with a single interaction has it in the fold-in, and is not ranked.
//!
//! The inductive protocol of Liang et al., WWW 2018, and Meng et al., RecSys 2020, in the shares of paper ITEM, section 3.3: 80/10/10 of users, 80/20 of a
//! history. The paper does not tell how shares are rounded.

use super::{
    Borders, SplitKind,
    drawn_users::{DrawnUsers, UserIds},
    ratio::Ratio,
    shuffled::Shuffled,
};
use crate::{Error, Result, edges::Edges};
use dataset::Split;
use serde::{Deserialize, Serialize};

/// `users` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Users {
    /// The share of users that are test users.
    pub test: f64,
    /// The share of users that are validation users.
    pub validation: f64,
    /// The share of a held-out user's interactions that is ranked.
    pub fold_out: f64,
    /// The seed.
    pub seed: u64,
}

impl Default for Users {
    fn default() -> Self {
        Self { test: 0.1, validation: 0.1, fold_out: 0.2, seed: 0 }
    }
}

impl SplitKind for Users {
    fn has_validation(&self) -> bool {
        self.validation > 0.0
    }

    fn holds_users_out(&self) -> bool {
        true
    }

    fn seed(&self) -> Option<u64> {
        Some(self.seed)
    }

    fn check(&self) -> Result<()> {
        for (key, share) in [("split.test", self.test), ("split.fold_out", self.fold_out)] {
            if Ratio::new(key, share)?.is_zero() {
                return Err(Error::setting(key, "0 leaves nothing to test on (expected a number between 0 and 1)"));
            }
        }
        let (test, validation) = self.shares()?;
        match test.leaves_some_beside(validation) {
            true => Ok(()),
            false => {
                let reason = format!("{} and `test` {} leave no users to train on (expected a sum below 1)", self.validation, self.test);
                Err(Error::setting("split.validation", reason))
            }
        }
    }

    fn draw_users(&self, ids: &mut dyn UserIds) -> Result<DrawnUsers> {
        let (test, validation) = self.shares()?;
        DrawnUsers::new(ids, self.seed, [("split.test", test), ("split.validation", validation)])
    }

    fn hold_out(&self, edges: &mut Edges, borders: &Borders) -> Result<()> {
        let fold_out = Ratio::new("split.fold_out", self.fold_out)?;
        edges.each_user(|mut row, item_ids| {
            let Some(part) = borders.users.part(row.user_id) else { return };
            let mut history = Shuffled::new(&row, item_ids, self.seed);
            let ranked = if history.len() < 2 { 0 } else { fold_out.of(history.len()).max(1) };
            history.put(ranked, &mut row, part);
            history.put(history.len(), &mut row, Split::FoldIn);
        });
        Ok(())
    }
}

impl Users {
    /// The shares of users that are test and validation users.
    fn shares(&self) -> Result<(Ratio, Ratio)> {
        Ok((Ratio::new("split.test", self.test)?, Ratio::new("split.validation", self.validation)?))
    }
}

//! Users are held out as by [`users`](super::users), and are known by less: their histories to fold in are cut.
//!
//! A held-out user with `m` interactions in the fold-in keeps ceil(share * m) of them, or at most `items`: the next ones after the fold-out in the order of
//! [`order`](crate::order). The others are in no part, and are ranked as any item that the user does not have. So the held-out users and what they are
//! ranked on depend on neither `share` nor `items`, nor does what training sees; and what a smaller history has, a longer one has too.
//!
//! Paper ITEM cuts to 10 %, 20 % and 50 % as well, in its Table 9, but histories of users whom training sees: that is `train_share` of a dataset.

use super::{Borders, Count, DrawnUsers, First, Ratio, SplitKind, UserIds, Users};
use crate::{Error, Result, edges::Edges};
use serde::{Deserialize, Serialize};

/// `cold-start` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ColdStart {
    /// The share of a held-out user's history to fold in that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// How many interactions of a held-out user's history to fold in are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
    /// The share of users that are test users.
    pub test: f64,
    /// The share of users that are validation users.
    pub validation: f64,
    /// The share of a held-out user's interactions that is ranked.
    pub fold_out: f64,
    /// The seed.
    pub seed: u64,
}

impl Default for ColdStart {
    fn default() -> Self {
        let Users { test, validation, fold_out, seed } = Users::default();
        Self { share: None, items: None, test, validation, fold_out, seed }
    }
}

impl SplitKind for ColdStart {
    fn has_validation(&self) -> bool {
        self.users().has_validation()
    }

    fn holds_users_out(&self) -> bool {
        true
    }

    fn seed(&self) -> Option<u64> {
        Some(self.seed)
    }

    fn check(&self) -> Result<()> {
        self.count()?;
        self.users().check()
    }

    fn draw_users(&self, ids: &mut dyn UserIds) -> Result<DrawnUsers> {
        self.users().draw_users(ids)
    }

    fn hold_out(&self, edges: &mut Edges, borders: &Borders) -> Result<()> {
        self.users().hold_out(edges, borders)
    }

    fn cut(&self) -> Result<Option<First>> {
        Ok(Some(First { key: [self.seed, 0], count: self.count()? }))
    }
}

impl ColdStart {
    /// The split of whole histories.
    fn users(&self) -> Users {
        let Self { test, validation, fold_out, seed, .. } = *self;
        Users { test, validation, fold_out, seed }
    }

    /// How much of a history is kept.
    fn count(&self) -> Result<Count> {
        let nothing = |key, value: &str| Err(Error::setting(key, format!("{value} leaves nothing to know a user by (expected more)")));
        match (self.share, self.items) {
            (Some(share), None) => match Ratio::up_to_one("split.share", share)? {
                ratio if ratio.is_zero() => nothing("split.share", "0"),
                ratio => Ok(Count::Share(ratio)),
            },
            (None, Some(0)) => nothing("split.items", "0"),
            (None, Some(items)) => Ok(Count::Items(items)),
            (None, None) => {
                Err(Error::setting("split", "what is left of histories is missing (expected `share`, such as 0.1, or `items`)"))
            }
            (Some(_), Some(_)) => Err(Error::setting("split.items", "`share` is given too (expected one of the two)")),
        }
    }
}

//! A share of each user's interactions, at random.
//!
//! A user with `n` interactions gives floor(test * n) of them, the first in the order of [`order`](crate::order), and so keeps at least
//! one. Validation comes out of the rest by the rule of [`validation`](super::validation).

use super::{Borders, SplitKind, ratio::Ratio, shuffled::Shuffled, validation};
use crate::{Error, Result, edges::Edges};
use dataset::Split;
use serde::{Deserialize, Serialize};

/// `random` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// The share of each user's interactions that is test.
    pub test: f64,
    /// The share of each user's train that is validation.
    #[serde(default)]
    pub validation: f64,
    /// The seed.
    #[serde(default)]
    pub seed: u64,
}

impl SplitKind for Random {
    fn has_validation(&self) -> bool {
        self.validation > 0.0
    }

    fn seed(&self) -> Option<u64> {
        Some(self.seed)
    }

    fn check(&self) -> Result<()> {
        check_shares(self.test, self.validation)
    }

    fn hold_out(&self, edges: &mut Edges, _: &Borders) -> Result<()> {
        let (test, validation) = (Ratio::new("split.test", self.test)?, Ratio::new("split.validation", self.validation)?);
        edges.each_user(|mut row, item_ids| {
            let mut train = Shuffled::new(&row, item_ids, self.seed);
            train.put(test.of(train.len()), &mut row, Split::Test);
            train.put(validation::count(validation, train.len()), &mut row, Split::Validation);
        });
        Ok(())
    }
}

/// Both are shares, and test is not nothing. Validation is a share of what test leaves, so no two shares are all there is.
fn check_shares(test: f64, validation: f64) -> Result<()> {
    if Ratio::new("split.test", test)?.is_zero() {
        return Err(Error::setting("split.test", "0 leaves nothing to test on (expected a number between 0 and 1)"));
    }
    Ratio::new("split.validation", validation).map(|_| ())
}

//! The source comes split, and is used exactly so. Validation may be taken out of its train.

use super::{Borders, SplitKind, ratio::Ratio, shuffled::Shuffled, validation};
use crate::{Result, edges::Edges};
use dataset::Split;
use serde::{Deserialize, Serialize};

/// `given` in a sweep file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Given {
    /// The share of each user's train that is validation, by the rule of all splits; only where the source brings no validation.
    pub validation: f64,
    /// The seed of validation.
    pub seed: u64,
}

impl SplitKind for Given {
    fn takes_given_parts(&self) -> bool {
        true
    }

    fn has_validation(&self) -> bool {
        self.validation > 0.0
    }

    fn seed(&self) -> Option<u64> {
        self.has_validation().then_some(self.seed)
    }

    fn check(&self) -> Result<()> {
        Ratio::new("split.validation", self.validation).map(|_| ())
    }

    fn hold_out(&self, edges: &mut Edges, _: &Borders) -> Result<()> {
        let share = Ratio::new("split.validation", self.validation)?;
        if share.is_zero() {
            return Ok(());
        }
        edges.each_user(|mut row, item_ids| {
            let mut train = Shuffled::new(&row, item_ids, self.seed);
            train.put(validation::count(share, train.len()), &mut row, Split::Validation);
        });
        Ok(())
    }
}

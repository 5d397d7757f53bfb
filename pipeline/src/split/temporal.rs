//! One moment for all users: what happens from then on is test.
//!
//! The moment is the earliest at which at most floor(test * n) of the `n` interactions are test. Interactions at the same time stay
//! together: when several stand at the border they are train. Validation is the last share of train by the same rule, so nothing that
//! a model learns from lies after what it is tuned on. Users that first appear after the moment have no train interactions; they stay in
//! the catalogue and in test, and the counts tell how many they are.

use super::{Borders, SplitKind, Times, random::check_shares, ratio::Ratio};
use crate::{Result, edges::Edges};
use serde::{Deserialize, Serialize};

/// `temporal` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Temporal {
    /// The share of all interactions that is test: the last ones.
    pub test: f64,
    /// The share of train that is validation: its last ones.
    #[serde(default)]
    pub validation: f64,
}

impl SplitKind for Temporal {
    fn needs_timestamps(&self) -> bool {
        true
    }

    fn has_validation(&self) -> bool {
        self.validation > 0.0
    }

    fn check(&self) -> Result<()> {
        check_shares(self.test, self.validation)
    }

    fn borders(&self, times: Option<&mut dyn Times>) -> Result<Borders> {
        let times = times.ok_or_else(super::no_timestamps)?;
        let shares = [Ratio::new("split.test", self.test)?, Ratio::new("split.validation", self.validation)?];
        Borders::new(times, shares)
    }

    fn hold_out(&self, edges: &mut Edges, borders: &Borders) -> Result<()> {
        let times = edges.times.as_ref().ok_or_else(super::no_timestamps)?;
        edges.parts.iter_mut().zip(times).for_each(|(part, &time)| *part = borders.part(time));
        Ok(())
    }
}

//! One moment for all users: what happens from then on is test.
//!
//! The moment is given (`test: 2024-05-01`), or the earliest at which at most floor(test * n) of the `n` interactions are test. Interactions at the same time stay
//! together: when several stand at the border they are train. Validation is the last share of train by the same rule, so nothing that
//! a model learns from lies after what it is tuned on. Users that first appear after the moment have no train interactions; they stay in
//! the catalogue and in test, and the counts tell how many they are.

use super::{Borders, Last, SplitKind, Times};
use crate::{Error, Result, edges::Edges};
use serde::{Deserialize, Serialize};

/// `temporal` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Temporal {
    /// The share of all interactions that is test, the last ones; or the date from which on they are.
    pub test: Last,
    /// The share of train that is validation, its last ones; or the date from which on they are.
    #[serde(default)]
    pub validation: Last,
}

impl SplitKind for Temporal {
    fn needs_timestamps(&self) -> bool {
        true
    }

    fn has_validation(&self) -> bool {
        !self.validation.is_nothing()
    }

    fn check(&self) -> Result<()> {
        if self.test.is_nothing() {
            return Err(Error::setting("split.test", "0 leaves nothing to test on (expected a number between 0 and 1, or a date)"));
        }
        self.test.check("split.test")?;
        self.validation.check("split.validation")
    }

    fn borders(&self, times: Option<&mut dyn Times>) -> Result<Borders> {
        let times = times.ok_or_else(super::no_timestamps)?;
        Borders::new(times, &self.test, &self.validation)
    }

    fn hold_out(&self, edges: &mut Edges, borders: &Borders) -> Result<()> {
        let times = edges.times.as_ref().ok_or_else(super::no_timestamps)?;
        edges.parts.iter_mut().zip(times).for_each(|(part, &time)| *part = borders.part(time));
        Ok(())
    }
}

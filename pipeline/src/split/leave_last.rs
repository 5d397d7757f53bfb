//! Each user's last interaction.
//!
//! A user with at least two interactions gives the last to test; with at least three, and if asked, the one before it to validation.
//! Interactions of a user at the same time are in the order of [`history`](crate::history).

use super::{Borders, SplitKind};
use crate::{Result, edges::Edges};
use dataset::Split;
use serde::{Deserialize, Serialize};

/// `leave-last` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaveLast {
    /// Whether the interaction before the last one is validation.
    #[serde(default)]
    pub validation: bool,
}

impl SplitKind for LeaveLast {
    fn needs_timestamps(&self) -> bool {
        true
    }

    fn has_validation(&self) -> bool {
        self.validation
    }

    fn validation_key(&self) -> &'static str {
        "validation: true"
    }

    fn hold_out(&self, edges: &mut Edges, _: &Borders) -> Result<()> {
        if edges.times.is_none() {
            return Err(super::no_timestamps());
        }
        edges.each_user(|row, item_ids| {
            let places = row.history.by_time(row.user_id, row.items, row.times.expect("checked above"), item_ids);
            if let [_, .., last] = *places {
                row.parts[last] = Split::Test;
            }
            if let ([_, .., before, _], true) = (places, self.validation) {
                row.parts[*before] = Split::Validation;
            }
        });
        Ok(())
    }
}

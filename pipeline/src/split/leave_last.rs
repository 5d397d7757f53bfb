//! Each user's last interaction.
//!
//! A user with at least two interactions gives the last to test; with at least three, and if asked, the one before it to validation.
//! Interactions of a user at the same time are in the order of their items.

use crate::{Result, edges::Edges};
use dataset::Split;
use serde::{Deserialize, Serialize};

/// `leave-last` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaveLast {
    /// Whether the interaction before the last one is validation.
    #[serde(default)]
    pub validation: bool,
}

impl LeaveLast {
    pub(crate) fn hold_out(&self, edges: &mut Edges) -> Result<()> {
        let times = edges.times.take().ok_or_else(super::no_timestamps)?;
        for row in edges.rows() {
            let mut places: Vec<usize> = row.collect();
            places.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
            if let [_, .., last] = places[..] {
                edges.put(&[last], Split::Test);
            }
            if let ([_, .., before, _], true) = (&places[..], self.validation) {
                edges.put(&[*before], Split::Validation);
            }
        }
        edges.times = Some(times);
        Ok(())
    }
}

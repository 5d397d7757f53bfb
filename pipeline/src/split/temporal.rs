//! One moment for all users: what happens from then on is test.
//!
//! The moment is the earliest at which at most floor(test * n) of the `n` interactions are test. Interactions at the same time stay
//! together: when several stand at the border they are train. Validation is the last share of train by the same rule, so nothing that
//! a model learns from lies after what it is tuned on. Users that first appear after the moment have no train interactions; they stay in
//! the catalogue and in test, and the counts tell how many they are.

use super::{SplitKind, random::check_shares, ratio::Ratio};
use crate::{Error, Result, edges::Edges};
use dataset::Split;
use rayon::slice::ParallelSliceMut;
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

    fn hold_out(&self, edges: &mut Edges) -> Result<()> {
        hold_out_last(edges, Ratio::new("split.test", self.test)?, Split::Test)?;
        hold_out_last(edges, Ratio::new("split.validation", self.validation)?, Split::Validation)
    }
}

/// Moves the last share of train to a part.
fn hold_out_last(edges: &mut Edges, share: Ratio, part: Split) -> Result<()> {
    let times = edges.times.as_ref().ok_or_else(super::no_timestamps)?;
    let train = edges.parts.iter().zip(times).filter(|(part, _)| **part == Split::Train);
    let mut sorted: Vec<f64> = train.map(|(_, &time)| time).collect();
    sorted.par_sort_unstable_by(f64::total_cmp);
    let count = share.of(sorted.len());
    let border = sorted.len() - count;
    // All at the border's time are train when one of them has to be.
    let last_train = border.checked_sub(1).map(|place| sorted[place]);
    let later = |time: f64| last_train.is_none_or(|last| time > last);
    if count > 0 && !sorted.last().copied().is_some_and(later) {
        let reason =
            format!("the last {count} of {} interactions have the time of those before them, so no moment parts them", sorted.len());
        return Err(Error::setting("split", reason));
    }
    for (own, _) in edges.parts.iter_mut().zip(times).filter(|(own, time)| **own == Split::Train && later(**time)) {
        *own = part;
    }
    Ok(())
}

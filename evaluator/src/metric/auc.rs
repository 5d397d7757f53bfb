//! Area under the ROC curve: the share of (held-out, other) pairs of a user's candidates in the right order, ties counting half.
//!
//! It looks at all candidates, and comes with the ranking. Hanley and McNeil, Radiology 1982.

use super::{Measure, MetricKind};

/// `auc` in a sweep file.
pub(super) struct Auc;

impl MetricKind for Auc {
    fn name(&self) -> &'static str {
        "auc"
    }

    fn has_cutoff(&self) -> bool {
        false
    }

    fn measure(&self) -> Measure {
        Measure::Ranks(|ranked, _cutoff, _recall| ranked.auc)
    }
}

//! Area under the ROC curve: the share of (held-out, other) pairs of a user's candidates in the right order, ties counting half.
//!
//! It looks at all candidates, and comes with the ranking. Hanley and McNeil, Radiology 1982.

use super::MetricKind;
use crate::{metric::denominator::Recall, rank::Ranked};

/// `auc` in a sweep file.
pub(super) struct Auc;

impl MetricKind for Auc {
    fn name(&self) -> &'static str {
        "auc"
    }

    fn has_cutoff(&self) -> bool {
        false
    }

    fn value(&self, ranked: &Ranked<'_>, _cutoff: u32, _recall: Recall) -> f64 {
        ranked.auc
    }
}

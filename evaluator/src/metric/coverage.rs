//! Item coverage: the share of the catalogue that is in the list of at least one user.
//!
//! ```text
//! Coverage@K = |union over users of L_u| / |I|
//! ```
//! `L_u` are the first `K` candidates of the user, `I` all items of the dataset. It is one value of all ranked users' lists, and grows with their
//! number. Ge, Delgado-Battenfeld and Jannach, RecSys 2010, doi:10.1145/1864708.1864761.

use super::{Measure, MetricKind};

/// `coverage` in a sweep file.
pub(super) struct Coverage;

impl MetricKind for Coverage {
    fn name(&self) -> &'static str {
        "coverage"
    }

    fn measure(&self) -> Measure {
        Measure::Counts(coverage)
    }
}

/// From how often each item of the catalogue was listed.
fn coverage(counts: &[u32]) -> f64 {
    counts.iter().filter(|&&count| count > 0).count() as f64 / counts.len().max(1) as f64
}

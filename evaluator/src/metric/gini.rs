//! Gini index: how unevenly the places of all users' lists are shared out among the items of the catalogue.
//!
//! ```text
//! Gini@K = sum over i of (2 i - n - 1) c_(i) / (n sum of c)
//! ```
//! `c_(1) <= ... <= c_(n)` is how often each of all `n` items stands among the first `K` candidates of a user, items that stand in no list included.
//! 0: all are listed equally often; `1 - 1/n`: one item has all places. It is one value of all ranked users' lists. 0 where nothing is listed.
//! Fleder and Hosanagar, Management Science 2009, doi:10.1287/mnsc.1080.0974.

use super::{Direction, Measure, MetricKind};

/// `gini` in a sweep file.
pub(super) struct Gini;

impl MetricKind for Gini {
    fn name(&self) -> &'static str {
        "gini"
    }

    fn direction(&self) -> Direction {
        Direction::LowerIsBetter
    }

    fn measure(&self) -> Measure {
        Measure::Counts(gini)
    }
}

/// From how often each item of the catalogue was listed.
fn gini(counts: &[u32]) -> f64 {
    let mut ascending = counts.to_vec();
    ascending.sort_unstable();
    let n = counts.len() as i128;
    let weighted: i128 = (1..).zip(&ascending).map(|(i, &count)| (2 * i - n - 1) * i128::from(count)).sum();
    let total: i128 = counts.iter().map(|&count| i128::from(count)).sum();
    if total == 0 { 0.0 } else { weighted as f64 / (n * total) as f64 }
}

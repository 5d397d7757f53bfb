//! Average recommendation popularity: how many users have an item of the list in train, in the mean over the list.
//!
//! ```text
//! AveragePopularity@K = 1 / |L_u|  sum over i in L_u of n_i
//! ```
//! `L_u` are the user's first `K` candidates, fewer where there are no more; `n_i` is the number of users who have the item in train, or in the
//! history that is folded in. 0 where nothing is listed. Yin et al., VLDB 2012, doi:10.14778/2311906.2311916.

use super::{Direction, Measure, MetricKind, list::List};

/// `average-popularity` in a sweep file.
pub(super) struct AveragePopularity;

impl MetricKind for AveragePopularity {
    fn name(&self) -> &'static str {
        "average-popularity"
    }

    fn direction(&self) -> Direction {
        Direction::Neither
    }

    fn measure(&self) -> Measure {
        Measure::List(average_popularity)
    }
}

fn average_popularity(list: &List<'_>) -> f64 {
    list.popularity.mean(list.items)
}

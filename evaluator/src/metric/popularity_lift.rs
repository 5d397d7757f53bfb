//! Popularity lift: how much more popular the items of a list are than those that the user has.
//!
//! ```text
//! PopularityLift@K = (q - p) / p     q = mean of n_i over L_u     p = mean of n_i over the user's own items
//! ```
//! `L_u` are the user's first `K` candidates, fewer where there are no more; `n_i` is the number of users who have the item in train, or in the
//! history that is folded in, and the user's own items are of these. 0: as popular; 1: twice as popular; -1 where nothing is listed; 0 of a user
//! without items. The papers take `q` and `p` of a group of users, here each user is its own: Abdollahpouri et al., RecSys 2020,
//! doi:10.1145/3383313.3418487; by user: Lesota et al., RecSys 2021, doi:10.1145/3460231.3478843.

use super::{Direction, Measure, MetricKind, list::List};

/// `popularity-lift` in a sweep file.
pub(super) struct PopularityLift;

impl MetricKind for PopularityLift {
    fn name(&self) -> &'static str {
        "popularity-lift"
    }

    fn direction(&self) -> Direction {
        Direction::Neither
    }

    fn measure(&self) -> Measure {
        Measure::List(popularity_lift)
    }
}

fn popularity_lift(list: &List<'_>) -> f64 {
    let [listed, own] = [list.items, list.history].map(|items| list.popularity.mean(items));
    // Whoever has an item is one of its users: only without items this is zero.
    if own == 0.0 { 0.0 } else { (listed - own) / own }
}

//! Novelty: the mean self-information of the items of a list, in bits.
//!
//! ```text
//! Novelty@K = 1 / |L_u|  sum over i in L_u of log2(U / max(n_i, 1))
//! ```
//! `L_u` are the user's first `K` candidates, fewer where there are no more; `n_i` of the `U` users with train interactions have the item in train
//! (histories that are folded in count as train does). An item that nobody has counts as if one user had it, so that values are at most `log2 U`.
//! 0 where nothing is listed. Zhou et al., PNAS 2010, doi:10.1073/pnas.1000488107.

use super::{
    Direction, Measure, MetricKind,
    list::{List, mean},
};

/// `novelty` in a sweep file.
pub(super) struct Novelty;

impl MetricKind for Novelty {
    fn name(&self) -> &'static str {
        "novelty"
    }

    fn direction(&self) -> Direction {
        Direction::Neither
    }

    fn measure(&self) -> Measure {
        Measure::List(novelty)
    }
}

fn novelty(list: &List<'_>) -> f64 {
    let users = list.popularity.users.max(1) as f64;
    mean(list.items, |item| (users / f64::from(list.popularity.counts[item as usize].max(1))).log2())
}

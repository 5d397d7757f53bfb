//! User popularity deviation: how far the shares of popular, middling and unpopular items in a list are from those among the user's own items.
//! A list whose shares are the user's is calibrated by popularity.
//!
//! ```text
//! UPD@K = JSD(P, Q) = 1/2 sum over g of P_g log2(P_g / M_g) + 1/2 sum over g of Q_g log2(Q_g / M_g)     M = (P + Q) / 2
//! ```
//! `P` are the shares of the head, the middle and the tail among the items that the user has in train, or in the history that is folded in; `Q` those
//! among the user's first `K` candidates. The head are the fewest most popular items that have a fifth of all these interactions, the tail the fewest
//! least popular ones. From 0 (calibrated) to 1 (nothing in common), which it is too where nothing is listed; 0 of a user without items.
//! Abdollahpouri et al., UMAP 2021, doi:10.1145/3450613.3456821.

use super::{
    Direction, Measure, MetricKind,
    list::{List, mean},
    popularity::Band,
};

/// `popularity-deviation` in a sweep file.
pub(super) struct PopularityDeviation;

impl MetricKind for PopularityDeviation {
    fn name(&self) -> &'static str {
        "popularity-deviation"
    }

    fn direction(&self) -> Direction {
        Direction::LowerIsBetter
    }

    fn measure(&self) -> Measure {
        Measure::List(popularity_deviation)
    }
}

fn popularity_deviation(list: &List<'_>) -> f64 {
    match (list.history, list.items) {
        ([], _) => 0.0,
        (_, []) => 1.0,
        (own, listed) => jensen_shannon(shares(list, own), shares(list, listed)),
    }
}

/// The shares of head, middle and tail among items.
fn shares(list: &List<'_>, items: &[u32]) -> [f64; 3] {
    [Band::Head, Band::Middle, Band::Tail].map(|band| mean(items, |item| f64::from(u8::from(list.popularity.bands[item as usize] == band))))
}

/// The Jensen-Shannon divergence of two distributions, in bits.
fn jensen_shannon(p: [f64; 3], q: [f64; 3]) -> f64 {
    let part = |share: f64, other: f64| if share > 0.0 { share * (2.0 * share / (share + other)).log2() } else { 0.0 };
    let sum = p.iter().zip(&q).fold(0.0, |sum, (&p, &q)| sum + part(p, q) + part(q, p));
    (sum / 2.0).max(0.0) // rounding may leave less than nothing of equal shares
}

//! Intra-list diversity: how unlike the items of a list are, in the mean over all pairs of them.
//!
//! ```text
//! Diversity@K = 1 - 2 / (k (k - 1))  sum over pairs i < j of L_u of cos(x_i, x_j)     k = |L_u|
//! ```
//! `L_u` are the user's first `K` candidates, fewer where there are no more. An item's vector `x_i` has a place for each user, 1 where the user has
//! the item in train or in the history that is folded in: so all models are measured alike, whatever vectors of their own they have. An item that
//! nobody has is unlike all others. 0 where fewer than two items are listed. Ziegler et al., WWW 2005, doi:10.1145/1060745.1060754; as a distance:
//! Vargas and Castells, RecSys 2011, doi:10.1145/2043932.2043955.

use super::{Direction, Measure, MetricKind, item_vectors::ItemVectors};

/// `diversity` in a sweep file.
pub(super) struct Diversity;

impl MetricKind for Diversity {
    fn name(&self) -> &'static str {
        "diversity"
    }

    fn direction(&self) -> Direction {
        Direction::Neither
    }

    fn measure(&self) -> Measure {
        Measure::Vectors(diversity)
    }
}

/// From a list, with working space.
fn diversity(items: &[u32], vectors: &ItemVectors, sums: &mut Vec<f64>) -> f64 {
    let pairs = items.len() * items.len().saturating_sub(1) / 2;
    if pairs == 0 { 0.0 } else { 1.0 - vectors.alike(items, sums) / pairs as f64 }
}

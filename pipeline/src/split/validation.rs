//! Validation out of train: the one rule for all random kinds.
//!
//! A user with `n` train interactions, `n` at least 2, gives max(floor(validation * n), 1) of them; a user with one keeps it. Which ones
//! is the order of [`order`](super::order). With 0.1 it is the rule of Yang et al., KDD 2025.

use super::{order, ratio::Ratio};
use crate::{Result, edges::Edges};
use dataset::Split;

/// Moves a share of each user's train interactions to validation.
pub(crate) fn hold_out(edges: &mut Edges, share: f64, seed: u64) -> Result<()> {
    let share = Ratio::new("split.validation", share)?;
    if share.is_zero() {
        return Ok(());
    }
    for row in edges.rows() {
        let places = order::shuffled(edges, row, seed);
        edges.put(&places[..count(share, places.len())], Split::Validation);
    }
    Ok(())
}

fn count(share: Ratio, train: usize) -> usize {
    if train < 2 { 0 } else { share.of(train).max(1) }
}

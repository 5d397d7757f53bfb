//! The k-core by itself, for `benches/`, which times it. Nothing else uses this.

use crate::{
    KCoreBounds,
    k_core::{Degrees, peel},
};
use dataset::Interactions;

/// Peels interactions with this many items; the number of rounds.
pub fn k_core(rows: &Interactions, items: usize, bounds: KCoreBounds) -> usize {
    peel(rows, &mut Degrees::of(rows, items), bounds)
}

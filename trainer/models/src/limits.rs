//! How large the vectors of a model may be, and how many its layers.

use embeddings::Init;

/// Longer vectors are taken for a slip: the tables would not fit anywhere.
const LONGEST_VECTOR: u32 = 65_536;
/// More propagations are taken for a slip: all vectors would be the same.
const MOST_LAYERS: u32 = 1_000;

/// Whether tables can have rows of this length, and start so.
///
/// # Errors
/// A sentence that names the key.
pub(super) fn check_tables(dim: u32, init: &Init) -> Result<(), String> {
    check_dim(dim)?;
    init.check()
}

/// Whether vectors can have this length.
///
/// # Errors
/// A sentence that names the key.
pub(super) fn check_dim(dim: u32) -> Result<(), String> {
    match (1..=LONGEST_VECTOR).contains(&dim) {
        true => Ok(()),
        false => Err(format!("dim is {dim}, expected 1 to {LONGEST_VECTOR}")),
    }
}

/// Whether vectors can be propagated so often.
///
/// # Errors
/// A sentence that names the key.
pub(super) fn check_layers(layers: u32) -> Result<(), String> {
    match layers > MOST_LAYERS {
        true => Err(format!("layers is {layers}, expected at most {MOST_LAYERS}")),
        false => Ok(()),
    }
}

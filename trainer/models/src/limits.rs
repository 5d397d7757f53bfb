//! How large the vectors of a model may be, how many and how wide its layers, and what share of its numbers is dropped.

use embeddings::Init;

/// Longer vectors are taken for a slip: the tables would not fit anywhere.
const LONGEST_VECTOR: u32 = 65_536;
/// More propagations are taken for a slip: all vectors would be the same.
const MOST_LAYERS: u32 = 1_000;
/// A wider layer is taken for a slip.
const WIDEST_LAYER: u32 = 16_384;
/// More hidden layers are taken for a slip.
pub(super) const MOST_HIDDEN: usize = 64;

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

/// Whether vectors can have `width` numbers, those of layers of `dim` side by side.
///
/// # Errors
/// A sentence that names the keys.
pub(super) fn check_width(dim: u32, layers: u32, width: u64) -> Result<(), String> {
    check_dim(u32::try_from(width).unwrap_or(u32::MAX))
        .map_err(|_| format!("dim is {dim} and layers {layers}: vectors would have {width} numbers"))
}

/// Whether a layer can have so many numbers.
///
/// # Errors
/// A sentence that names the key.
pub(super) fn check_layer(key: &str, width: u32) -> Result<(), String> {
    match (1..=WIDEST_LAYER).contains(&width) {
        true => Ok(()),
        false => Err(format!("{key} is {width}, expected 1 to {WIDEST_LAYER}")),
    }
}

/// Whether each of the `hidden` layers can have so many numbers.
///
/// # Errors
/// A sentence that names the first that cannot.
pub(super) fn check_hidden(hidden: &[u32]) -> Result<(), String> {
    match hidden.iter().find(|width| !(1..=WIDEST_LAYER).contains(*width)) {
        Some(width) => Err(format!("hidden has a layer of {width}, expected 1 to {WIDEST_LAYER}")),
        None => Ok(()),
    }
}

/// Whether a share of what is dropped is from 0 to below 1.
///
/// # Errors
/// A sentence that names the key.
pub(super) fn check_share(key: &str, share: f64) -> Result<(), String> {
    match (0.0..1.0).contains(&share) {
        true => Ok(()),
        false => Err(format!("{key} is {share}, expected a number from 0 to below 1")),
    }
}

//! What models of sequences share: histories cut into windows, and one pass over a window, which gives the vectors of all prefixes in it.
//!
//! A history `i_0 ... i_(n-1)` has the targets `i_1 ... i_(n-1)`, each predicted from what stands before it. It is cut into windows of `max_length`
//! targets, counted from its end; a target sees the items from the one before its window's first target on. Positions go from 0 on within a window. A user's vector
//! is the state after the last `max_length` items: of train before validation, of train and validation before test.
//!
//! An epoch takes windows in random order, and a window's targets one after the other; where a batch ends within a window, the next one begins with
//! the rest of its targets. What looks at users' vectors between steps, as some pools and quantiles do, sees those of whole train histories.

mod encoder;
mod formula;
mod targets;
#[cfg(test)]
pub(super) mod testing;

pub(super) use encoder::{Dropout, Model, Sequences};
pub(super) use formula::SequenceFormula;
pub use targets::Targets;
pub use targets::TargetsOf;

use super::{Sizes, TensorSize, limits::check_dim};
use dataset::{Dataset, Histories, Split};

/// Longer windows are taken for a slip.
const LONGEST_WINDOW: u32 = 65_536;

/// The sizes of a model of sequences.
#[derive(Clone, Copy)]
pub(super) struct SequenceSizes {
    /// Numbers of a vector.
    pub(super) dim: u32,
    /// Items that a prediction sees, at most.
    pub(super) max_length: u32,
    /// Heads of the attention of a layer; 0 without attention.
    pub(super) heads: u32,
    /// Which items of a train history are predicted.
    pub(super) targets: TargetsOf,
}

/// `max_length` where nothing is said.
pub(super) fn fifty() -> u32 {
    50
}

/// Whether a model can have vectors and windows of these lengths.
///
/// # Errors
/// A sentence that names the key.
pub(super) fn check(dim: u32, max_length: u32) -> Result<(), String> {
    check_dim(dim)?;
    match (1..=LONGEST_WINDOW).contains(&max_length) {
        true => Ok(()),
        false => Err(format!("max_length is {max_length}, expected 1 to {LONGEST_WINDOW}")),
    }
}

/// Each user's history before validation and before test; `None` for a dataset that does not know the order. The history of a user whom training does not see is what is
/// to fold in.
fn histories(dataset: &Dataset) -> Option<[Histories; 2]> {
    if dataset.fold_in.is_some() {
        let known = dataset.histories(&[Split::Train, Split::FoldIn])?;
        return Some([known.clone(), known]);
    }
    Some([dataset.histories(&[Split::Train])?, dataset.histories(&[Split::Train, Split::Validation])?])
}

/// The first item of the window in which the target at `place` of a history of `length` items stands.
fn first_of_window(length: usize, place: usize, max_length: usize) -> usize {
    let behind = (length - 1 - place) / max_length;
    (length - 1).saturating_sub((behind + 1) * max_length)
}

/// Bytes of histories, targets, and the passes of a batch, or those in which all threads encode users, whose tokens leave so many numbers each; and of so many weights,
/// with their moments, their variables, and a gradient of each pass.
pub(super) fn memory(sizes: Sizes, SequenceSizes { dim, max_length, targets, .. }: SequenceSizes, of_token: u64, weights: u64) -> u64 {
    let Sizes { users, items, train, batch, .. } = sizes;
    let (dim, max_length) = (u64::from(dim), u64::from(max_length));
    let of_histories = 3 * train * 4 + 4 * (users + 1) * 8;
    let of_threads = rayon::current_num_threads() as u64 * (encoder::TOKENS as u64).max(max_length);
    let most = tokens(sizes, max_length, targets).max(of_threads.min(users.saturating_mul(max_length)));
    let of_tokens = most.saturating_mul(of_token).saturating_mul(4);
    let passes = tokens(sizes, max_length, targets).div_ceil(encoder::TOKENS as u64);
    let of_weights = weights.saturating_mul(4 * (5 + passes + 3 * passes.min(rayon::current_num_threads() as u64)));
    of_tokens.saturating_add(of_weights).saturating_add(of_histories + (2 * users + 3 * items + 2 * batch) * dim * 4)
}

/// Numbers of weights of these shapes.
pub(super) fn numbers(weights: &[(String, [usize; 2])]) -> u64 {
    weights.iter().map(|(_, [rows, dim])| (rows * dim) as u64).sum()
}

/// Bytes of the passes of a batch in candle's operations, whose tokens leave so many numbers each, and of the items' gradients from its passes.
pub(super) fn formula_memory(sizes: Sizes, SequenceSizes { dim, max_length, targets, .. }: SequenceSizes, of_token: u64) -> u64 {
    let of_tokens = tokens(sizes, max_length.into(), targets).saturating_mul(of_token).saturating_mul(4);
    of_tokens.saturating_add(2 * (sizes.items + sizes.batch) * u64::from(dim) * 4)
}

/// The states of a batch, or the attention of so many heads in a pass.
pub(super) fn largest_tensor(sizes: Sizes, SequenceSizes { dim, max_length, heads, targets }: SequenceSizes) -> TensorSize {
    let [dim, max_length, heads] = [dim, max_length, heads].map(u64::from);
    let states = TensorSize { numbers: tokens(sizes, max_length, targets).saturating_mul(dim), what: "the states of a batch" };
    let of_pass = (encoder::TOKENS as u64).max(max_length);
    states.max(TensorSize { numbers: heads * of_pass * max_length, what: "the attention of a pass" })
}

/// Tokens of a batch, at most.
fn tokens(Sizes { users, train, batch, .. }: Sizes, max_length: u64, targets: TargetsOf) -> u64 {
    match targets {
        // A window that a batch begins within comes whole; windows of one pass are as long as its longest.
        TargetsOf::EveryPosition => (batch.min(train) + max_length) * 5 / 4,
        TargetsOf::Last => batch.min(users) * max_length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_counted_from_the_end() {
        // 8 items, windows of 3 targets: 5 6 7 from item 4 on, 2 3 4 from item 1 on, 1 from item 0 on.
        let first: Vec<usize> = (1..8).map(|place| first_of_window(8, place, 3)).collect();
        assert_eq!(first, [0, 1, 1, 1, 4, 4, 4]);
        assert!((1..8).all(|place| first_of_window(8, place, 7) == 0 && first_of_window(8, place, 100) == 0));
        assert!((1..8).all(|place| first_of_window(8, place, 1) == place - 1));
    }
}

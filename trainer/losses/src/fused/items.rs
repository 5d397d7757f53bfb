//! The items of a list, without its masked places.

use crate::primitives::MASKED_BELOW;

/// Whether a score stands for an item; one that is no number does, so that it is not lost.
pub(crate) fn is_item(score: f32) -> bool {
    score >= MASKED_BELOW as f32 || score.is_nan()
}

/// The loss of a list, whose scores become derivatives, by a function of the items' scores, positives first, and of the number of these.
///
/// A list without positives costs nothing and moves nothing, whatever the function; `nothing` is its loss.
pub(crate) fn of_items(
    positives: &mut [f32],
    negatives: &mut [f32],
    nothing: f32,
    loss: impl FnOnce(&[f64], usize) -> (f64, Vec<f64>),
) -> f32 {
    let items = |scores: &[f32]| scores.iter().copied().filter(|&score| is_item(score)).map(f64::from).collect::<Vec<_>>();
    let (first, rest) = (items(positives), items(negatives));
    if first.is_empty() {
        positives.fill(0.0);
        negatives.fill(0.0);
        return nothing;
    }
    let (loss, derivatives) = loss(&[&first[..], &rest].concat(), first.len());
    let mut derivatives = derivatives.into_iter();
    for score in positives.iter_mut().chain(negatives) {
        *score = if is_item(*score) { derivatives.next().expect("each item has one") as f32 } else { 0.0 };
    }
    loss as f32
}

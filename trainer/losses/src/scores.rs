//! What the training loop hands to a loss.

use candle_core::{Result, Tensor, bail};

/// What a loss sees of a batch: scores, and what belongs to them.
#[derive(Clone, Copy, Debug)]
pub struct Scores<'a> {
    /// `[B]`; `[B, P]` for losses whose rows are [lists](super::LossKind::list), where a row may have fewer and the rest is masked.
    pub positives: &'a Tensor,
    /// `[B, N]`
    pub negatives: &'a Tensor,
    /// Items of the catalogue.
    pub items: usize,
    /// What a loss may ask for beside them.
    pub given: Given<'a>,
}

/// What some losses look at beside the scores; a loss says what it needs, and the training loop gives that alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'a> {
    /// Which [`Phase`](super::Phase) of a step it is.
    pub phase: usize,
    /// `[B, N]`: what each negative counts, from samplers that weigh; in place of 1 in sums and of `1 / N` in means.
    pub weights: Option<&'a Tensor>,
    /// `[B]`, the quantile of each row's user, for losses with a [`QuantileSchedule`](super::QuantileSchedule).
    pub quantiles: Option<&'a Tensor>,
    /// Log-probabilities of the draws, for losses that [need them](super::LossKind::needs_log_probabilities).
    pub log_probabilities: Option<Pair<'a>>,
    /// Places among all items, counted from 1, for losses that [need them](super::LossKind::needs_ranks).
    pub ranks: Option<Pair<'a>>,
    /// How the row's items stand among the user's other train items, for losses that [need it](super::LossKind::needs_others).
    pub others: Option<Others<'a>>,
    /// `[B]`, the positive's rank as the sampler `warp` estimates it.
    pub estimated_ranks: Option<&'a Tensor>,
    /// The loss's own numbers, in the order of its [columns](super::LossKind::columns): `[B]` of the rows' users or of their positive items,
    /// `[k]` of the whole.
    pub columns: &'a [Tensor],
    /// `[B, N]`: scores of the negatives by a second model, for losses with an [adversary](super::LossKind::adversary).
    pub adversary: Option<&'a Tensor>,
    /// Further scores, for losses with [relations](super::LossKind::relations).
    pub relations: Relations<'a>,
}

/// A number for each positive, and one for each negative.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// A number for each positive, in the shape of their scores. Of log-probabilities: that of the positive, were it no positive.
    pub positives: &'a Tensor,
    /// `[B, N]`
    pub negatives: &'a Tensor,
}

/// The train items of each row's user, but for the row's positive.
#[derive(Clone, Copy, Debug)]
pub struct Others<'a> {
    /// How many of them score above each item.
    pub above: Pair<'a>,
    /// `[B]`: how many there are.
    pub count: &'a Tensor,
}

/// Scores of users with users and of items with items, by the loss's similarity.
#[derive(Clone, Copy, Debug, Default)]
pub struct Relations<'a> {
    /// `[B, N]`: of each row's positive with its negatives.
    pub of_negatives: Option<&'a Tensor>,
    /// `[B, B]`: of the rows' users with each other.
    pub of_users: Option<&'a Tensor>,
    /// `[B, B]`: of the rows' positives with each other.
    pub of_positives: Option<&'a Tensor>,
}

/// What a loss asked for.
///
/// # Errors
/// When it was not given.
pub(super) fn given<T>(value: Option<T>, loss: &str, what: &str) -> Result<T> {
    match value {
        Some(value) => Ok(value),
        None => bail!("{loss} needs {what}"),
    }
}

/// The loss's own numbers, as many columns as it has.
///
/// # Errors
/// When they are not as many.
pub(super) fn columns<'a, const N: usize>(columns: &'a [Tensor], loss: &str) -> Result<&'a [Tensor; N]> {
    match columns.try_into() {
        Ok(columns) => Ok(columns),
        Err(_) => bail!("{loss} needs its own {N} columns, and {} are given", columns.len()),
    }
}

//! Losses that weigh pairs by the ranks of their items: the lambda family.
//!
//! ```text
//! l(u, i) = sum_j m_uij softplus(s_uj - s_ui)
//! ```
//! The weight `m` is a function of the ranks of both items, which counts from 1 and is a constant of the gradient. [`lambda_rank`],
//! [`lambda_loss`] and [`lambda_loss_at_k`] differ in the weight alone. Gains are those of DCG, not divided by the user's ideal one.

use super::primitives::{margins, softplus};
use candle_core::{D, Result, Tensor};
use std::f64::consts::LN_2;

mod lambda_loss;
mod lambda_loss_at_k;
mod lambda_rank;
mod ranks;

pub use lambda_loss::{LambdaLoss, lambda_loss};
pub use lambda_loss_at_k::{LambdaLossAtK, lambda_loss_at_k};
pub use lambda_rank::{LambdaRank, lambda_rank};
pub use ranks::{Exact, RankSource, Sampled, ranks_among, sampled_ranks};

use serde::{Deserialize, Serialize};

/// Ranks of the items of a batch, from 1, whole numbers unless they are rescaled.
#[derive(Clone, Copy, Debug)]
pub struct Ranks<'a> {
    /// `[B]`
    pub positives: &'a Tensor,
    /// `[B, N]`
    pub negatives: &'a Tensor,
}

/// `weights` of [`LambdaLoss`] and [`LambdaLossAtK`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// As in the papers.
    #[default]
    Paper,
    /// As in the release of paper SL@K, which takes the sum of all weights from a distance on for that distance's.
    Release,
}

/// `sum_j m_uij softplus(s_uj - s_ui)`: `[B]`.
fn weigh_pairs(positives: &Tensor, negatives: &Tensor, weights: &Tensor) -> Result<Tensor> {
    (weights.detach() * softplus(&margins(positives, negatives)?)?)?.sum(D::Minus1)
}

/// `1 / log2(1 + x)`, elementwise.
fn discount(x: &Tensor) -> Result<Tensor> {
    ((x + 1.0)?.log()? / LN_2)?.recip()
}

/// How far apart the ranks are, at least 1: `[B, N]`. Items of equal scores may share a rank.
fn distances(ranks: Ranks) -> Result<Tensor> {
    ranks.negatives.broadcast_sub(&ranks.positives.unsqueeze(1)?)?.abs()?.maximum(1.0)
}

/// The weight of LambdaLoss by the distance of ranks.
fn weight_of_distance(distances: &Tensor, weights: Weights) -> Result<Tensor> {
    match weights {
        Weights::Paper => discount(distances)? - discount(&(distances + 1.0)?)?,
        Weights::Release => discount(distances),
    }
}

#[cfg(test)]
mod testing;

//! Losses that weigh pairs by the ranks of their items: the lambda family.
//!
//! ```text
//! l(u, i) = sum_j m_uij softplus(s_uj - s_ui)
//! ```
//! The weight `m` is a function of the ranks of both items, which counts from 1 and is a constant of the gradient. [`lambda_rank`],
//! [`lambda_loss`] and [`lambda_loss_at_k`] differ in the weight alone. Gains are those of DCG, not divided by the user's ideal one.

use super::Pair;
use super::primitives::{margins, softplus, sum_over_negatives};
use candle_core::{Result, Tensor};
use std::f64::consts::LN_2;

mod lambda_loss;
mod lambda_loss_at_k;
mod lambda_rank;
#[cfg(test)]
mod testing;

pub use lambda_loss::{LambdaLoss, lambda_loss};
pub use lambda_loss_at_k::{LambdaLossAtK, lambda_loss_at_k};
pub use lambda_rank::{LambdaRank, lambda_rank};

use serde::{Deserialize, Serialize};

/// `weights` of [`LambdaLoss`] and [`LambdaLossAtK`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// As in the papers.
    #[default]
    Paper,
    /// As in the release of paper SL@K, which takes the sum of all weights from a distance on for that distance's.
    Release,
}

/// `sum_j m_uij softplus(s_uj - s_ui)`, `[B]`, with the sampler's `draws [B, N]` as further weights.
fn weigh_pairs(positives: &Tensor, negatives: &Tensor, draws: Option<&Tensor>, weights: &Tensor) -> Result<Tensor> {
    sum_over_negatives(&(weights.detach() * softplus(&margins(positives, negatives)?)?)?, draws)
}

/// `1 / log2(1 + x)`, elementwise.
fn discount(x: &Tensor) -> Result<Tensor> {
    ((x + 1.0)?.log()? / LN_2)?.recip()
}

/// How far apart the ranks are, at least 1: `[B, N]`. Items of equal scores may share a rank.
fn distances(ranks: Pair) -> Result<Tensor> {
    ranks.negatives.broadcast_sub(&ranks.positives.unsqueeze(1)?)?.abs()?.maximum(1.0)
}

/// The weight of LambdaLoss by the distance of ranks.
fn weight_of_distance(distances: &Tensor, weights: Weights) -> Result<Tensor> {
    match weights {
        Weights::Paper => discount(distances)? - discount(&(distances + 1.0)?)?,
        Weights::Release => discount(distances),
    }
}

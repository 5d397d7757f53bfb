//! What is minimised. Losses see scores only, and return one value per positive.
//!
//! The training loop takes the mean over the positives of a batch. Entries of `negatives` that stand for no item (the `all` sampler masks
//! the user's train items) hold a very negative finite score such as `-1e30`: they add nothing and get no gradient.

use candle_core::{Result, Tensor};
use evaluator::Similarity;
use serde::{Deserialize, Serialize};

mod bce;
mod bpr;
mod cce;
#[cfg(test)]
mod contract;
pub mod fused;
pub mod primitives;
pub mod quantile;
mod softmax;
mod softmax_at_k;
#[cfg(test)]
mod testing;

pub use bce::{Bce, bce};
pub use bpr::{Bpr, bpr};
pub use cce::{Cce, cce};
pub use fused::Fused;
pub use quantile::{QuantileSchedule, Quantiles};
pub use softmax::{Softmax, softmax};
pub use softmax_at_k::{SoftmaxAtK, softmax_at_k};

/// `losses` in a sweep file, by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Binary cross-entropy.
    Bce(Bce),
    /// Bayesian personalised ranking.
    Bpr(Bpr),
    /// Categorical cross-entropy.
    Cce(Cce),
    /// Sampled softmax loss (SL).
    Softmax(Softmax),
    /// Softmax loss at K (SL@K).
    SoftmaxAtK(SoftmaxAtK),
}

/// What a loss sees of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Scores<'a> {
    /// `[B]`
    pub positives: &'a Tensor,
    /// `[B, N]`
    pub negatives: &'a Tensor,
    /// `[B]`, the quantile of each row's user, for losses with a [`QuantileSchedule`].
    pub quantiles: Option<&'a Tensor>,
}

impl Loss {
    /// How two vectors make a score.
    pub fn similarity(&self) -> Similarity {
        match self {
            Loss::Bce(settings) => settings.similarity,
            Loss::Bpr(settings) => settings.similarity,
            Loss::Cce(settings) => settings.similarity,
            Loss::Softmax(settings) => settings.similarity,
            Loss::SoftmaxAtK(settings) => settings.similarity,
        }
    }

    /// Whether the values make sense.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    pub fn check(&self) -> std::result::Result<(), String> {
        match self {
            Loss::Bce(_) | Loss::Bpr(_) | Loss::Cce(_) => Ok(()),
            Loss::Softmax(settings) => settings.check(),
            Loss::SoftmaxAtK(settings) => settings.check(),
        }
    }

    /// One value per positive, `[B]`.
    ///
    /// # Errors
    /// When the shapes do not fit, or the loss needs quantiles and there are none.
    pub fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, .. } = *scores;
        match self {
            Loss::Bce(_) => bce(positives, negatives),
            Loss::Bpr(_) => bpr(positives, negatives),
            Loss::Cce(_) => cce(positives, negatives),
            Loss::Softmax(settings) => softmax(positives, negatives, settings.temperature, settings.include_positive),
            Loss::SoftmaxAtK(settings) => match scores.quantiles {
                Some(quantiles) => softmax_at_k(positives, negatives, quantiles, settings),
                None => candle_core::bail!("softmax-at-k needs the quantiles of the batch's users"),
            },
        }
    }

    /// When the users' quantiles are brought up to date, and which; `None` for losses without.
    pub fn quantiles(&self) -> Option<QuantileSchedule> {
        match self {
            Loss::Bce(_) | Loss::Bpr(_) | Loss::Cce(_) | Loss::Softmax(_) => None,
            Loss::SoftmaxAtK(settings) => Some(QuantileSchedule { cutoff: settings.cutoff, every: settings.quantile_every }),
        }
    }

    /// The same loss on plain slices, value and gradient in one pass; `None` where there is none.
    pub fn fused(&self) -> Option<Fused> {
        match self {
            Loss::Bce(_) => None,
            Loss::Bpr(_) => Some(Fused::Bpr),
            Loss::Cce(_) => Some(Fused::Softmax(fused::Softmax { temperature: 1.0, include_positive: true })),
            Loss::Softmax(settings) => Some(Fused::Softmax(settings.fused())),
            Loss::SoftmaxAtK(settings) => Some(Fused::SoftmaxAtK(settings.fused())),
        }
    }
}

/// The similarity of losses whose papers score by dot products.
fn dot() -> Similarity {
    Similarity::Dot
}

/// The similarity of losses whose papers score by cosines.
fn cosine() -> Similarity {
    Similarity::Cosine
}

/// The error of a temperature that is not one.
fn check_temperature(key: &str, value: f64) -> std::result::Result<(), String> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(format!("{key} is {value}: expected a finite number above 0")) }
}

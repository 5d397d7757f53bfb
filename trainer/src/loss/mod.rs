//! What is minimised. Losses see [`Scores`], never models or ids, and return one value per positive.
//!
//! The training loop takes the mean over the positives of a batch. Entries of `negatives` that stand for no item (the `all` sampler masks
//! the user's train items) hold a very negative finite score such as `-1e30`: they add nothing and get no gradient.

use candle_core::{Result, Tensor};
use evaluator::Similarity;
use serde::{Deserialize, Serialize};

mod adap_tau;
mod adv_info_nce;
mod bce;
mod bpr;
mod bsl;
mod cce;
mod ccl;
mod column;
#[cfg(test)]
mod contract;
pub mod fused;
mod gbce;
mod guided_rec;
mod lambda;
mod llpauc;
mod mse;
mod needs;
pub mod primitives;
mod psl;
pub mod quantile;
mod sampled_softmax;
mod scores;
mod softmax;
mod softmax_at_k;
mod sog_clr;
mod sog_softmax_at_k;
mod sparsemax;
#[cfg(test)]
mod testing;

pub use adap_tau::{AdapTau, Baseline, Global, Mean, Quantile, adap_tau, adap_tau_plain, update as adap_tau_update};
pub use adv_info_nce::{AdvInfoNce, Beside, Instead, Schedule, Turn, adv_info_nce};
pub use bce::{Bce, bce};
pub use bpr::{Bpr, bpr};
pub use bsl::{Bsl, bsl};
pub use cce::{Cce, cce};
pub use ccl::{Ccl, ccl};
pub use column::{Column, Learned, Motion, Of, Start};
pub use fused::Fused;
pub use gbce::{Gbce, gbce};
pub use guided_rec::{GuidedRec, guided_rec, guided_rec_error, guided_rec_guide, surrogate};
pub use lambda::{
    Exact, LambdaLoss, LambdaLossAtK, LambdaRank, RankSource, Ranks, Sampled, Weights, lambda_loss, lambda_loss_at_k, lambda_rank,
    ranks_among, sampled_ranks,
};
pub use llpauc::{Form, Llpauc, SCALARS, Scalar, Updates, clip, llpauc};
pub use mse::{Mse, mse};
pub use needs::{Adversary, Phase, Related};
pub use psl::{Psl, Surrogate, psl};
pub use quantile::{QuantileSchedule, Quantiles};
pub use sampled_softmax::{Correction, SampledSoftmax, sampled_softmax};
pub use scores::{Given, Pair, Relations, Scores};
pub use softmax::{Softmax, softmax};
pub use softmax_at_k::{SoftmaxAtK, softmax_at_k};
pub use sog_clr::{NO_AVERAGE, SogClr, mean_of_averages, sog_clr, sog_clr_averages};
pub use sog_softmax_at_k::{SogSoftmaxAtK, sog_softmax_at_k, sog_softmax_at_k_weights};
pub use sparsemax::{Sparsemax, sparsemax};

/// `losses` in a sweep file, by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Binary cross-entropy.
    Bce(Bce),
    /// Generalised binary cross-entropy (gBCE).
    Gbce(Gbce),
    /// Bayesian personalised ranking.
    Bpr(Bpr),
    /// Categorical cross-entropy.
    Cce(Cce),
    /// Sampled softmax loss (SL).
    Softmax(Softmax),
    /// Sampled softmax loss, corrected for how negatives are drawn (SSM).
    SampledSoftmax(SampledSoftmax),
    /// Softmax loss at K (SL@K).
    SoftmaxAtK(SoftmaxAtK),
    /// Bilateral softmax loss (BSL).
    Bsl(Bsl),
    /// Pairwise softmax loss (PSL).
    Psl(Psl),
    /// Cosine contrastive loss (CCL).
    Ccl(Ccl),
    /// Sparsemax loss.
    Sparsemax(Sparsemax),
    /// Squared error.
    Mse(Mse),
}

impl Loss {
    /// How two vectors make a score.
    pub fn similarity(&self) -> Similarity {
        match self {
            Loss::Bce(settings) => settings.similarity,
            Loss::Gbce(settings) => settings.similarity,
            Loss::Bpr(settings) => settings.similarity,
            Loss::Cce(settings) => settings.similarity,
            Loss::Softmax(settings) => settings.similarity,
            Loss::SampledSoftmax(settings) => settings.similarity,
            Loss::SoftmaxAtK(settings) => settings.similarity,
            Loss::Bsl(settings) => settings.similarity,
            Loss::Psl(settings) => settings.similarity,
            Loss::Ccl(settings) => settings.similarity,
            Loss::Sparsemax(settings) => settings.similarity,
            Loss::Mse(settings) => settings.similarity,
        }
    }

    /// Whether the values make sense.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    pub fn check(&self) -> std::result::Result<(), String> {
        match self {
            Loss::Bce(_) | Loss::Bpr(_) | Loss::Cce(_) | Loss::Sparsemax(_) => Ok(()),
            Loss::Gbce(settings) => settings.check(),
            Loss::Softmax(settings) => settings.check(),
            Loss::SampledSoftmax(settings) => settings.check(),
            Loss::SoftmaxAtK(settings) => settings.check(),
            Loss::Bsl(settings) => settings.check(),
            Loss::Psl(settings) => settings.check(),
            Loss::Ccl(settings) => settings.check(),
            Loss::Mse(settings) => settings.check(),
        }
    }

    /// One value per positive, `[B]`.
    ///
    /// # Errors
    /// When the shapes do not fit, or the loss needs quantiles or log-probabilities and there are none.
    pub fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        match self {
            Loss::Bce(_) => bce(positives, negatives, given.weights),
            Loss::Gbce(settings) => gbce(positives, negatives, scores.items, settings.calibration),
            Loss::Bpr(_) => bpr(positives, negatives, given.weights),
            Loss::Cce(_) => cce(positives, negatives),
            Loss::Softmax(settings) => softmax(positives, negatives, settings.temperature, settings.include_positive),
            Loss::SampledSoftmax(settings) => {
                let draws = scores::given(given.log_probabilities, "sampled-softmax", "the log-probabilities of the draws")?;
                sampled_softmax(positives, negatives, draws, settings)
            }
            Loss::SoftmaxAtK(settings) => {
                let quantiles = scores::given(given.quantiles, "softmax-at-k", "the quantiles of the batch's users")?;
                softmax_at_k(positives, negatives, quantiles, settings)
            }
            Loss::Bsl(settings) => bsl(positives, negatives, settings),
            Loss::Psl(settings) => psl(positives, negatives, settings),
            Loss::Ccl(settings) => ccl(positives, negatives, given.weights, settings),
            Loss::Sparsemax(_) => sparsemax(positives, negatives),
            Loss::Mse(settings) => mse(positives, negatives, given.weights, settings.positive_weight),
        }
    }

    /// When the users' quantiles are brought up to date, and which; `None` for losses without.
    pub fn quantiles(&self) -> Option<QuantileSchedule> {
        match self {
            Loss::SoftmaxAtK(settings) => Some(QuantileSchedule { cutoff: settings.cutoff, every: settings.quantile_every }),
            _ => None,
        }
    }

    /// The positives of a row, for losses whose rows are users with several of their positives; `None` where a row is one pair.
    pub fn list(&self) -> Option<usize> {
        None
    }

    /// The numbers that it keeps of its own.
    pub fn columns(&self) -> Vec<Column> {
        Vec::new()
    }

    /// New values `[B]` of its columns that are [remembered](Motion::Remembered) or [summed](Motion::Summed), in their order.
    ///
    /// # Errors
    /// When the shapes do not fit, or something that it needs is not given.
    pub fn remembered(&self, _scores: &Scores) -> Result<Vec<Tensor>> {
        Ok(Vec::new())
    }

    /// The parts of a step in an epoch, counted from 1.
    pub fn phases(&self, _epoch: u32) -> Vec<Phase> {
        vec![needs::ONE_PHASE]
    }

    /// Which scores among users and among items it looks at.
    pub fn relations(&self) -> Related {
        Related::default()
    }

    /// The second model that it is trained against.
    pub fn adversary(&self) -> Option<Adversary> {
        None
    }

    /// Whether it looks at places among all items.
    pub fn needs_ranks(&self) -> bool {
        false
    }

    /// The norm that no row of the tables may exceed after a step.
    pub fn max_norm(&self) -> Option<f32> {
        None
    }

    /// Whether each row of a batch has a loss of its own scores, its user's quantile and its draws alone, in one phase.
    pub fn is_by_row(&self) -> bool {
        self.columns().is_empty()
            && self.phases(1) == [needs::ONE_PHASE]
            && self.relations() == Related::default()
            && self.adversary().is_none()
            && !self.needs_ranks()
            && self.max_norm().is_none()
    }

    /// Whether its negatives' part is a sum or a mean, in which each of them can have a weight.
    pub fn weighs_negatives(&self) -> bool {
        matches!(self, Loss::Bce(_) | Loss::Bpr(_) | Loss::Ccl(_) | Loss::Mse(_))
    }

    /// Whether it looks at the log-probabilities of the draws.
    pub fn needs_log_probabilities(&self) -> bool {
        matches!(self, Loss::SampledSoftmax(_))
    }

    /// Why its negatives must be drawn, for losses that cannot have all items in their place.
    pub fn needs_draws(&self) -> Option<&'static str> {
        match self {
            Loss::Gbce(_) => Some(gbce::NEEDS_DRAWS),
            Loss::SampledSoftmax(_) => Some(sampled_softmax::NEEDS_DRAWS),
            _ => None,
        }
    }

    /// The same loss on plain slices, value and gradient in one pass; `None` where there is none.
    pub fn fused(&self) -> Option<Fused> {
        match self {
            Loss::Bce(_) | Loss::Gbce(_) | Loss::SampledSoftmax(_) => None,
            Loss::Bpr(_) => Some(Fused::Bpr),
            Loss::Cce(_) => Some(Fused::Softmax(fused::Softmax { temperature: 1.0, include_positive: true })),
            Loss::Softmax(settings) => Some(Fused::Softmax(settings.fused())),
            Loss::SoftmaxAtK(settings) => Some(Fused::SoftmaxAtK(settings.fused())),
            Loss::Bsl(settings) => Some(Fused::Bsl(settings.fused())),
            Loss::Psl(settings) => settings.fused().map(Fused::Psl),
            Loss::Ccl(settings) => Some(Fused::Ccl(settings.fused())),
            Loss::Sparsemax(_) => Some(Fused::Sparsemax),
            Loss::Mse(settings) => Some(Fused::Mse(settings.fused())),
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

/// The error of a temperature or a weight that is none.
pub(crate) fn check_above_zero(key: &str, value: f64) -> std::result::Result<(), String> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(format!("{key} is {value}: expected a finite number above 0")) }
}

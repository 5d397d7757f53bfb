//! What is minimised. Losses see [`Scores`], never models or ids, and return one value per positive.
//!
//! The training loop takes the mean over the positives of a batch. Entries of `negatives` that stand for no item (the `all` sampler masks
//! the user's train items) hold a very negative finite score such as `-1e30`: they add nothing and get no gradient.

use candle_core::{Result, Tensor};
use evaluator::Similarity;
use serde::{Deserialize, Serialize};

pub mod adap_tau;
pub mod adv_info_nce;
mod approx_ndcg;
mod asks;
mod bce;
mod bpr;
mod bsl;
mod cce;
mod ccl;
mod cml;
mod column;
#[cfg(test)]
mod contract;
mod direct_au;
mod facts;
pub mod fused;
mod gbce;
pub mod guided_rec;
pub mod lambda;
#[cfg(test)]
mod list_contract;
pub mod llpauc;
mod mse;
mod needs;
mod neural_ndcg;
mod neural_sort;
pub mod primitives;
mod psl;
pub mod quantile;
mod sampled_softmax;
mod scores;
mod sml;
mod smooth_ap;
mod smooth_gain;
mod smooth_ndcg;
mod smooth_rank;
mod smooth_recall;
mod softmax;
mod softmax_at_k;
mod sog_clr;
mod sog_softmax_at_k;
mod sparsemax;
#[cfg(test)]
mod testing;
mod uib;
mod warp;

pub use adap_tau::{AdapTau, adap_tau, adap_tau_plain};
pub use adv_info_nce::{AdvInfoNce, adv_info_nce};
pub use approx_ndcg::{ApproxNdcg, approx_ndcg};
pub use bce::{Bce, bce};
pub use bpr::{Bpr, bpr};
pub use bsl::{Bsl, BslForm, bsl, bsl_of_lists};
pub use cce::{Cce, cce};
pub use ccl::{Ccl, ccl};
pub use cml::{Cml, cml};
pub use column::{Column, Learned, Motion, Of, Start};
pub use direct_au::{DirectAu, direct_au};
pub use facts::Facts;
pub use fused::{Fused, FusedOwn, OwnRows};
pub use gbce::{Gbce, gbce};
pub use guided_rec::{GuidedRec, guided_rec, guided_rec_error, guided_rec_guide};
pub use lambda::{LambdaLoss, LambdaLossAtK, LambdaRank, lambda_loss, lambda_loss_at_k, lambda_rank};
pub use llpauc::{Llpauc, llpauc};
pub use mse::{Mse, mse};
pub use needs::{Adversary, Phase, Related};
pub use neural_ndcg::{NeuralNdcg, neural_ndcg};
pub use psl::{Psl, Surrogate, psl};
pub use quantile::{QuantileSchedule, QuantileUpdate, Quantiles};
pub use sampled_softmax::{Correction, SampledSoftmax, sampled_softmax};
pub use scores::{Given, Others, Pair, Relations, Scores};
pub use sml::{Sml, Surroundings, sml};
pub use smooth_ap::{SmoothAp, smooth_ap};
pub use smooth_ndcg::{NdcgForm, SmoothNdcg, smooth_ndcg};
pub use smooth_recall::{SmoothRecall, smooth_recall};
pub use softmax::{Softmax, softmax};
pub use softmax_at_k::{SoftmaxAtK, softmax_at_k};
pub use sog_clr::{SogClr, sog_clr, sog_clr_averages};
pub use sog_softmax_at_k::{SogSoftmaxAtK, sog_softmax_at_k, sog_softmax_at_k_weights};
pub use sparsemax::{Sparsemax, sparsemax};
pub use uib::{Penalty, Uib, uib};
pub use warp::{RankWeight, Warp, warp};

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
    /// User interest boundary loss (UIB).
    Uib(Uib),
    /// Collaborative metric learning (CML).
    Cml(Cml),
    /// Symmetric metric learning with adaptive margins (SML).
    Sml(Sml),
    /// Weighted approximate-rank pairwise loss (WARP).
    Warp(Warp),
    /// Direct optimisation of alignment and uniformity (DirectAU).
    DirectAu(DirectAu),
    /// Smooth NDCG (ITEM).
    SmoothNdcg(SmoothNdcg),
    /// Smooth average precision (ITEM-AP).
    SmoothAp(SmoothAp),
    /// Smooth recall (ITEM-R@k).
    SmoothRecall(SmoothRecall),
    /// ApproxNDCG.
    ApproxNdcg(ApproxNdcg),
    /// NeuralNDCG.
    NeuralNdcg(NeuralNdcg),
    /// Stochastic optimisation of the global contrastive loss (SogCLR).
    SogClr(SogClr),
    /// Softmax loss at K with SogCLR's averages (SogSL@K).
    SogSoftmaxAtK(SogSoftmaxAtK),
    /// Adaptive temperatures (Adap-tau).
    AdapTau(AdapTau),
    /// Adversarial InfoNCE (AdvInfoNCE).
    AdvInfoNce(AdvInfoNce),
    /// Lower-left partial AUC (LLPAUC).
    Llpauc(Llpauc),
    /// Guided learning by a learned surrogate of DCG (GuidedRec).
    GuidedRec(GuidedRec),
    /// LambdaRank.
    LambdaRank(LambdaRank),
    /// LambdaLoss.
    LambdaLoss(LambdaLoss),
    /// LambdaLoss at K (LambdaLoss@K).
    LambdaLossAtK(LambdaLossAtK),
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
            Loss::Uib(settings) => settings.similarity,
            Loss::Cml(settings) => settings.similarity,
            Loss::Sml(settings) => settings.similarity,
            Loss::Warp(settings) => settings.similarity,
            Loss::DirectAu(settings) => settings.similarity,
            Loss::SmoothNdcg(settings) => settings.similarity,
            Loss::SmoothAp(settings) => settings.similarity,
            Loss::SmoothRecall(settings) => settings.similarity,
            Loss::ApproxNdcg(settings) => settings.similarity,
            Loss::NeuralNdcg(settings) => settings.similarity,
            Loss::SogClr(settings) => settings.similarity,
            Loss::SogSoftmaxAtK(settings) => settings.similarity,
            Loss::AdapTau(_) => Similarity::Cosine,
            Loss::AdvInfoNce(settings) => settings.similarity,
            Loss::Llpauc(settings) => settings.similarity,
            Loss::GuidedRec(settings) => settings.similarity,
            Loss::LambdaRank(settings) => settings.similarity,
            Loss::LambdaLoss(settings) => settings.similarity,
            Loss::LambdaLossAtK(settings) => settings.similarity,
        }
    }

    /// Whether the values make sense.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    pub fn check(&self) -> std::result::Result<(), String> {
        match self {
            Loss::Bce(_) | Loss::Bpr(_) | Loss::Cce(_) | Loss::Sparsemax(_) | Loss::LambdaRank(_) | Loss::LambdaLoss(_) => Ok(()),
            Loss::Gbce(settings) => settings.check(),
            Loss::Softmax(settings) => settings.check(),
            Loss::SampledSoftmax(settings) => settings.check(),
            Loss::SoftmaxAtK(settings) => settings.check(),
            Loss::Bsl(settings) => settings.check(),
            Loss::Psl(settings) => settings.check(),
            Loss::Ccl(settings) => settings.check(),
            Loss::Mse(settings) => settings.check(),
            Loss::Uib(settings) => settings.check(),
            Loss::Cml(settings) => settings.check(),
            Loss::Sml(settings) => settings.check(),
            Loss::Warp(settings) => settings.check(),
            Loss::DirectAu(settings) => settings.check(),
            Loss::SmoothNdcg(settings) => settings.check(),
            Loss::SmoothAp(settings) => settings.check(),
            Loss::SmoothRecall(settings) => settings.check(),
            Loss::ApproxNdcg(settings) => settings.check(),
            Loss::NeuralNdcg(settings) => settings.check(),
            Loss::SogClr(settings) => settings.check(),
            Loss::SogSoftmaxAtK(settings) => settings.check(),
            Loss::AdapTau(settings) => settings.check(),
            Loss::AdvInfoNce(settings) => settings.check(),
            Loss::Llpauc(settings) => settings.check(),
            Loss::GuidedRec(settings) => settings.check(),
            Loss::LambdaLossAtK(settings) => settings.check(),
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
            Loss::Bsl(settings) => match settings.form {
                BslForm::Lists => bsl_of_lists(positives, negatives, settings),
                BslForm::Pairs => bsl(positives, negatives, settings),
            },
            Loss::Psl(settings) => psl(positives, negatives, settings),
            Loss::Ccl(settings) => ccl(positives, negatives, given.weights, settings),
            Loss::Sparsemax(_) => sparsemax(positives, negatives),
            Loss::Mse(settings) => mse(positives, negatives, given.weights, settings.positive_weight),
            Loss::Uib(settings) => {
                let [boundaries] = scores::columns(given.columns, "uib")?;
                uib(positives, negatives, boundaries, given.weights, settings)
            }
            Loss::Cml(settings) => cml(positives, negatives, scores.items, settings.margin),
            Loss::Sml(settings) => {
                let [user_margins, item_margins] = scores::columns(given.columns, "sml")?;
                let items = scores::given(given.relations.of_negatives, "sml", "the distances of positives from negatives")?;
                sml(positives, negatives, Surroundings { user_margins, item_margins, items }, settings)
            }
            Loss::Warp(settings) => {
                let ranks = scores::given(given.estimated_ranks, "warp", "the ranks that the sampler `warp` estimates")?;
                warp(positives, negatives, ranks, settings)
            }
            Loss::DirectAu(settings) => {
                let users = scores::given(given.relations.of_users, "direct-au", "the similarities of a batch's users")?;
                let items = scores::given(given.relations.of_positives, "direct-au", "the similarities of a batch's positives")?;
                direct_au(positives, users, items, settings.uniformity)
            }
            Loss::SmoothNdcg(settings) => smooth_ndcg(positives, negatives, settings),
            Loss::SmoothAp(settings) => smooth_ap(positives, negatives, settings),
            Loss::SmoothRecall(settings) => smooth_recall(positives, negatives, settings),
            Loss::ApproxNdcg(settings) => approx_ndcg(positives, negatives, settings),
            Loss::NeuralNdcg(settings) => neural_ndcg(positives, negatives, settings),
            Loss::SogClr(settings) => sog_clr(positives, negatives, &settings.averages(scores)?, settings.temperature),
            Loss::SogSoftmaxAtK(settings) => {
                let quantiles = scores::given(given.quantiles, "sog-softmax-at-k", "the quantiles of the batch's users")?;
                let weights = sog_softmax_at_k_weights(positives, quantiles, settings.weight_temperature)?;
                sog_softmax_at_k(positives, negatives, &weights, &settings.averages(scores)?, settings.temperature)
            }
            Loss::AdapTau(_) => {
                let [of_users, of_all, _] = scores::columns(given.columns, "adap-tau")?;
                adap_tau(positives, negatives, of_users, of_all)
            }
            Loss::AdvInfoNce(settings) => {
                let hardness = scores::given(given.adversary, "adv-info-nce", "the adversary's scores of the draws")?;
                adv_info_nce(positives, negatives, hardness, settings.temperature, settings.negative_weight)
            }
            Loss::Llpauc(settings) => llpauc(positives, negatives, &Tensor::cat(given.columns, 0)?, settings),
            Loss::GuidedRec(_) => guided_rec::in_phase(given.phase, positives, negatives, given.columns),
            Loss::LambdaRank(settings) => {
                lambda::with_ranks(settings.ranks, scores, |ranks| lambda_rank(positives, negatives, given.weights, ranks))
            }
            Loss::LambdaLoss(settings) => {
                let loss = |ranks: Pair| lambda_loss(positives, negatives, given.weights, ranks, settings.weights);
                lambda::with_ranks(settings.ranks, scores, loss)
            }
            Loss::LambdaLossAtK(settings) => {
                let loss = |ranks: Pair| lambda_loss_at_k(positives, negatives, given.weights, ranks, settings.cutoff, settings.weights);
                lambda::with_ranks(settings.ranks, scores, loss)
            }
        }
    }

    /// The same of a loss with numbers of its own, or with an adversary.
    pub fn fused_own(&self) -> Option<FusedOwn> {
        match self {
            Loss::AdvInfoNce(settings) => Some(FusedOwn::AdvInfoNce(settings.fused())),
            Loss::Llpauc(settings) => Some(FusedOwn::Llpauc(settings.fused())),
            Loss::GuidedRec(_) => Some(FusedOwn::GuidedRec),
            _ => None,
        }
    }

    /// The same loss on plain slices, value and gradient in one pass; `None` where there is none.
    pub fn fused(&self) -> Option<Fused> {
        match self {
            Loss::Bce(_) | Loss::Gbce(_) | Loss::SampledSoftmax(_) => None,
            Loss::Uib(_) | Loss::Cml(_) | Loss::Sml(_) | Loss::Warp(_) | Loss::DirectAu(_) => None,
            Loss::SogClr(_) | Loss::SogSoftmaxAtK(_) | Loss::AdapTau(_) | Loss::AdvInfoNce(_) | Loss::Llpauc(_) | Loss::GuidedRec(_) => {
                None
            }
            Loss::LambdaRank(_) | Loss::LambdaLoss(_) | Loss::LambdaLossAtK(_) => None,
            Loss::Bpr(_) => Some(Fused::Bpr),
            Loss::Cce(_) => Some(Fused::Softmax(fused::Softmax { temperature: 1.0, include_positive: true })),
            Loss::Softmax(settings) => Some(Fused::Softmax(settings.fused())),
            Loss::SoftmaxAtK(settings) => Some(Fused::SoftmaxAtK(settings.fused())),
            Loss::Bsl(settings) => Some(settings.fused()),
            Loss::Psl(settings) => settings.fused().map(Fused::Psl),
            Loss::Ccl(settings) => Some(Fused::Ccl(settings.fused())),
            Loss::Sparsemax(_) => Some(Fused::Sparsemax),
            Loss::Mse(settings) => Some(Fused::Mse(settings.fused())),
            Loss::SmoothNdcg(settings) => Some(settings.fused()),
            Loss::SmoothAp(settings) => Some(Fused::SmoothAp(settings.fused())),
            Loss::SmoothRecall(settings) => Some(Fused::SmoothRecall(settings.fused())),
            Loss::ApproxNdcg(settings) => Some(Fused::SmoothNdcg(settings.fused())),
            Loss::NeuralNdcg(settings) => Some(Fused::NeuralNdcg(settings.fused())),
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

/// The similarity of losses whose papers score by distances.
fn distance() -> Similarity {
    Similarity::NegativeSquaredDistance
}

/// The error of a temperature or a weight that is none.
pub(crate) fn check_above_zero(key: &str, value: f64) -> std::result::Result<(), String> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(format!("{key} is {value}: expected a finite number above 0")) }
}

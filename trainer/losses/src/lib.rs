//! What is minimised. Losses see [`Scores`], never models or ids, and return one value per positive.
//!
//! The training loop takes the mean over the positives of a batch. Entries of `negatives` that stand for no item (the `all` sampler masks
//! the user's train items) hold a very negative finite score such as `-1e30`: they add nothing and get no gradient.

use serde::{Deserialize, Serialize};
use std::ops::Deref;
use vectors::Similarity;

pub mod adap_tau;
pub mod adv_info_nce;
mod approx_ndcg;
mod bce;
mod bpr;
mod bsl;
mod cce;
mod ccl;
mod cml;
#[cfg(test)]
mod contract;
mod direct_au;
mod facts;
pub mod fused;
mod gbce;
pub mod guided_rec;
mod kernel;
mod kind;
pub mod lambda;
#[cfg(test)]
mod list_contract;
pub mod llpauc;
mod model_statistics;
mod mse;
mod needs;
mod neural_ndcg;
mod neural_sort;
pub mod primitives;
mod psl;
mod quadratic_softmax;
pub mod quantile;
mod quantile_estimator;
pub mod ranks;
mod rg2;
mod rgx;
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
mod state_spec;
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
pub use direct_au::{DirectAu, direct_au};
pub use facts::Facts;
pub use fused::{FusedLoss, FusedLossOfDraws, FusedLossWithState, StateRows};
pub use gbce::{Gbce, gbce};
pub use guided_rec::{GuidedRec, guided_rec, guided_rec_error, guided_rec_guide};
pub use kernel::{Kernel, KernelArgument};
pub use kind::LossKind;
pub use lambda::{LambdaLoss, LambdaLossAtK, LambdaRank, lambda_loss, lambda_loss_at_k, lambda_rank};
pub use llpauc::{Llpauc, llpauc};
pub use model_statistics::ModelStatistics;
pub use mse::{Mse, mse};
pub use needs::{Adversary, Phase, Related};
pub use neural_ndcg::{NeuralNdcg, neural_ndcg};
pub use psl::{Psl, Surrogate, psl};
pub use quantile::{QuantileSchedule, QuantileUpdate, Quantiles};
pub use quantile_estimator::{QuantileEstimator, QuantileRegression, SampleQuantile, UnbiasedQuantile, UserScores, kth_largest};
pub use rg2::{Rg2, rg2};
pub use rgx::{Rgx, rgx};
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
pub use state_spec::{InitialValue, Learned, Per, StateSpec, Update};
pub use uib::{Penalty, Uib, uib};
pub use warp::{RankWeight, Warp, warp};

/// Makes the enum of all losses. A line is a loss: its words, and its settings, whose name in kebab-case is the `kind` of sweep files.
macro_rules! losses {
    ($($(#[$words:meta])* $kind:ident,)+) => {
        /// `losses` in a sweep file, by `kind`. What can be asked of a loss is [`LossKind`].
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Loss {
            $($(#[$words])* $kind($kind),)+
        }

        impl Deref for Loss {
            type Target = dyn LossKind;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Loss::$kind(settings) => settings,)+
                }
            }
        }

        #[cfg(test)]
        impl Loss {
            fn examples() -> Vec<Loss> {
                let examples = [$(<$kind as contract::Contract>::examples().into_iter().map(Loss::$kind).collect::<Vec<_>>(),)+];
                examples.into_iter().flatten().collect()
            }

            fn is_gradient_exact(&self) -> bool {
                match self {
                    $(Loss::$kind(settings) => contract::Contract::is_gradient_exact(settings),)+
                }
            }
        }
    };
}

losses! {
    /// Binary cross-entropy.
    Bce,
    /// Generalised binary cross-entropy (gBCE).
    Gbce,
    /// Bayesian personalised ranking.
    Bpr,
    /// Categorical cross-entropy.
    Cce,
    /// Sampled softmax loss (SL).
    Softmax,
    /// Sampled softmax loss, corrected for how negatives are drawn (SSM).
    SampledSoftmax,
    /// Softmax loss at K (SL@K).
    SoftmaxAtK,
    /// Bilateral softmax loss (BSL).
    Bsl,
    /// Pairwise softmax loss (PSL).
    Psl,
    /// Cosine contrastive loss (CCL).
    Ccl,
    /// Sparsemax loss.
    Sparsemax,
    /// Squared error.
    Mse,
    /// Quadratic approximation of the softmax (RG²).
    Rg2,
    /// Quadratic approximation of the softmax, with products of two scores (RG×).
    Rgx,
    /// User interest boundary loss (UIB).
    Uib,
    /// Collaborative metric learning (CML).
    Cml,
    /// Symmetric metric learning with adaptive margins (SML).
    Sml,
    /// Weighted approximate-rank pairwise loss (WARP).
    Warp,
    /// Direct optimisation of alignment and uniformity (DirectAU).
    DirectAu,
    /// Smooth NDCG (ITEM).
    SmoothNdcg,
    /// Smooth average precision (ITEM-AP).
    SmoothAp,
    /// Smooth recall (ITEM-R@k).
    SmoothRecall,
    /// ApproxNDCG.
    ApproxNdcg,
    /// NeuralNDCG.
    NeuralNdcg,
    /// Stochastic optimisation of the global contrastive loss (SogCLR).
    SogClr,
    /// Softmax loss at K with SogCLR's averages (SogSL@K).
    SogSoftmaxAtK,
    /// Adaptive temperatures (Adap-tau).
    AdapTau,
    /// Adversarial InfoNCE (AdvInfoNCE).
    AdvInfoNce,
    /// Lower-left partial AUC (LLPAUC).
    Llpauc,
    /// Guided learning by a learned surrogate of DCG (GuidedRec).
    GuidedRec,
    /// LambdaRank.
    LambdaRank,
    /// LambdaLoss.
    LambdaLoss,
    /// LambdaLoss at K (LambdaLoss@K).
    LambdaLossAtK,
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
pub fn check_above_zero(key: &str, value: f64) -> std::result::Result<(), String> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(format!("{key} is {value}: expected a finite number above 0")) }
}

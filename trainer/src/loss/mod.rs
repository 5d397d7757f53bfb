//! What is minimised. Losses see scores only, and return one value per positive.

use serde::{Deserialize, Serialize};

mod bce;
mod bpr;
mod cce;
mod softmax;
mod softmax_at_k;

pub use bce::Bce;
pub use bpr::Bpr;
pub use cce::Cce;
pub use softmax::Softmax;
pub use softmax_at_k::SoftmaxAtK;

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

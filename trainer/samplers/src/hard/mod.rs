//! Hard samplers: a pool of candidates, and a rule on their scores.

mod dns;
mod dns_mn;
mod pris;
mod softmax;
mod softmax_v;
#[cfg(test)]
mod tests;
mod top;
mod warp;
mod weights;

pub use dns::Dns;
pub use dns_mn::DnsMn;
pub use pris::Pris;
pub use softmax::Softmax;
pub use softmax_v::{SoftmaxV, Variance};
pub use warp::Warp;

use losses::primitives::MASKED_BELOW;

/// Whether a score stands for an item.
#[inline(always)]
fn is_item(score: f32) -> bool {
    score >= MASKED_BELOW as f32
}

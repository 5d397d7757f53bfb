//! Losses, samplers, backbones, optimizers and the training loop.
//!
//! [`train`] takes a resolved [`Trial`] and a prepared dataset to a stored scorer. A step goes: the backbone's vectors, scores of the
//! positives and of the sampler's negatives, the loss on those scores, its gradient back through the scores and the backbone, and the
//! optimizer on the tables.

pub mod backbone;
mod collective;
pub mod device;
mod error;
mod fit;
mod gradient;
mod graph;
#[doc(hidden)]
pub mod hot;
pub mod loss;
pub mod optimizer;
mod parameters;
mod prefetch;
mod pretrained;
mod product;
pub mod sampler;
mod scoring;
mod tables;
pub mod trial;

pub use backbone::Backbone;
pub use collective::{Ranks, Rendezvous, Secret};
pub use device::fits_gpu;
pub use error::{Error, Result};
pub use fit::{
    Device, Ended, EpochReport, Fence, Fit, Observer, Outcome, Progress, Resources, curve, forget, memory, progress, rung_curves, stored,
    train,
};
pub use loss::Loss;
pub use optimizer::Optimizer;
pub use sampler::Sampler;
pub use trial::{EpochRows, Iterations, Learning, ModelFiles, Training, Trial};

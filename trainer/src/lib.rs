//! The training loop: what losses, samplers, models and optimizers are together.
//!
//! [`train`] takes a resolved [`Trial`] and a prepared dataset to a stored scorer. A step goes: the backbone's vectors, scores of the
//! positives and of the sampler's negatives, the loss on those scores, its gradient back through the scores and the backbone, and the
//! optimizer on the tables.

mod collective;
pub mod device;
mod error;
mod fit;
pub mod trial;

pub use collective::{Ranks, Rendezvous, Secret};
pub use device::fits_gpu;
pub use error::{Error, Result};
pub use fit::{
    Device, Ended, EpochReport, Fence, Fit, Observer, Outcome, Progress, Resources, curve, forget, memory, progress, rung_curves, stored,
    train,
};
pub use losses::Loss;
pub use models::Backbone;
pub use optimizers::Optimizer;
pub use samplers::Sampler;
pub use trial::{EpochRows, Iterations, Learning, ModelFiles, Training, Trial};

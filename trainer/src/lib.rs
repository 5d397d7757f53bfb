//! The training loop: what losses, samplers, models and optimizers are together.
//!
//! [`train`] takes a resolved [`Trial`] and a prepared dataset to a stored scorer. One step of a model that learns by a loss:
//!
//! ```text
//! pairs, or users with lists --> positives [B, P]         P is 1 for pairs; a loss says which rows it has (`LossKind::list`)
//! sampler's pool --> candidates [B, N]                    which items stand against each positive, and their log-probabilities
//! encoder --> user and item vectors                       tables as they are (mf), propagated (light-gcn), or a forward pass in candle (ngcf)
//! embeddings --> positives [B, P], candidates [B, N]      dot products of prepared rows; no [B, N, D] is ever formed
//! sampler's rule --> negatives [B, M], weights            hard samplers look at the candidates' scores: they keep some, or weigh them
//! loss --> one value per row, and d loss / d score        sees scores, and neither models nor ids
//! embeddings, encoder backward, optimizer                 d loss / d vectors, d loss / d parameters, the update
//! ```
//!
//! What a loss needs beside scores (quantiles, log-probabilities, ranks, relations, an adversary, state of its own) it asks for by
//! `LossKind`, and `fit` finds it once. Pools that look at the model do so between steps; `mix-gcf` and models whose pairs a network scores have steps
//! of their own. [`Trial::check`] refuses pairs that cannot be.
//!
//! All of these are fast ways of one computation, which `fit/step/candle` makes of candle's operations alone, on any device: the reference on a CPU, and what a GPU
//! trains by where there are no kernels ([`has_kernels`]).

mod collective;
pub mod device;
pub mod device_checks;
mod error;
mod fit;
pub mod trial;
mod validation;

pub use collective::{Ranks, Rendezvous, Secret};
pub use device::{KernelSizes, fits_gpu, has_kernels};
pub use error::{Error, Result};
pub use fit::{
    Device, DeviceMemory, Ended, EpochReport, Fence, Fit, Observer, Operations, Outcome, Progress, Resources, curve, device_memory, forget,
    host_memory, kernel_sizes, memory, progress, rung_curves, stored, train,
};
pub use losses::Loss;
pub use models::Backbone;
pub use optimizers::Optimizer;
pub use samplers::Sampler;
pub use trial::{EpochRows, Iterations, Learning, ModelFiles, Training, Trial};

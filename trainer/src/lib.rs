//! Losses, samplers, backbones, optimizers and the training loop.

pub mod backbone;
pub mod loss;
pub mod optimizer;
pub mod sampler;
pub mod trial;

pub use backbone::Backbone;
pub use loss::Loss;
pub use optimizer::Optimizer;
pub use sampler::Sampler;
pub use trial::{Learning, Training, Trial};

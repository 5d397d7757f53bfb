//! GPUs: which there are, which trials they can train, and training on one.
//!
//! A GPU computes the same trial with the same draws and the same mathematics as the CPU, whose code is the reference (`checks`). Tables, moments
//! and interactions live on the device (`training`); a step asks it for kernels one after another and reads nothing back. A loss is a kernel or,
//! where it has none, its formula on the device's scores (`loss`). Between epochs it ranks the validation part (`validation`) and finds the users'
//! quantiles (`quantiles`) there too; tables and moments come home for checkpoints. None of it is part of a trial.

#[cfg(any(test, feature = "cuda"))]
mod batch;
#[cfg(any(test, feature = "cuda"))]
pub mod checks;
mod comparison;
#[cfg(any(test, feature = "cuda"))]
mod draws;
mod fits;
mod found;
#[cfg(any(test, feature = "cuda"))]
mod gradient;
mod label;
#[cfg(any(test, feature = "cuda"))]
mod loss;
#[cfg(any(test, feature = "cuda"))]
mod model;
#[cfg(any(test, feature = "cuda"))]
mod optimizer;
#[cfg(any(test, feature = "cuda"))]
mod quantiles;
mod timing;
#[cfg(any(test, feature = "cuda"))]
mod timings;
#[cfg(any(test, feature = "cuda"))]
mod training;
#[cfg(any(test, feature = "cuda"))]
mod validation;
#[cfg(any(test, feature = "cuda"))]
mod whole;

pub use comparison::Comparison;
pub use fits::fits_gpu;
pub use found::{Found, Library, count, driver, found, libraries, look};
pub(crate) use label::label;
pub use timing::Timing;
#[cfg(any(test, feature = "cuda"))]
pub(crate) use training::{Setting, Step, Training};

use crate::Result;

/// Compares every kernel of a GPU with the same computation on the CPU, and whole trainings.
///
/// # Errors
/// [`Error::NoCuda`](crate::Error::NoCuda) in a build without CUDA; a GPU that fails.
pub fn compare(ordinal: usize) -> Result<Vec<Comparison>> {
    #[cfg(feature = "cuda")]
    {
        let mut comparisons = checks::kernels(&gpu::Gpu::cuda(ordinal)?, checks::Sizes::LARGE)?;
        comparisons.extend(checks::trainings(crate::Device::Cuda { ordinal }, 1, checks::Sizes::SMALL)?);
        #[cfg(feature = "nccl")]
        comparisons.extend(checks::meetings(ordinal)?);
        Ok(comparisons)
    }
    #[cfg(not(feature = "cuda"))]
    Err(crate::Error::NoCuda { ordinal })
}

/// Times every kernel of a GPU.
///
/// # Errors
/// As for [`compare`].
pub fn time(ordinal: usize) -> Result<Vec<Timing>> {
    #[cfg(feature = "cuda")]
    return timings::time(&gpu::Gpu::cuda(ordinal)?, checks::Sizes::LARGE);
    #[cfg(not(feature = "cuda"))]
    Err(crate::Error::NoCuda { ordinal })
}

//! What `ranksweep doctor` asks of a GPU: whether its kernels and whole trainings give what the CPU does, and how long they take.

#[cfg(any(test, feature = "cuda"))]
pub mod checks;
mod comparison;
mod timing;
#[cfg(any(test, feature = "cuda"))]
mod timings;

pub use comparison::Comparison;
pub use timing::Timing;

use crate::Result;

/// Compares every kernel of a GPU with the same computation on the CPU, and whole trainings. What fails there is a comparison that does not agree.
///
/// # Errors
/// [`Error::NoCuda`](crate::Error::NoCuda) in a build without CUDA; no such GPU.
pub fn compare(ordinal: usize) -> Result<Vec<Comparison>> {
    #[cfg(feature = "cuda")]
    {
        let mut comparisons = checks::kernels(&gpu::Gpu::cuda(ordinal)?, checks::Sizes::LARGE);
        comparisons.extend(checks::trainings(crate::Device::Cuda { ordinal }, 1, checks::Sizes::SMALL));
        #[cfg(feature = "nccl")]
        comparisons.extend(checks::meetings(ordinal));
        Ok(comparisons)
    }
    #[cfg(not(feature = "cuda"))]
    Err(crate::Error::NoCuda { ordinal })
}

/// Times every kernel of a GPU.
///
/// # Errors
/// As for [`compare`]; a GPU that fails.
pub fn time(ordinal: usize) -> Result<Vec<Timing>> {
    #[cfg(feature = "cuda")]
    return timings::time(&gpu::Gpu::cuda(ordinal)?, checks::Sizes::LARGE);
    #[cfg(not(feature = "cuda"))]
    Err(crate::Error::NoCuda { ordinal })
}

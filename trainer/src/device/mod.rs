//! GPUs: which there are, which trials they can train, and what a look at one says.
//!
//! The CPU is the reference: a GPU computes the same mathematics, and [`Comparison`] says how closely. None of it is part of a trial.

mod comparison;
mod fits;
mod found;
mod label;
mod timing;

pub use comparison::Comparison;
pub use fits::fits_gpu;
pub use found::{Found, Library, count, driver, found, libraries, look};
pub(crate) use label::label;
pub use timing::Timing;

use crate::{Error, Result};

/// Compares every kernel of a GPU with its twin on the CPU.
///
/// # Errors
/// [`Error::NoCuda`] in a build without CUDA; a GPU that fails.
pub fn compare(ordinal: usize) -> Result<Vec<Comparison>> {
    Err(Error::NoCuda { ordinal })
}

/// Times every kernel of a GPU.
///
/// # Errors
/// As for [`compare`].
pub fn time(ordinal: usize) -> Result<Vec<Timing>> {
    Err(Error::NoCuda { ordinal })
}

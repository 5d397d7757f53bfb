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

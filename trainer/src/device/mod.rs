//! Training on a GPU: the same trial, the same draws and the same mathematics as on the CPU, whose code is the reference.
//!
//! Tables, moments and interactions live on the device ([`training`]); a step asks it for kernels one after another and reads nothing back. A loss is
//! a kernel or, where it has none, its formula on the device's scores ([`loss`]). What is asked for between steps (validation, checkpoints, quantiles)
//! comes home when it is wanted.

#[cfg(any(test, feature = "cuda"))]
pub mod checks;
mod comparison;
#[cfg(any(test, feature = "cuda"))]
mod draws;
mod fits;
#[cfg(any(test, feature = "cuda"))]
mod loss;
#[cfg(any(test, feature = "cuda"))]
mod model;
#[cfg(any(test, feature = "cuda"))]
mod training;

pub use comparison::Comparison;
pub use fits::fits_gpu;
#[cfg(any(test, feature = "cuda"))]
pub(crate) use training::{Step, Training};

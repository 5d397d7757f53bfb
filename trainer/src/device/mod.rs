//! GPUs: which there are, which trials they can train, and training on one.
//!
//! A GPU computes the same trial with the same draws and the same mathematics as the CPU, whose code is the reference ([`device_checks`](crate::device_checks)). Tables, moments
//! and interactions live on the device (`training`); a step asks it for kernels one after another and reads nothing back. A loss is a kernel or,
//! where it has none, its formula on the device's scores (`loss`). Between epochs it ranks the validation part (`validation`) and finds the users'
//! quantiles (`quantiles`) there too; tables and moments are copied to the host for checkpoints. None of it is part of a trial. What has no kernels
//! ([`has_kernels`]) is trained there by `fit/step/candle`, its drawn items scored by the same kernels (`drawn`). `memory` has the bytes of the buffers.

pub(crate) mod all_reduce;
#[cfg(any(test, feature = "cuda"))]
pub(crate) mod batch;
#[cfg(any(test, feature = "cuda"))]
pub(crate) mod drawn;
#[cfg(any(test, feature = "cuda"))]
pub(crate) mod draws;
mod fits;
mod found;
#[cfg(any(test, feature = "cuda"))]
pub(crate) mod gradient;
#[cfg(any(test, feature = "cuda"))]
pub(crate) mod loss;
mod memory;
#[cfg(any(test, feature = "cuda"))]
pub(crate) mod model;
#[cfg(any(test, feature = "cuda"))]
pub(crate) mod optimizer;
#[cfg(any(test, feature = "cuda"))]
pub(crate) mod quantiles;
mod scoring;
#[cfg(any(test, feature = "cuda"))]
mod training;
#[cfg(any(test, feature = "cuda"))]
mod validation;
#[cfg(any(test, feature = "cuda"))]
pub(crate) mod whole;

pub use fits::{fits_gpu, has_kernels};
pub use found::{Found, Library, count, driver, found, libraries, look};
pub use memory::KernelSizes;
pub(crate) use scoring::DrawnScoring;
#[cfg(any(test, feature = "cuda"))]
pub(crate) use training::{DeviceTraining, Setting, Step};

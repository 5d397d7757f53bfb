//! A GPU's memory, its kernels, and an emulator that runs them where there is none.
//!
//! `Gpu` is a device: memory that is a `Buffer`, and kernels that run one after another on it. The kernels stand in `kernels/`, a file for
//! each idea; the module of the same name here says what each takes and gives. They know arrays, not models. Kernels of losses stand with the losses,
//! in `trainer/losses/kernels`, and are run by `rows`.
//!
//! The feature `cuda` has NVIDIA's devices, `nccl` lets several of them meet, and `emulator` runs the same kernels on the CPU, thread by thread,
//! for tests. Without features there is no device, and the crate is empty.
#![cfg(any(feature = "cuda", feature = "emulator"))]

pub mod adam;
pub mod batches;
mod buffer;
mod collective;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
pub mod draws;
mod element;
#[cfg(feature = "emulator")]
mod emulated;
mod error;
mod launch;
pub mod marks;
#[cfg(feature = "nccl")]
pub mod nccl;
pub mod propagation;
pub mod quantiles;
mod radix;
pub mod ranking;
pub mod rows;
pub mod scores;
pub mod segments;
pub mod vectors;

pub use buffer::Buffer;
pub use collective::CollectiveCall;
pub use device::Gpu;
pub use element::Element;
pub use error::{Error, Result};
pub use launch::SOURCES;
pub use segments::Segments;

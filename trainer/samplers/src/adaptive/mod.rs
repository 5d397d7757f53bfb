//! Pools that look at the model: what they draw from is made anew while it learns.
//!
//! They draw by the model as it stood at the last refresh, users and items both, or by what they learned of it. A refresh is due at steps
//! that are counted from the start of an epoch, so that a training that was resumed there draws the same; one that was stopped within an
//! epoch keeps those vectors.

mod ada_sir;
mod aobpr;
mod irgan;
mod kernel;
#[cfg(test)]
mod tests;

pub use ada_sir::{AdaSir, AdaSirPool, Weights};
pub use aobpr::{Aobpr, AobprPool};
pub use irgan::{Irgan, IrganPool};
pub use kernel::{Kernel, KernelPool};

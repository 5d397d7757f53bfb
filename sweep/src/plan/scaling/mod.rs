//! What a step of a training takes on one GPU and on many, and what follows for a sweep: a model, not a measurement.
//!
//! ```text
//! step(R) = kernels of B / R rows  +  kernels of whole tables  +  collectives      of R ranks, each of which holds all tables
//! ```
//! A kernel takes the longer of its bytes at the memory's rate and its operations at the chip's, times what it is over that floor, and a
//! launch; a collective what NCCL's own model gives it. Nothing overlaps. Every figure that is taken from somewhere stands in
//! [`machine`], so that measured ones replace it there. `docs/scaling.md` is made of this; `ranksweep plan` takes its advice from it.

mod advice;
mod collective;
mod kernel;
mod machine;
#[cfg(test)]
mod page;
mod step;
mod work;

pub(super) use advice::advice;

use collective::{Exchange, Message};
use kernel::Kernel;
use machine::{H200, Machine};
use step::{Step, memory, start};
use work::Work;

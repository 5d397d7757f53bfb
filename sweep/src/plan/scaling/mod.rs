//! Figures that follow from sizes for a sweep on GPUs: the bytes that a trial takes of one, and those that several would send each other.
//!
//! Nothing here is a time: those of several GPUs have not been measured. `docs/scaling.md` has the reasons for the advice of `ranksweep plan`.

mod advice;
mod bytes;
mod work;

pub(super) use advice::advice;

use bytes::{memory, sent};
use work::Work;

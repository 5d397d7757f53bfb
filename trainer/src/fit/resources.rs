//! What a training may use, and what bounds one call of it.

use crate::{Ranks, Result};
use dataset::Location;
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

/// Where a training computes. No part of a trial's identity: the same trial on any device is the same trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// This machine's processors.
    #[default]
    Cpu,
    /// An NVIDIA GPU, or several from this one on, a local rank each.
    Cuda {
        /// The first one's number, from 0.
        ordinal: usize,
    },
    /// The emulator of one, for tests.
    #[cfg(test)]
    Emulated,
}

/// What makes the steps of a training that learns by a loss. No part of a trial's identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operations {
    /// The fastest that the device has for the trial: fused forms on a CPU, kernels on a GPU, and candle's operations where a GPU has no kernels.
    #[default]
    Fastest,
    /// candle's operations alone: the slow, plain reference.
    Candle,
}

/// What a training may use, and what bounds one call of [`train`](crate::train). None of it changes a result, but for the rounding of sums
/// that other devices and numbers of ranks add up in another order.
#[derive(Clone, Debug)]
pub struct Resources<'a> {
    /// Bytes for ranking blocks and for closed forms.
    pub memory: usize,
    /// A folder of the dataset's, where what takes long to prepare is kept for its other trials.
    pub cache: Option<&'a Location>,
    /// Once it is set, training stops at the next step and leaves its state.
    pub interrupt: Option<&'a AtomicBool>,
    /// The state is written when so much time has passed since it was last written, beside at evaluations.
    pub checkpoint_every: Option<Duration>,
    /// The longest time of training, over all calls. Backbones that fit in closed form are not stopped.
    pub time_limit: Option<Duration>,
    /// Stop after so many epochs in all, if training has not ended sooner; at least 1.
    pub until: Option<u32>,
    /// Where the training computes.
    pub device: Device,
    /// What makes its steps.
    pub operations: Operations,
    /// How many ranks train together. Backbones that fit in closed form are fitted by one.
    pub ranks: Ranks,
    /// Where the files of a model stand that another program trained, by their keys. What they hold is part of the trial; where is not.
    pub model_files: BTreeMap<String, Location>,
    /// Asked before each write; where it refuses, training stops and writes no more.
    pub fence: Option<&'a dyn Fence>,
}

/// Whoever knows whether a trial is still this process's.
pub trait Fence: Sync + std::fmt::Debug {
    /// Whether nobody else has taken the trial over.
    ///
    /// # Errors
    /// When the store fails.
    fn holds(&self) -> dataset::Result<bool>;
}

impl Resources<'_> {
    /// Bytes of memory, no bounds, and one rank on the CPU.
    pub const fn new(memory: usize) -> Self {
        Self {
            memory,
            cache: None,
            interrupt: None,
            checkpoint_every: None,
            time_limit: None,
            until: None,
            device: Device::Cpu,
            operations: Operations::Fastest,
            ranks: Ranks::threads(1),
            model_files: BTreeMap::new(),
            fence: None,
        }
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Checks that the trial is still this process's.
    pub(crate) fn check_fence(&self) -> Result<()> {
        match self.fence.map_or(Ok(true), Fence::holds)? {
            true => Ok(()),
            false => Err(crate::Error::TakenOver),
        }
    }

    /// Whether this build can compute there.
    pub(crate) fn check_device(&self) -> Result<()> {
        match self.device {
            #[cfg(not(feature = "cuda"))]
            Device::Cuda { ordinal } => Err(crate::Error::NoCuda { ordinal }),
            _ => Ok(()),
        }
    }
}

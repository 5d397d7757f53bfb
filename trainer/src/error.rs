//! What can go wrong while training.

use std::time::Duration;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of the trainer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Fitting, reading or storing the model.
    #[error(transparent)]
    Model(#[from] models::Error),
    /// A file of a model that another program trained is not what the plan says.
    #[error("{at} has changed since the sweep was planned; start the sweep again, or submit it again")]
    Changed {
        /// The file.
        at: String,
    },
    /// The GPU.
    #[cfg(any(test, feature = "cuda"))]
    #[error(transparent)]
    Gpu(#[from] gpu::Error),
    /// The training was asked to stop, and left its state.
    #[error("interrupted in epoch {epoch}; its state is kept, and training goes on from it")]
    Interrupted {
        /// The epoch, counted from 1; 0 before the first.
        epoch: u32,
    },
    /// The trial is another process's by now; this one writes no more.
    #[error("another process has taken this trial over, as this one was silent for too long")]
    TakenOver,
    /// The training lasted as long as it might, and left its state.
    #[error("the time limit of {} is over in epoch {epoch}; its state is kept, and a larger limit goes on from it", duration(*.limit))]
    TimeLimit {
        /// The longest time of training, over all calls.
        limit: Duration,
        /// The epoch, counted from 1.
        epoch: u32,
    },
    /// A GPU was asked of a build that has none.
    #[error(
        "device is cuda:{ordinal} and this build trains on the CPU alone: use the binary or the image that is built with CUDA, or `device: cpu`"
    )]
    NoCuda {
        /// The device's number.
        ordinal: usize,
    },
    /// The ranks that were asked for cannot train this together, or could not come together.
    #[error("ranks: {0}")]
    Ranks(String),
    /// The ranks of a training lost each other; what they had stored is kept, and training goes on from it.
    #[error("rank {rank} at epoch {epoch}, step {step} (`{operation}`): {reason}; a later call goes on from the last state")]
    Collective {
        /// Whose call failed.
        rank: u32,
        /// The epoch, counted from 1; 0 before the first.
        epoch: u32,
        /// The step, counted from 1 within the epoch.
        step: u32,
        /// What the ranks were to tell each other.
        operation: String,
        /// Who did not come, or what differed.
        reason: String,
    },
    /// No GPU, or a driver that cannot be asked for one.
    #[error("no GPU is there: {reason}")]
    NoDevice {
        /// What the driver says.
        reason: String,
    },
    /// A tensor that candle's operations on a GPU would not come to the end of. A CPU has no such bound.
    #[error(
        "{what} would be one tensor of {numbers} numbers, and candle's operations on a GPU count {most} at most: take fewer dimensions or a smaller \
         batch, or train it with `device: cpu`"
    )]
    TooLarge {
        /// What the tensor holds.
        what: &'static str,
        /// Its numbers.
        numbers: u64,
        /// The most numbers of a tensor.
        most: u64,
    },
    /// A finished trial that had failed before.
    #[error("{0}")]
    FailedBefore(String),
}

impl Error {
    /// The trial cannot run on this dataset, or not at all.
    pub(crate) fn impossible(reason: impl ToString) -> Self {
        models::Error::Impossible(reason.to_string()).into()
    }

    /// Whether the same trial would fail in the same way again, on any machine.
    pub fn repeats(&self) -> bool {
        match self {
            Self::Model(error) => error.repeats(),
            Self::Changed { .. } | Self::FailedBefore(_) => false,
            Self::TakenOver | Self::Interrupted { .. } | Self::TimeLimit { .. } | Self::NoCuda { .. } | Self::NoDevice { .. } => false,
            Self::Ranks(_) | Self::Collective { .. } | Self::TooLarge { .. } => false,
            #[cfg(any(test, feature = "cuda"))]
            Self::Gpu(_) => false,
        }
    }

    /// Whether a stored file is at fault, which is made again by training again.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Model(error) if error.is_damage())
    }
}

impl From<dataset::Error> for Error {
    fn from(error: dataset::Error) -> Self {
        models::Error::from(error).into()
    }
}

impl From<evaluator::Error> for Error {
    fn from(error: evaluator::Error) -> Self {
        models::Error::from(error).into()
    }
}

impl From<candle_core::Error> for Error {
    fn from(error: candle_core::Error) -> Self {
        models::Error::from(error).into()
    }
}

/// A time for people.
fn duration(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 60.0 => format!("{seconds} s"),
        seconds => format!("{:.4} minutes", seconds / 60.0).replace(".0000", ""),
    }
}

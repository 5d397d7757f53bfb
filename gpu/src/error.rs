//! Errors of a device.

/// Why the device could not do what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The driver, a library of CUDA or candle refused.
    #[error("the GPU failed to {what}: {reason}")]
    Device {
        /// The action that failed, as an infinitive.
        what: String,
        /// The words of the driver or the library.
        reason: String,
    },
    /// A score that a ranking came by is NaN or infinite: of the first row that has one, the first.
    #[error("the score of user {row} and item {column} is not finite")]
    NotFinite {
        /// The user.
        row: u32,
        /// The item.
        column: u32,
    },
    /// A CUDA device that is not there, or has no driver.
    #[error("no CUDA device {ordinal}: {reason}; `nvidia-smi` lists what the driver sees, and `ranksweep doctor` what this build needs")]
    Missing {
        /// Number of the device among those of this process.
        ordinal: usize,
        /// The words of the driver.
        reason: String,
    },
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

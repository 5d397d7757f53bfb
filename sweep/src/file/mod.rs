//! The sweep file as typed. YAML becomes a tree that knows its lines ([`node`]), the tree becomes typed values ([`SweepFile`]), and
//! whatever does not fit is an [`Error`] that names file, line, column and key.

mod access;
mod claim;
pub(crate) mod dataset;
mod deserialize;
mod device;
mod engine;
pub(crate) mod environment;
mod error;
mod fields;
mod grid;
mod named;
pub(crate) mod nearest;
pub mod node;
mod parse;
pub(crate) mod printed;
mod range;
mod scalar;
mod search;
mod sweep_file;
mod timing;
pub(crate) mod training;
mod tuned;

pub use claim::{ClaimEntry, Hypothesis};
pub use dataset::DatasetEntry;
pub(crate) use deserialize::tag_of;
pub use device::AskedDevice;
pub use engine::{AskedEngine, PreparedBy};
pub use error::{Error, Place, Result};
pub use grid::{Block, Entry, TrainingAxes};
pub use named::Named;
pub use printed::{PrintedLine, PrintedTable};
pub(crate) use range::Range;
pub use search::{Grid, Random, Search, SuccessiveHalving};
#[cfg(test)]
pub(crate) use sweep_file::KEYS;
pub use sweep_file::{Placed, SweepFile};
pub use timing::Timing;

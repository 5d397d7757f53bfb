//! Raw interactions to a prepared dataset: read, clean, k-core, split, a share of train, noise, Parquet.
//!
//! ```text
//! Source --rows--> codes --threshold, duplicates--> pairs --k-core--> sorted ids --Split--> Dataset --TrainShare--> Dataset <--Noise-- false positives
//! ```
//! Files are read as streams, in blocks that several threads take in turn; ids become codes on the way in. Pairs of codes are sorted in
//! memory as long as [`Limits`] allow it, and go through DataFusion, which spills to disk, when they do not. [`memory_estimate`] says what
//! a preparation takes. Nothing of the result depends on threads, memory or the order of rows.

mod clean;
mod coder;
mod dictionary;
mod distinct;
mod edges;
mod error;
mod fingerprint;
mod freed;
mod gather;
#[doc(hidden)]
pub mod hot;
mod ingest;
mod k_core;
mod limits;
mod memory;
mod noise;
mod overflow;
mod partitions;
mod preparation;
mod prepare;
mod rejected;
mod short_ids;
pub mod source;
pub mod split;
mod steps;
mod train_share;

pub use error::{Error, Result};
pub use fingerprint::fingerprint;
pub use k_core::{KCore, KCoreBounds};
pub use limits::Limits;
pub use memory::memory_estimate;
pub use noise::Noise;
pub use preparation::Preparation;
pub use prepare::{Prepared, prepare};
pub use source::Source;
pub use split::Split;
pub use train_share::TrainShare;

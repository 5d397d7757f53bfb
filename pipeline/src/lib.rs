//! Raw interactions to a prepared dataset: read, clean, k-core, split, Parquet.
//!
//! ```text
//! Source --rows--> codes --DataFusion: threshold, duplicates--> pairs --k-core--> sorted ids --Split--> Dataset
//! ```
//! Files are read as streams and ids become codes on the way in, so memory holds the ids and up to 40 bytes for each interaction that
//! is left after cleaning; what DataFusion needs beyond that is bounded by [`Limits`] and spills to disk. Nothing of the result depends on threads,
//! partitions, memory or the order of rows.

mod clean;
mod coder;
mod dictionary;
mod distinct;
mod edges;
mod error;
mod fingerprint;
mod gather;
mod ingest;
mod k_core;
mod limits;
mod overflow;
mod partitions;
mod preparation;
mod prepare;
mod rejected;
pub mod source;
pub mod split;
mod steps;

pub use error::{Error, Result};
pub use fingerprint::fingerprint;
pub use k_core::{KCore, KCoreBounds};
pub use limits::Limits;
pub use preparation::Preparation;
pub use prepare::{Prepared, prepare};
pub use source::Source;
pub use split::Split;

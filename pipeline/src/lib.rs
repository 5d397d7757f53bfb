//! Raw interactions to a prepared dataset: read, clean, k-core, split, a share of train, noise, Parquet.
//!
//! ```text
//! Source --rows--> codes --threshold, duplicates--> pairs --k-core--> sorted ids --Split--> Dataset --TrainShare--> Dataset <--Noise-- false positives
//! ```
//! Files are read as streams, in blocks that several threads take in turn. What fits in memory is prepared there, with ids as codes
//! (`gather.rs`); what does not, by relations of DataFusion, which spill to disk, or on an Apache Ballista cluster (`relational/`). [`memory_estimate`] decides, or
//! [`Limits::engine`]. Nothing of the result depends on that, nor on threads, memory or the order of rows.

mod checksum;
mod clean;
mod cluster;
mod coder;
mod dictionary;
mod distinct;
mod edges;
mod error;
mod fingerprint;
mod finish;
mod freed;
mod gather;
mod history;
#[doc(hidden)]
pub mod hot;
mod ingest;
mod k_core;
mod limits;
mod links;
mod memory;
mod noise;
mod order;
mod partitions;
mod preparation;
mod prepare;
mod preview;
mod rejected;
mod relational;
mod scratch_folder;
mod session;
mod short_ids;
pub mod source;
pub mod split;
mod steps;
mod tally;
mod train_share;
mod workers;

pub use cluster::{Cluster, Connect, SessionContext, Stores};
pub use error::{Error, Result};
pub use fingerprint::fingerprint;
pub use k_core::{KCore, KCoreBounds};
pub use limits::{Engine, Limits};
pub use memory::{MemoryEstimate, SizeEstimate, memory_estimate, size_estimate};
pub use noise::Noise;
pub use preparation::Preparation;
pub use prepare::{Prepared, prepare};
pub use preview::{Interaction, Preview};
pub use scratch_folder::remove_scratch_folders;
pub use source::Source;
pub use split::Split;
pub use train_share::TrainShare;

//! The on-disk contract of a prepared dataset, and URLs to object stores.
//!
//! A prepared dataset is a folder of Parquet tables and a manifest that is written last. [`Dataset`] is the whole of it in memory:
//! ids in sorted order, one [`Interactions`] for each of train, validation and test, and the [`Order`] in which they came, where it is known; [`DatasetWriter`] stores one that memory does not hold. [`Location`] is a folder or a file on any
//! object store, [`table`] moves Arrow batches in and out of it, a [`TensorFile`] is a file of tensors that needs no copy of them, a [`marker`] holds the checksums of what was stored, [`quote`] shows what
//! came from outside in messages, [`redact`] leaves out what none may show, and [`panics`] makes errors of what decoders give up on.

mod cache;
mod error;
mod file_entry;
mod held_out;
mod interactions;
mod location;
mod manifest;
pub mod marker;
mod memory;
mod nodes;
mod order;
pub mod panics;
mod prepared;
pub mod quote;
mod reader;
pub mod redact;
mod runtime;
mod split;
pub mod table;
mod table_files;
mod tensor_file;
mod writer;

pub use cache::Cache;
pub use error::{Error, MORE_FILES, Result, is_out_of_files};
pub use file_entry::{FileEntry, Files};
pub use interactions::Interactions;
pub use location::{Listed, Location, Origin, Unfinished, is_unfinished, longest_operation, wait_for_first_answers};
pub use manifest::{Counts, Manifest, SCHEMA_VERSION};
pub use order::{Histories, Order};
pub use prepared::Dataset;
pub use runtime::{block_on, start_runtime};
pub use split::Split;
pub use table_files::table_of;
pub use tensor_file::TensorFile;
pub use writer::DatasetWriter;

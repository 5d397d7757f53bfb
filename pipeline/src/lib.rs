//! Raw interactions to a prepared dataset: read, clean, k-core, split, Parquet.

pub mod preparation;
pub mod source;
pub mod split;

pub use preparation::{KCore, Preparation};
pub use source::Source;
pub use split::Split;

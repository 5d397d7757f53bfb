//! Models that another program trained: their files in the formats that programs write, and the way from own ids to dense ones.
//!
//! [`Vectors`] are a row of numbers for each user or item, [`Lists`](lists) the best items of each user. What is wrong with them is gathered in
//! [`Findings`], so that one error names it all.

mod findings;
pub mod lists;
mod side;
pub mod vectors;

pub use findings::Findings;
pub use side::Side;
pub use vectors::Vectors;

use bytes::Bytes;
use dataset::Location;
use std::collections::BTreeMap;

/// A file of a model.
#[derive(Clone, Debug)]
pub struct Content {
    /// Where the file stands.
    pub at: Location,
    /// All bytes of the file.
    pub bytes: Bytes,
}

/// The files of a model, by their keys in the sweep file.
pub type Contents = BTreeMap<String, Content>;

/// The suffix of a file's name, in small letters; empty where it has none.
pub fn suffix(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.rsplit_once('.').map(|(_, suffix)| suffix.to_lowercase()).unwrap_or_default()
}

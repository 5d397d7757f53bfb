//! What a preparation may use of the machine.

use crate::{Error, Result};
use std::path::PathBuf;

/// Bounds of a preparation. None of them changes a byte of the result.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Threads that read text, and DataFusion's partitions; at least 1. What is computed in memory uses rayon's threads.
    pub threads: usize,
    /// Bytes that cleaning may hold; `None` for no bound. Rows stay in memory, at 16 bytes each, until they take three quarters of it; then
    /// they go to DataFusion, which has all of it and spills to `scratch`. The ids and up to 32 bytes for each interaction that is left
    /// come on top: the result itself is held in memory.
    pub memory: Option<usize>,
    /// The folder for spilled data; `None` for the system's temporary folder.
    pub scratch: Option<PathBuf>,
}

impl Limits {
    /// The scratch folder, made if it does not exist.
    pub(crate) fn scratch_folder(&self) -> Result<PathBuf> {
        let folder = self.scratch.clone().unwrap_or_else(std::env::temp_dir);
        std::fs::create_dir_all(&folder).map_err(|source| Error::Scratch { folder: folder.display().to_string(), source })?;
        Ok(folder)
    }
}

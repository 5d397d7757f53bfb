//! What a preparation may use of the machine.

use crate::{Error, Result, cluster::Cluster};
use std::path::PathBuf;

/// Bytes that DataFusion's operators may take whatever the limit: some cannot spill.
pub(crate) const LEAST_MEMORY: usize = 64 << 20;

/// What a preparation is computed by. All give the same bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Engine {
    /// Arrays in memory: several times as fast, for interactions that fit.
    Memory,
    /// Relations of DataFusion, which spill to disk.
    Datafusion,
    /// Relations that an Apache Ballista cluster computes.
    Ballista(Cluster),
}

/// Bounds of a preparation. None of them changes a byte of the result.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Threads that read text, and DataFusion's partitions; at least 1. What is computed in memory uses rayon's threads.
    pub threads: usize,
    /// Bytes that a preparation may hold; `None` for no bound. In memory, these are the bytes of the rows, and the estimate of all else decides
    /// whether it is tried; DataFusion's operators share them, and at least 64 MiB, and spill to `scratch`.
    pub memory: Option<usize>,
    /// What prepares; `None` for memory where the estimate fits in the limit, else DataFusion.
    pub engine: Option<Engine>,
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

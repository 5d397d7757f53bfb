//! How many ranks train a trial, and where they meet.

use super::Secret;
use std::time::Duration;

/// As long as PyTorch's gloo waits: rank 0 may rank a large validation part in the meantime.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// One process that trains alone, several threads of one process, or processes that find each other as torchrun's do. No result depends on
/// it but for the order in which floats are added up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Ranks of this process: threads, each with a model of its own; at least 1.
    pub local: u32,
    /// Where processes meet; `None` for one process.
    pub nodes: Option<Rendezvous>,
    /// The longest that a rank waits for the others in a step.
    pub limit: Duration,
}

/// Where processes find each other, by the variables of torchrun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendezvous {
    /// `MASTER_ADDR`: the host of process 0.
    pub address: String,
    /// `MASTER_PORT`
    pub port: u16,
    /// `RANK`: this process's number.
    pub rank: u32,
    /// `WORLD_SIZE`: the number of processes.
    pub world: u32,
    /// The longest that a process waits for all to be there.
    pub limit: Duration,
    /// The secret by which the processes know each other.
    pub secret: Secret,
}

impl Ranks {
    /// Ranks that are so many threads of one process.
    pub const fn threads(local: u32) -> Self {
        Self { local, nodes: None, limit: PATIENCE }
    }

    /// Ranks in all.
    pub fn count(&self) -> u32 {
        self.local.saturating_mul(self.nodes.as_ref().map_or(1, |nodes| nodes.world))
    }
}

impl Default for Ranks {
    /// One process that trains alone.
    fn default() -> Self {
        Self::threads(1)
    }
}

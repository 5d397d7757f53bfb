//! `ranksweep evaluate SWEEP.yaml`

use super::{Ending, Global};
use crate::runner::{self, Session};
use anyhow::Result;
use clap::Args;

/// Stored checkpoints to result tables; also after the `evaluation` of the sweep file changed.
#[derive(Debug, Args)]
pub struct Evaluate {
    /// The sweep file
    sweep: String,
}

impl Evaluate {
    /// Picks values by validation, ranks the test part, tests, and writes the tables.
    ///
    /// # Errors
    /// A bad sweep file, trials that are not trained, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = Session::open(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        let endings = runner::stored_endings(&session)?;
        let results = runner::evaluate(&session, &endings)?;
        Ok(results.ending())
    }
}

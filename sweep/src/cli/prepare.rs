//! `ranksweep prepare SWEEP.yaml`

use super::{Ending, Global, engine::Preparing, planned::Planned};
use crate::runner;
use anyhow::Result;
use clap::Args;

/// Raw interactions to prepared datasets.
#[derive(Debug, Args)]
pub struct Prepare {
    /// The sweep file
    sweep: String,
    #[command(flatten)]
    plan: Planned,
    #[command(flatten)]
    preparing: Preparing,
}

impl Prepare {
    /// Prepares what is not prepared yet.
    ///
    /// # Errors
    /// A bad sweep file, data that cannot be prepared, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = self.plan.begin(&self.sweep, self.preparing.machine(global), global)?;
        runner::prepare(&session)?;
        Ok(Ending::Done)
    }
}

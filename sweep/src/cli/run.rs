//! `ranksweep run SWEEP.yaml`

use super::{Ending, Global, engine::Preparing, output, report};
use crate::runner::{self, Session};
use anyhow::Result;
use clap::Args;

/// Everything, from raw interactions to the report.
#[derive(Debug, Args)]
pub struct Run {
    /// The sweep file
    sweep: String,
    /// Also try trials again that failed in a way that is remembered, as after another build or another machine
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    preparing: Preparing,
}

impl Run {
    /// Does what is not done yet.
    ///
    /// # Errors
    /// A bad sweep file, data that cannot be prepared, or a store that fails. Failed trials are no error but an [`Ending`].
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = Session::open(&self.sweep, global.storage.as_deref(), self.preparing.machine(global), global.progress())?;
        session.devices()?;
        runner::prepare(&session)?;
        if self.retry_failed {
            runner::forget_failures(&session)?;
        }
        let endings = runner::train(&session)?;
        let results = runner::evaluate(&session, &endings)?;
        let report = runner::report(&session, &results)?;
        output::print(&report::terminal(&report, &session, &results))?;
        Ok(results.ending())
    }
}

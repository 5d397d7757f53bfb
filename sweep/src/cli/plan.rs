//! `ranksweep plan SWEEP.yaml`

use super::{Ending, Global, output};
use crate::{
    plan,
    runner::{self, Session},
};
use anyhow::Result;
use clap::Args;

/// The resolved sweep, in words or as JSON.
#[derive(Debug, Args)]
pub struct Plan {
    /// The sweep file
    sweep: String,
    /// Print plan.json instead of words
    #[arg(long)]
    json: bool,
}

impl Plan {
    /// Prints; writes nothing.
    ///
    /// # Errors
    /// A bad sweep file, or source files that cannot be read.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = Session::open(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        let text = match self.json {
            true => session.plan.to_json(),
            false => {
                let found = session.found()?;
                let text = plan::show(&session.plan, &found, global.memory, &session.file.resources.value);
                text + &plan::show_tests(&session.plan, &found, &runner::pilots(&session)?)
            }
        };
        output::print(&text)?;
        Ok(Ending::Done)
    }
}

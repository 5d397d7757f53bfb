//! `ranksweep plan SWEEP.yaml`

use super::{Ending, Global, output};
use crate::{
    plan,
    runner::{self, Session},
    submission::chosen,
};
use anyhow::Result;
use clap::Args;

/// The resolved sweep, in words or as JSON.
#[derive(Debug, Args)]
pub struct PlanArguments {
    /// The sweep file
    sweep: String,
    /// Print plan.json instead of words
    #[arg(long)]
    json: bool,
}

impl PlanArguments {
    /// Prints; writes nothing.
    ///
    /// # Errors
    /// A bad sweep file, or source files that cannot be read.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = Session::open(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        if self.json {
            output::print_exact(&session.plan.to_json())?;
            return Ok(Ending::Done);
        }
        let found = session.found()?;
        let previews: String = session.previews().into_iter().map(|lines| lines.join("\n") + "\n\n").collect();
        let (resources, device) = (&session.file.resources.value, session.file.device.value);
        let text = plan::show(&session.plan, &found, global.memory, resources, device);
        let is_for_a_cluster = session.file.resources.is_given();
        let batches = if is_for_a_cluster { chosen(&session)? } else { None };
        let batches = batches.map_or_else(String::new, |chosen| format!("on a cluster: {}", chosen.words()));
        output::print(&(previews + &text + &batches + &plan::show_tests(&session.plan, &found, &runner::pilots(&session)?)))?;
        Ok(Ending::Done)
    }
}

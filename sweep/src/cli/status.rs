//! `ranksweep status SWEEP.yaml|NAME`

use super::{
    Ending, Global,
    namespace::{Namespace, way},
    output,
};
use crate::{
    file::Named,
    status::{SweepStatus, find, show, without_model},
};
use anyhow::{Result, bail};
use clap::Args;
use cluster::client::ClientError;
use console::Term;
use std::{thread, time::Duration};

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(5);

/// How a sweep fares.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// The sweep file, or the sweep's name, by which only the cluster's side is known
    sweep: String,
    #[command(flatten)]
    namespace: Namespace,
    /// Print JSON in place of tables; with --watch each look in a line
    #[arg(long)]
    json: bool,
    /// Look again every 5 seconds until the sweep has ended; the exit code is 1 where a trial has no model then
    #[arg(long)]
    watch: bool,
}

impl StatusArguments {
    /// Prints what the cluster and the storage know; where only one can be asked, what it knows.
    ///
    /// # Errors
    /// A bad sweep file, or neither of them to ask.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let named = Named::of(&self.sweep)?;
        // A sweep that was seen on the cluster has not ended because the cluster does not answer.
        let mut was_seen = false;
        loop {
            let cluster = self.namespace.cluster();
            match find(&named, &way(global), &cluster) {
                Ok(status) => {
                    let is_read = self.print(&status)?;
                    was_seen |= status.cluster.is_some();
                    if !self.watch || !is_read {
                        return Ok(Ending::Done);
                    }
                    if status.has_ended() && !(was_seen && status.is_unanswered) {
                        return failed(&status).map_or(Ok(Ending::Done), |failed| bail!("{failed}"));
                    }
                }
                Err(error) if was_seen && error.downcast_ref::<ClientError>().is_some_and(ClientError::is_transient) => {
                    output::print_aside(&format!("{error}; asking again\n"))?;
                }
                Err(error) => return Err(error),
            }
            thread::sleep(LOOK);
        }
    }

    /// Prints it, and says whether anybody reads it.
    fn print(&self, status: &SweepStatus) -> Result<bool> {
        if self.json {
            let text = if self.watch { serde_json::to_string(status)? } else { serde_json::to_string_pretty(status)? };
            return output::print_exact(&format!("{text}\n")).map(|()| true);
        }
        let term = Term::stdout();
        if self.watch && term.is_term() {
            term.clear_screen()?;
        }
        output::print_on(&show(status, output::width()))
    }
}

/// What failed of a sweep that has ended: its trials, or, where the storage cannot be read, a stage of the cluster.
fn failed(status: &SweepStatus) -> Option<String> {
    if status.storage.is_some() {
        return without_model(&status.trials);
    }
    let stage = status.cluster.iter().flat_map(|cluster| &cluster.stages).find(|stage| stage.failed)?;
    Some(format!("{}: {}", stage.stage, stage.state))
}

//! `ranksweep train SWEEP.yaml [--index N [--rung R] | --trial ID]`

use super::{Ending, Global, Usage};
use crate::runner::{self, Session};
use anyhow::Result;
use clap::Args;

/// All trials, or one: what a pod runs.
#[derive(Debug, Args)]
pub struct Train {
    /// The sweep file
    sweep: String,
    /// Only the trial at this place of the plan, counted from 0 as `ranksweep plan` prints it
    #[arg(long, value_name = "N", conflicts_with = "trial")]
    index: Option<usize>,
    /// With --index: up to rung R of successive halving, from 0, where N counts the trials that have come to it
    #[arg(long, value_name = "R", requires = "index", conflicts_with = "trial")]
    rung: Option<usize>,
    /// Only the trial with this id
    #[arg(long, value_name = "ID")]
    trial: Option<String>,
}

impl Train {
    /// Trains what is not trained yet.
    ///
    /// # Errors
    /// A bad sweep file, a dataset that is not prepared, or a trial that the plan does not have.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = Session::open(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        if let (Some(index), Some(rung)) = (self.index, self.rung) {
            let ending = runner::train_in_rung(&session, index, rung)?;
            return Ok(Ending::of(ending.iter().filter(|ending| ending.error().is_some()).count()));
        }
        let asked = match (self.index, &self.trial) {
            (None, None) => None,
            (Some(index), _) => Some(session.plan.trial_at(index)),
            (_, Some(id)) => Some(session.plan.trial_named(id)),
        };
        let endings = match asked.transpose().map_err(|error| Usage(error.to_string()))? {
            None => runner::train(&session)?,
            Some(planned) => vec![runner::train_one(&session, planned)?],
        };
        Ok(Ending::of(endings.iter().filter(|ending| ending.error().is_some()).count()))
    }
}

//! `ranksweep train SWEEP.yaml [--index N [--rung R] [--batch K] | --trial ID]`

use super::{Ending, Global, Usage, planned::Planned};
use crate::runner;
use anyhow::Result;
use clap::Args;
use std::time::Duration;

/// All trials, or one: what a pod runs.
#[derive(Debug, Args)]
pub struct Train {
    /// The sweep file
    sweep: String,
    #[command(flatten)]
    plan: Planned,
    /// Only the trial at this place of the plan, counted from 0 as `ranksweep plan` prints it
    #[arg(long, value_name = "N", conflicts_with = "trial")]
    index: Option<usize>,
    /// With --index: up to rung R of successive halving, from 0, where N counts the trials that have come to it
    #[arg(long, value_name = "R", requires = "index", conflicts_with = "trial")]
    rung: Option<usize>,
    /// With --index: the trials of a batch of K, where N counts the batches: one after the other, or as many at once as share a GPU
    #[arg(long, value_name = "K", requires = "index", conflicts_with = "trial", value_parser = clap::value_parser!(u32).range(1..))]
    batch: Option<u32>,
    /// Only the trial with this id
    #[arg(long, value_name = "ID")]
    trial: Option<String>,
    /// Share the sweep with other processes on the same storage: each takes trials that no other works on, and all end together. The trials
    /// of a process that was silent for so many minutes are taken over [default: 3]
    #[arg(
        long,
        value_name = "MINUTES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "3",
        conflicts_with_all = ["index", "trial"],
        value_parser = silence
    )]
    share: Option<Duration>,
}

/// Minutes as a duration of at most a day.
fn silence(text: &str) -> Result<Duration, String> {
    let minutes = text.parse().ok().filter(|minutes: &f64| (0.001..=1_440.0).contains(minutes));
    minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes)).ok_or_else(|| "expected minutes between 0.001 and 1440".to_owned())
}

impl Train {
    /// Trains what is not trained yet.
    ///
    /// # Errors
    /// A bad sweep file, a dataset that is not prepared, or a trial that the plan does not have.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = self.plan.open(&self.sweep, global)?;
        if let (Some(index), Some(batch)) = (self.index, self.batch) {
            return Ok(Ending::of_batch(&runner::train_batch(&session, index, batch as usize, self.rung)?));
        }
        if let (Some(index), Some(rung)) = (self.index, self.rung) {
            let standing = runner::train_in_rung(&session, index, rung)?;
            return Ok(standing.map_or(Ending::Done, |standing| Ending::of_one(&standing)));
        }
        let asked = match (self.index, &self.trial) {
            (None, None) => None,
            (Some(index), _) => Some(session.plan.trial_at(index)),
            (_, Some(id)) => Some(session.plan.trial_named(id)),
        };
        Ok(match asked.transpose().map_err(|error| Usage(error.to_string()))? {
            None => Ending::of_all(&match self.share {
                None => runner::train(&session)?,
                Some(silence) => runner::train_shared(&session, silence)?,
            }),
            Some(planned) => Ending::of_one(&runner::train_one(&session, planned)?),
        })
    }
}

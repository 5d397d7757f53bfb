//! `ranksweep evaluate SWEEP.yaml`, or `ranksweep evaluate --checkpoints URL --dataset URL --out URL`

use super::{Ending, Global, output, planned::Planned, report, stored::EvaluatorArguments};
use crate::runner;
use anyhow::Result;
use clap::Args;

/// Stored checkpoints to result tables.
#[derive(Debug, Args)]
pub struct Evaluate {
    /// The sweep file: pick values by validation, rank the picked trials and write the sweep's tables, by its `evaluation` as it now is
    #[arg(conflicts_with = "checkpoints")]
    sweep: Option<String>,
    #[command(flatten)]
    plan: Planned,
    /// Also when trials failed or did not end: the tables say which, and the exit code is 0 all the same
    #[arg(long, conflicts_with = "checkpoints")]
    partial: bool,
    /// Also write the leaderboard and the report, and print the leaderboard
    #[arg(long, conflicts_with = "checkpoints")]
    report: bool,
    /// Also rank every other trial that was trained to its end, and write all_trials.parquet: to look at, and not to select by
    #[arg(long, conflicts_with = "checkpoints")]
    all: bool,
    /// Without a sweep file: rank all checkpoints of a folder, by flags
    #[command(flatten)]
    stored: EvaluatorArguments,
}

impl Evaluate {
    /// Ranks, tests and writes.
    ///
    /// # Errors
    /// A bad sweep file, trials that are not trained, flags out of range, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        match (&self.sweep, &self.stored.0) {
            (None, Some(stored)) => {
                output::print(&stored.run(global.memory)?.to_string())?;
                Ok(Ending::Done)
            }
            (sweep, _) => {
                let path = sweep.as_deref().unwrap_or_default();
                let session = self.plan.open(path, global)?;
                let standings = if self.partial { runner::standings(&session)? } else { runner::stored_endings(&session)? };
                let results = runner::evaluate(&session, &standings)?;
                if self.report {
                    output::print(&report::terminal(&runner::report(&session, &results)?, &session, &results))?;
                }
                if self.all {
                    runner::rank_all(&session, &results)?;
                }
                Ok(if self.partial { Ending::Done } else { results.ending() })
            }
        }
    }
}

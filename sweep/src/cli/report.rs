//! `ranksweep report SWEEP.yaml`

use super::{Ending, Global, output, planned::Planned};
use crate::{
    report::{Report as Findings, Style},
    runner::{self, Results, Session},
};
use anyhow::Result;
use clap::Args;

/// The leaderboard and the report, from the stored tables.
#[derive(Debug, Args)]
pub struct Report {
    /// The sweep file
    sweep: String,
    #[command(flatten)]
    plan: Planned,
}

impl Report {
    /// Writes `leaderboard.parquet` and `report.html`, and prints the leaderboard.
    ///
    /// # Errors
    /// A bad sweep file, tables that are missing or of another plan, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = self.plan.open(&self.sweep, global)?;
        let results = Results::read(&session)?;
        let report = runner::report(&session, &results)?;
        output::print(&terminal(&report, &session, &results))?;
        Ok(results.ending())
    }
}

/// The leaderboard for whoever reads standard output.
pub(super) fn terminal(report: &Findings, session: &Session, results: &Results) -> String {
    let style = Style { width: output::width(), color: output::is_colored() };
    report.terminal(&results.input(session), style) + "\n"
}

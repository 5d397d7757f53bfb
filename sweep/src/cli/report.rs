//! `ranksweep report SWEEP.yaml`

use super::{Ending, Global, Usage, output, planned::Planned};
use crate::{
    report::{Report, ReportFormat, Style},
    runner::{self, Results, Session},
};
use anyhow::Result;
use clap::Args;
use dataset::Location;

/// The leaderboard and the report, from the stored tables.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The sweep file
    sweep: String,
    #[command(flatten)]
    plan: Planned,
    /// The format: the page, or each dataset's leaderboard as a table to paste; when left out, what the suffix of --out says (.html, .md, .tex, .csv), html without --out
    #[arg(long, value_enum)]
    format: Option<ReportFormat>,
    /// Where it goes; when left out, the page goes into the sweep's folder and the leaderboard is printed, and tables are printed
    #[arg(short, long, value_name = "URL")]
    out: Option<String>,
    /// A folder for the report's pictures, each as an SVG file
    #[arg(long, value_name = "URL")]
    figures: Option<String>,
}

impl ReportArguments {
    /// Writes `leaderboard.parquet` and `report.html`, and prints the leaderboard, or writes it in another format.
    ///
    /// # Errors
    /// A bad sweep file, tables that are missing or of another plan, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let parse = |flag: &str, url: &String| Location::parse(url).map_err(|error| Usage(format!("{flag}: {error}")));
        let out = self.out.as_ref().map(|url| parse("--out", url)).transpose()?;
        let figures = self.figures.as_ref().map(|url| parse("--figures", url)).transpose()?;
        let format = match (self.format, &out) {
            (Some(format), _) => format,
            (None, None) => ReportFormat::Html,
            (None, Some(out)) => {
                ReportFormat::of_file(out.name()).or_else(|| output::is_stdout(out).then_some(ReportFormat::Html)).ok_or_else(|| {
                    Usage(format!("--out: {out} has no suffix of a format (expected .html, .md, .tex or .csv, or give --format)"))
                })?
            }
        };
        let session = self.plan.open_ran(&self.sweep, global)?;
        runner::check_out(&session, &self.sweep, out.as_slice())?;
        let results = Results::read(&session)?;
        let report = runner::report(&session, &results)?;
        if let Some(folder) = figures {
            let files = report.figures(&results.input(&session))?;
            files.into_iter().try_for_each(|(name, svg)| folder.join(&name).write(svg))?;
            output::print_aside(&format!("{folder}\n"))?;
        }
        let text = || report.export(&results.input(&session), format);
        match out {
            Some(out) => {
                out.write(text()?)?;
                let said = format!("{out}\n");
                if output::is_stdout(&out) { output::print_aside(&said) } else { output::print(&said) }?;
            }
            None if format == ReportFormat::Html => output::print(&terminal(&report, &session, &results))?,
            None => output::print(&text()?)?,
        }
        Ok(Ending::Done)
    }
}

/// The leaderboard for whoever reads standard output, and where the report is.
pub(super) fn terminal(report: &Report, session: &Session, results: &Results) -> String {
    let style = Style { width: output::width(), color: output::is_colored() };
    format!("{}\n\nreport: {}\n", report.terminal(&results.input(session), style), session.folder().join("report.html"))
}

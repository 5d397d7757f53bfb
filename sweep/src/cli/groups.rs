//! `ranksweep groups SWEEP.yaml --users FILE --column NAME`

use super::{Ending, Global, Usage, named_tables::NamedTables, output};
use crate::{groups::UserGroups, report::Style, runner::StoredSweep, user_rows};
use anyhow::Result;
use clap::Args;
use dataset::Location;
use evaluator::MetricAt;

/// How the methods of a sweep that has run serve groups of users.
#[derive(Debug, Args)]
pub struct GroupsArguments {
    /// A sweep file that has run, or a folder of its tables
    sweep: String,
    /// A table of users: CSV or .tsv with a header, or .parquet, with a column user_id of the users' own ids
    #[arg(long, value_name = "FILE")]
    users: String,
    /// The column whose values are the groups
    #[arg(long, value_name = "NAME")]
    column: String,
    /// The metric: ndcg@20; the one that decides in the sweep when left out
    #[arg(long, value_name = "METRIC")]
    metric: Option<MetricAt>,
    /// Also write every method on every group as a Parquet table
    #[arg(short, long, value_name = "URL")]
    out: Option<String>,
}

impl GroupsArguments {
    /// Reads the sweep's tables and the file, prints the groups, and writes the table where it is asked for.
    ///
    /// # Errors
    /// A sweep that has not run, or only by another plan, a file that cannot be read, lacks a column or knows none of the users, a metric that the sweep has not.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let users = Location::parse(&self.users).map_err(|error| Usage(format!("--users: {error}")))?;
        let out = self.out.as_ref().map(|url| output::parquet("--out", url)).transpose()?;
        let named = NamedTables::find(&self.sweep, global)?;
        out.iter().try_for_each(|out| named.check_out(out))?;
        let sweep = StoredSweep::read(&named.folder)?;
        let rows = user_rows::read(&users, &[&self.column])?;
        let groups = UserGroups::new(&sweep, &self.column, rows, self.metric).map_err(|error| match error.is::<Usage>() {
            true => error,
            false => error.context(users.to_string()),
        })?;
        let style = Style { width: output::width(), color: output::is_colored() };
        output::print(&format!("{}\n", groups.terminal(style)))?;
        if let Some(out) = out {
            groups.write(&out)?;
            output::print(&format!("{out}\n"))?;
        }
        Ok(Ending::Done)
    }
}

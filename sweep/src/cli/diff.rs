//! `ranksweep diff A [B]`

use super::{Ending, Global, Usage, named_tables::NamedTables, output};
use crate::{
    diff::{DiffFormat, Difference},
    report::Style,
    runner::StoredSweep,
};
use anyhow::Result;
use clap::Args;
use evaluator::MetricAt;

/// Two sweeps side by side, from their stored tables.
#[derive(Debug, Args)]
pub struct Diff {
    /// A sweep file that has run, or a folder of its tables: runs/sweeps/NAME, or runs/sweeps/NAME/history/1-1f2e3d4c5b6a7988
    #[arg(value_name = "A")]
    first: String,
    /// The sweep that A is compared with; when left out, the sweep that is named is B, and A what stood under its name before
    #[arg(value_name = "B")]
    second: Option<String>,
    /// The metric: ndcg@20; the one that decides in A when left out
    #[arg(long, value_name = "METRIC")]
    metric: Option<MetricAt>,
    /// How the comparison is printed
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    format: DiffFormat,
    /// Also write the comparison as a Parquet table
    #[arg(short, long, value_name = "URL")]
    out: Option<String>,
}

impl Diff {
    /// Reads both sweeps' tables, prints what differs, and writes the table where it is asked for.
    ///
    /// # Errors
    /// Sweeps that have not run, tables that are of another plan or the same twice, a metric that one has not, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let out = self.out.as_ref().map(|url| output::parquet("--out", url)).transpose()?;
        let named = NamedTables::find(&self.first, global)?;
        out.iter().try_for_each(|out| named.check_out(out))?;
        let (before, after) = self.sides(&named, global)?;
        let difference = Difference::new(&before, &after, self.metric)?;
        let style = Style { width: output::width(), color: output::is_colored() };
        output::print(&difference.export(self.format, style)?)?;
        if let Some(out) = out {
            difference.write(&out)?;
            let said = format!("{out}\n");
            if self.format == DiffFormat::Text { output::print(&said) } else { output::print_aside(&said) }?;
        }
        Ok(Ending::Done)
    }

    /// The tables of A and B; where B is left out, those that stood before A, and A's.
    fn sides(&self, named: &NamedTables, global: &Global) -> Result<(StoredSweep, StoredSweep)> {
        let first = StoredSweep::read(&named.folder)?;
        let Some(second) = &self.second else {
            return Ok((StoredSweep::read(&named.before()?)?, first));
        };
        let second = NamedTables::find(second, global)?.folder;
        if second.to_string() == first.folder.to_string() {
            return Err(Usage(format!("A and B are the same tables, {second}; name two sweeps")).into());
        }
        Ok((first, StoredSweep::read(&second)?))
    }
}

//! `ranksweep diff A [B]`

use super::{Ending, Global, Usage, output};
use crate::{
    diff::{DiffFormat, Difference},
    file::SweepFile,
    report::Style,
    runner::{StoredSweep, kept},
};
use anyhow::{Context, Result};
use clap::Args;
use dataset::Location;
use evaluator::MetricAt;
use std::path::Path;

/// Two sweeps side by side, from their stored tables.
#[derive(Debug, Args)]
pub struct Diff {
    /// A sweep file that has run, or a folder of its tables: runs/sweeps/NAME, or runs/sweeps/NAME/history/1-1f2e3d4c5b6a7988
    #[arg(value_name = "A")]
    first: String,
    /// The sweep that is compared with A; when left out, A is compared with what stood under its name before
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
    /// Sweeps that have not run, a metric that one has not, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let out = self.out.as_ref().map(|url| Location::parse(url).map_err(|error| Usage(format!("--out: {error}")))).transpose()?;
        let first = folder(&self.first, global)?;
        let [before, after] = match &self.second {
            Some(second) => [first, folder(second, global)?],
            None => [before(&first)?, first],
        };
        let (before, after) = (StoredSweep::read(&before)?, StoredSweep::read(&after)?);
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
}

/// The folder of tables that an argument names: itself, or that of a sweep file.
pub(super) fn folder(argument: &str, global: &Global) -> Result<Location> {
    if !Path::new(argument).is_file() {
        let is_file = [".yaml", ".yml"].iter().any(|suffix| argument.ends_with(suffix));
        let missing = || Usage(format!("cannot read the sweep file `{argument}`: there is none"));
        return if is_file { Err(missing().into()) } else { Ok(Location::parse(argument)?) };
    }
    let file = SweepFile::open(argument)?;
    Ok(file.storage_or(global.storage.as_deref())?.join("sweeps").join(&file.name.value))
}

/// What stood under a sweep's name before.
fn before(sweep: &Location) -> Result<Location> {
    let none = || Usage(format!("{sweep} has no history: no other plan has run under this name; name two sweeps"));
    let kept = kept(sweep).with_context(|| sweep.to_string())?.pop().ok_or_else(none)?;
    Ok(kept.folder)
}

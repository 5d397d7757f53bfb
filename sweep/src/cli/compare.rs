//! `ranksweep compare SWEEP.yaml...`

use super::{Ending, Global, Usage, output};
use crate::{
    compare::{Compared, Ran},
    report::Style,
    runner::{COMPARED, COMPARISON, Results, Session, check_out_of_storage},
};
use anyhow::{Context, Result};
use clap::Args;
use dataset::Location;
use evaluator::MetricAt;

/// The methods over all datasets of one sweep or several.
#[derive(Debug, Args)]
pub struct Compare {
    /// Sweep files that have run; methods are joined by their key, datasets by their name
    #[arg(required = true, value_name = "SWEEP")]
    sweeps: Vec<String>,
    /// The metric: ndcg@20; the one that decides in the first sweep when left out
    #[arg(long, value_name = "METRIC")]
    metric: Option<MetricAt>,
    /// A method, by its title or its key: all others are compared with it alone
    #[arg(long, value_name = "METHOD")]
    against: Option<String>,
    /// The folder for the tables, the diagram and the page; `compare` beside the first sweep's tables when left out
    #[arg(short, long, value_name = "URL")]
    out: Option<String>,
}

impl Compare {
    /// Compares, writes and prints.
    ///
    /// # Errors
    /// Sweeps that have not run, that do not go together or that have too little in common, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let folder = self.out.as_ref().map(|url| Location::parse(url).map_err(|error| Usage(format!("--out: {error}")))).transpose()?;
        let sweeps = self.sweeps.iter().map(|path| read(path, global)).collect::<Result<Vec<Ran>>>()?;
        let compared = Compared::new(&sweeps, self.metric, self.against.as_deref())?;
        let folder = folder.unwrap_or_else(|| sweeps[0].session.folder().join(COMPARED));
        check_out_of_storage(sweeps[0].session.storage(), &folder.join(COMPARISON[0]))?;
        let written = compared.write(&folder)?;
        let style = Style { width: output::width(), color: output::is_colored() };
        output::print(&format!("{}\n{folder}: {}\n", compared.terminal(style), written.join(", ")))?;
        Ok(Ending::Done)
    }
}

fn read(path: &str, global: &Global) -> Result<Ran> {
    let session = Session::ran(path, global.storage.as_deref(), global.machine(), global.progress())?;
    let results = Results::read(&session).with_context(|| path.to_owned())?;
    Ok(Ran { path: path.to_owned(), session, results })
}

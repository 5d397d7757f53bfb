//! `ranksweep list`

use super::{Ending, Global, Usage, namespace::Namespace, output};
use crate::status::{StoredPlan, stored};
use anyhow::{Result, bail};
use clap::Args;
use cluster::client::{ClientError, Listed, list};
use comfy_table::{ContentArrangement, Table, TableComponent, presets};
use dataset::{Location, block_on};
use serde::Serialize;

/// The sweeps of a storage, or of a namespace.
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    namespace: Namespace,
    /// Print JSON in place of a table
    #[arg(long)]
    json: bool,
}

impl List {
    /// Prints what a storage has tables of, where one is named; else all submissions that are on the cluster, the newest first.
    ///
    /// # Errors
    /// A storage that cannot be listed, or refusals of the cluster.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        if let Some(url) = &global.storage {
            let storage = Location::parse(url).map_err(|error| Usage(format!("--storage: {error}")))?;
            return self.print(&stored(&storage)?, &format!("no sweep has tables in {storage}"), of_storage);
        }
        let cluster = match self.namespace.cluster() {
            Err(error @ ClientError::NoCluster { .. }) => bail!("{error}; or name a storage: `--storage ./runs`"),
            cluster => cluster?,
        };
        let listed = block_on(list(&cluster))?;
        self.print(&listed, &format!("no sweep is in namespace {}", self.namespace.name()), of_cluster)
    }

    fn print<T: Serialize>(&self, listed: &[T], none: &str, table: fn(&[T]) -> Table) -> Result<Ending> {
        match self.json {
            true => output::print_exact(&format!("{}\n", serde_json::to_string_pretty(listed)?))?,
            false if listed.is_empty() => output::print(&format!("{none}\n"))?,
            false => output::print(&format!("{}\n", table(listed)))?,
        }
        Ok(Ending::Done)
    }
}

fn of_cluster(listed: &[Listed]) -> Table {
    let mut table = with_header(&["sweep", "submission", "submitted", "state"]);
    table.add_rows(listed.iter().map(|one| [&one.sweep, &one.submission, &one.submitted, &one.state]));
    table
}

fn of_storage(listed: &[StoredPlan]) -> Table {
    let mut table = with_header(&["sweep", "plan", "methods", "trials", "best", "folder"]);
    table.add_rows(listed.iter().map(|one| {
        let (methods, trials) = (one.methods.to_string(), one.trials.to_string());
        [one.sweep.clone(), one.plan.clone(), methods, trials, one.best.join("\n"), one.folder.clone()]
    }));
    table
}

fn with_header(names: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.remove_style(TableComponent::HorizontalLines).remove_style(TableComponent::MiddleIntersections);
    table.set_width(output::width().unwrap_or(u16::MAX)).set_header(names.to_vec());
    table
}

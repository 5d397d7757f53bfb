//! `ranksweep list`

use super::{Ending, namespace::Namespace, output};
use anyhow::Result;
use clap::Args;
use cluster::client::{Listed, list};
use comfy_table::{ContentArrangement, Table, TableComponent, presets};
use dataset::block_on;

/// The sweeps of a namespace.
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    namespace: Namespace,
    /// Print JSON in place of a table
    #[arg(long)]
    json: bool,
}

impl List {
    /// Prints all submissions that are on the cluster, the newest first.
    ///
    /// # Errors
    /// Refusals of the cluster.
    pub fn run(&self) -> Result<Ending> {
        let listed = block_on(list(&self.namespace.cluster()?))?;
        match self.json {
            true => output::print_exact(&format!("{}\n", serde_json::to_string_pretty(&listed)?))?,
            false if listed.is_empty() => output::print(&format!("no sweep is in namespace {}\n", self.namespace.name()))?,
            false => output::print(&table(&listed, output::width()))?,
        }
        Ok(Ending::Done)
    }
}

fn table(listed: &[Listed], width: Option<u16>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.remove_style(TableComponent::HorizontalLines).remove_style(TableComponent::MiddleIntersections);
    table.set_width(width.unwrap_or(u16::MAX)).set_header(["sweep", "submission", "submitted", "state"]);
    table.add_rows(listed.iter().map(|one| [&one.sweep, &one.submission, &one.submitted, &one.state]));
    format!("{table}\n")
}

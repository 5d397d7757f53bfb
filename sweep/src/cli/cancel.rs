//! `ranksweep cancel SWEEP.yaml`

use super::{Ending, namespace::Namespace, output};
use crate::file::SweepFile;
use anyhow::Result;
use clap::Args;
use cluster::client::cancel;
use dataset::block_on;

/// The end of a sweep on the cluster, before its time.
#[derive(Debug, Args)]
pub struct Cancel {
    /// The sweep file; only its name is used
    sweep: String,
    #[command(flatten)]
    namespace: Namespace,
}

impl Cancel {
    /// Removes the sweep's objects, and waits until its pods have stopped.
    ///
    /// # Errors
    /// A bad sweep file, or what the cluster refuses.
    pub fn run(&self) -> Result<Ending> {
        let file = SweepFile::open(&self.sweep)?;
        let (sweep, namespace) = (&file.name.value, self.namespace.name());
        let removed = block_on(cancel(&self.namespace.cluster()?, sweep))?;
        let text = match removed.join(", ") {
            none if none.is_empty() => format!("sweep {sweep} is not on the cluster, in namespace {namespace}; nothing was changed\n"),
            hashes => format!(
                "sweep {sweep}: stopped and removed ({hashes}). What it has stored stays: `ranksweep submit {}` goes on\n",
                self.sweep
            ),
        };
        output::print(&text)?;
        Ok(Ending::Done)
    }
}

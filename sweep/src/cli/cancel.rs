//! `ranksweep cancel SWEEP.yaml|NAME`

use super::{Ending, hint::Hint, namespace::Namespace, output};
use crate::file::Named;
use anyhow::Result;
use clap::Args;
use cluster::client::cancel;
use dataset::block_on;

/// The end of a sweep on the cluster, before its time.
#[derive(Debug, Args)]
pub struct Cancel {
    /// The sweep file, of which only the name is read, or the sweep's name
    sweep: String,
    #[command(flatten)]
    namespace: Namespace,
    /// Only this submission; all of the sweep's when left out
    #[arg(long, value_name = "HASH")]
    submission: Option<String>,
}

impl Cancel {
    /// Removes the sweep's objects, and waits until its pods have stopped.
    ///
    /// # Errors
    /// A file without a name, or what the cluster refuses.
    pub fn run(&self) -> Result<Ending> {
        let named = Named::of(&self.sweep)?;
        let (sweep, namespace) = (&named.name, self.namespace.name());
        let removed = block_on(cancel(&self.namespace.cluster()?, sweep, self.submission.as_deref()))?;
        let again = |file: &String| Hint { sweep: file, namespace, storage: None }.command("submit", &[]);
        let again = named.file.as_ref().map_or_else(|| "submitting it again".to_owned(), again);
        let text = match (removed.join(", "), &self.submission) {
            (none, Some(hash)) if none.is_empty() => {
                format!("sweep {sweep} has no submission {hash} on the cluster, in namespace {namespace}; nothing was changed\n")
            }
            (none, None) if none.is_empty() => {
                format!("sweep {sweep} is not on the cluster, in namespace {namespace}; nothing was changed\n")
            }
            (hashes, _) => format!("sweep {sweep}: stopped and removed ({hashes}). What it has stored stays: {again} goes on\n"),
        };
        output::print(&text)?;
        Ok(Ending::Done)
    }
}

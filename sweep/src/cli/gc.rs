//! `ranksweep gc SWEEP.yaml`

use super::{Ending, Global, output};
use crate::{
    gc::{self, Extent, Orphan},
    runner::Session,
};
use anyhow::Result;
use clap::Args;
use std::fmt::Write;

/// Remove what killed processes left on the storage, while nothing works on it
#[derive(Debug, Args)]
pub struct Gc {
    /// The sweep file
    sweep: String,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Also remove finished trials and datasets that neither an evaluated sweep on the storage nor this sweep file holds; those of a sweep that
    /// was never evaluated are lost with it
    #[arg(long)]
    unreferenced: bool,
}

impl Gc {
    /// Finds and removes. Nothing may be at work on the storage meanwhile; where a shared training is, this refuses.
    ///
    /// # Errors
    /// A bad sweep file, a living claim, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = Session::open(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        if !self.dry_run {
            gc::refuse_while_shared(&session)?;
        }
        let orphans = gc::find(&session, if self.unreferenced { Extent::Unreferenced } else { Extent::Leftovers })?;
        if !self.dry_run {
            orphans.iter().try_for_each(Orphan::remove)?;
        }
        output::print(&text(&orphans, self.dry_run, session.storage().is_remote()))?;
        Ok(Ending::Done)
    }
}

/// One line for each file, and what they come to.
fn text(orphans: &[Orphan], is_dry: bool, is_remote: bool) -> String {
    let mut text = String::new();
    for Orphan { path, bytes, reason, .. } in orphans {
        writeln!(text, "{path}  {}  {reason}", output::size(*bytes)).expect("a text takes any text");
    }
    let (count, bytes) = (orphans.len(), orphans.iter().map(|orphan| orphan.bytes).sum());
    let files = if count == 1 { "file" } else { "files" };
    let done = if is_dry { "would be removed" } else { "removed" };
    writeln!(text, "{count} {files} {done}, {}", output::size(bytes)).expect("a text takes any text");
    if is_remote {
        text += "parts of uploads that were cut off are not listed here: let the bucket drop them (AbortIncompleteMultipartUpload)\n";
    }
    text
}

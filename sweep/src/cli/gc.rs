//! `ranksweep gc SWEEP.yaml`

use super::{Ending, Global, Usage, output};
use crate::{
    gc::{self, Age, Extent, Orphan},
    runner::Session,
};
use anyhow::Result;
use clap::Args;
use std::{
    collections::HashMap,
    fmt::Write,
    io::{self, IsTerminal},
    time::Duration,
};

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
    /// Minutes for which a dataset, a trial or a sweep is left alone after something was written there: a process may be at work on it
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    min_age: u64,
    /// Remove without asking; needed where nobody can answer, as in a script
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
}

impl Gc {
    /// Finds, lists, asks and removes. Nothing may be at work on the storage meanwhile; where a training is seen, this refuses.
    ///
    /// # Errors
    /// A bad sweep file, a storage that ranksweep has not marked, a living claim, or a store that fails; [`Usage`] where nobody can be asked.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = Session::open(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        if !self.dry_run {
            gc::refuse_while_training(&session)?;
        }
        let (mut orphans, young) = self.find(&session)?;
        output::print(&list(&orphans))?;
        let is_asked = !self.dry_run && !self.yes && !orphans.is_empty();
        let goes = !self.dry_run && (!is_asked || ask(&orphans, global.stop_with_stdin)?);
        if goes && is_asked {
            // The answer may have come hours later: what is no leftover any longer stays.
            gc::refuse_while_training(&session)?;
            let still: HashMap<_, _> = self.find(&session)?.0.into_iter().map(|orphan| (orphan.path, orphan.reason)).collect();
            orphans.retain(|orphan| still.get(&orphan.path) == Some(&orphan.reason));
        }
        if goes {
            orphans.iter().try_for_each(Orphan::remove)?;
        }
        output::print(&total(&orphans, goes, session.storage().is_remote()))?;
        if !young.is_empty() {
            output::print(&left_alone(&young, self.min_age))?;
        }
        Ok(Ending::Done)
    }

    /// What can go, and what could but for its age.
    fn find(&self, session: &Session) -> Result<(Vec<Orphan>, Vec<Orphan>)> {
        let extent = if self.unreferenced { Extent::Unreferenced } else { Extent::Leftovers };
        let age = Age { least: Duration::from_secs(self.min_age.saturating_mul(60)), by_store: !self.dry_run };
        Ok(gc::find(session, extent, age)?.into_iter().partition(|orphan| !orphan.is_young))
    }
}

/// Whether the files may go, by the word of whoever sits at the terminal, whose input is not watched for its end.
fn ask(orphans: &[Orphan], is_watched: bool) -> Result<bool> {
    if is_watched || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let reason = format!("{} would be removed, and nobody can be asked here: pass --yes, or --dry-run to look", counted(orphans));
        return Err(Usage(reason).into());
    }
    output::print_aside(&format!("remove {}? [y/N] ", counted(orphans)))?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// One line for each file.
fn list(orphans: &[Orphan]) -> String {
    let mut text = String::new();
    for Orphan { path, bytes, reason, .. } in orphans {
        writeln!(text, "{path}  {}  {reason}", output::size(*bytes)).expect("a text takes any text");
    }
    text
}

/// What stays for its age, and what to do about it.
fn left_alone(young: &[Orphan], minutes: u64) -> String {
    let bytes = output::size(young.iter().map(|orphan| orphan.bytes).sum());
    format!(
        "{}, {bytes}, left alone: something was written beside them within {minutes} min; where nothing works on the storage any longer, --min-age 0 takes them too\n",
        counted(young)
    )
}

/// `3 files`
fn counted(orphans: &[Orphan]) -> String {
    if orphans.len() == 1 { "1 file".to_owned() } else { format!("{} files", orphans.len()) }
}

/// The number and size of the files, and whether they are gone.
fn total(orphans: &[Orphan], are_gone: bool, is_remote: bool) -> String {
    let bytes = output::size(orphans.iter().map(|orphan| orphan.bytes).sum());
    let mut text = format!("{} {}, {bytes}\n", counted(orphans), if are_gone { "removed" } else { "would be removed" });
    if is_remote {
        text += "parts of uploads that were cut off are not listed here: let the bucket drop them (AbortIncompleteMultipartUpload)\n";
    }
    text
}

//! `ranksweep man --out FOLDER`

use super::{Cli, Ending, Usage, output};
use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use dataset::Location;
use std::fs;

/// The manual's pages, one for each command.
#[derive(Debug, Args)]
pub struct Man {
    /// The folder for the pages, on this machine
    #[arg(short, long, value_name = "FOLDER")]
    out: String,
}

impl Man {
    /// Writes the pages.
    ///
    /// # Errors
    /// A folder that cannot be made or written into.
    pub fn run(&self) -> Result<Ending> {
        let out = Location::parse(&self.out).map_err(|error| Usage(format!("--out: {error}")))?;
        let folder = out.local_path().ok_or_else(|| Usage(format!("--out: {out} is no folder of this machine")))?;
        let failed = || format!("cannot write {out}");
        fs::create_dir_all(&folder).with_context(failed)?;
        clap_mangen::generate_to(Cli::command(), &folder).with_context(failed)?;
        output::print(&format!("{out}: read them by `man {out}/ranksweep.1`\n"))?;
        Ok(Ending::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_help_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("new/man1");
        assert_eq!(Man { out: out.to_str().unwrap().to_owned() }.run().unwrap(), Ending::Done);
        assert!(out.join("ranksweep.1").exists() && out.join("ranksweep-theory-bounds.1").exists());
        for command in Cli::command().get_subcommands() {
            let page = out.join(format!("ranksweep-{}.1", command.get_name()));
            assert_eq!(page.exists(), !command.is_hide_set(), "{}", page.display());
        }
    }

    #[test]
    fn a_server_takes_no_pages() {
        let error = Man { out: "memory:///man".to_owned() }.run().unwrap_err();
        assert_eq!(error.to_string(), "--out: memory:///man is no folder of this machine");
    }
}

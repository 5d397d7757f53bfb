//! `ranksweep doctor [--check] [--bench] [--out FILE]`

use super::{Ending, Global, Usage, output};
use crate::doctor::{self, DoctorReport};
use anyhow::{Result, bail};
use clap::Args;
use dataset::Location;

/// The devices that this program can train with here, and whether all of them compute the same.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Train a small sweep in every way that there is and compare them, and every kernel of each GPU with its twin on the CPU; the exit code
    /// is 1 where something differs
    #[arg(long)]
    check: bool,
    /// Time the kernels of each GPU, beside what it could move and compute in the time
    #[arg(long)]
    bench: bool,
    /// The file for all of it, as JSON; `doctor.json` for --check and --bench, and none without them, when left out
    #[arg(short, long, value_name = "FILE")]
    out: Option<String>,
}

impl Doctor {
    /// Looks, compares and times what is asked for, prints it and writes it.
    ///
    /// # Errors
    /// A device that computes something else, a GPU that is to be timed and is not there, or a file that cannot be written.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let default = (self.check || self.bench).then_some("doctor.json");
        let file = self.out.as_deref().or(default).map(Location::parse).transpose().map_err(|error| Usage(format!("--out: {error}")))?;
        let mut report = doctor::look();
        if self.check {
            doctor::check(&mut report, global.memory)?;
        }
        let timed = if self.bench { doctor::time(&mut report) } else { Ok(()) };
        output::print(&report.text())?;
        if timed.is_err() && !self.check && self.out.is_none() {
            return timed.map(|()| Ending::Done); // what `--check` wrote before stays
        }
        if let Some(file) = file {
            file.write(report.to_json())?;
            output::print(&format!("{file}\n"))?;
        }
        timed.and_then(|()| self.verdict(&report))
    }

    fn verdict(&self, report: &DoctorReport) -> Result<Ending> {
        let differing: Vec<&str> = report.differing().map(|judged| judged.comparison.what.as_str()).collect();
        match differing.first() {
            Some(first) => bail!("{} of {} comparisons differ, first: {first}", differing.len(), report.comparisons.len()),
            None if self.check && cfg!(feature = "cuda") && report.devices.is_empty() => {
                bail!("no GPU was checked: {}", report.missing.join("; "))
            }
            None => Ok(Ending::Done),
        }
    }
}

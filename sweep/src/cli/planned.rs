//! `--plan URL`: what a pod adds to the command of its stage.

use super::Global;
use crate::runner::{Machine, Session};
use anyhow::Result;
use clap::Args;

/// The plan that was submitted.
#[derive(Debug, Args)]
pub(super) struct Planned {
    /// The plan that `ranksweep submit` stored; the source files are then not read to know what they hold
    #[arg(long, value_name = "URL", requires = "sweep")]
    plan: Option<String>,
}

impl Planned {
    /// Opens the sweep with it, if there is one.
    pub(super) fn open(&self, sweep: &str, global: &Global) -> Result<Session> {
        Session::planned(sweep, global.storage.as_deref(), self.plan.as_deref(), global.machine(), global.progress())
    }

    /// The same, for what reads the tables of a sweep that ran.
    pub(super) fn open_ran(&self, sweep: &str, global: &Global) -> Result<Session> {
        match &self.plan {
            Some(_) => self.open(sweep, global),
            None => Session::ran(sweep, global.storage.as_deref(), global.machine(), global.progress()),
        }
    }

    /// The same, for the stage that begins, which stores the plan where nobody has.
    pub(super) fn begin(&self, sweep: &str, machine: Machine, global: &Global) -> Result<Session> {
        Session::beginning(sweep, global.storage.as_deref(), self.plan.as_deref(), machine, global.progress())
    }
}

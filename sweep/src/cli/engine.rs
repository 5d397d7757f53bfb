//! `--engine`: what prepares data.

use super::Global;
use crate::{file::AskedEngine, runner::Machine};
use clap::Args;

/// The flag of commands that prepare.
#[derive(Debug, Args)]
pub(super) struct Preparing {
    /// The engine that prepares data: memory, datafusion, which spills to the disk of TMPDIR, or the URL of an Apache Ballista scheduler,
    /// df://host:50050; when left out, that of the sweep file, else memory where the estimate fits in `--memory`, else datafusion. The results are
    /// the same for all
    #[arg(long, value_name = "ENGINE")]
    engine: Option<AskedEngine>,
}

impl Preparing {
    /// The machine that the work may use.
    pub(super) fn machine(&self, global: &Global) -> Machine {
        Machine { engine: self.engine.clone(), ..global.machine() }
    }
}

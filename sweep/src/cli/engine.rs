//! `--engine`: what prepares data.

use super::Global;
use crate::runner::Machine;
use clap::{Args, ValueEnum};

/// The flag of commands that prepare.
#[derive(Debug, Args)]
pub(super) struct Preparing {
    /// The engine that prepares data; memory where the estimate fits in `--memory`, else datafusion. The results are the same for both
    #[arg(long, value_enum, value_name = "ENGINE")]
    engine: Option<Engine>,
}

/// An engine by its name.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Engine {
    /// Arrays in memory
    Memory,
    /// Relations of DataFusion, which spill to the disk of TMPDIR
    Datafusion,
}

impl Preparing {
    /// The machine that the work may use.
    pub(super) fn machine(&self, global: &Global) -> Machine {
        let engine = self.engine.map(|engine| match engine {
            Engine::Memory => pipeline::Engine::Memory,
            Engine::Datafusion => pipeline::Engine::Datafusion,
        });
        Machine { engine, ..global.machine() }
    }
}

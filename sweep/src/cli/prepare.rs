//! `ranksweep prepare SWEEP.yaml`

use super::{Ending, Global};
use crate::runner::{self, Session};
use anyhow::Result;
use clap::Args;

/// Raw interactions to prepared datasets.
#[derive(Debug, Args)]
pub struct Prepare {
    /// The sweep file
    sweep: String,
}

impl Prepare {
    /// Prepares what is not prepared yet.
    ///
    /// # Errors
    /// A bad sweep file, data that cannot be prepared, or a store that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = Session::open(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        runner::prepare(&session)?;
        Ok(Ending::Done)
    }
}

//! `ranksweep refit SWEEP.yaml`

use super::{Ending, Global, output};
use crate::{
    model,
    runner::{self, Refit, Session},
    shell::quoted,
};
use anyhow::Result;
use clap::Args;

/// A trial trained on train, validation and test, for serving.
#[derive(Debug, Args)]
pub struct RefitArguments {
    /// The sweep file
    sweep: String,
    /// The dataset; may be left out where the sweep has one, or a trial is named
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// The method, as the leaderboard calls it; its winner when left out
    #[arg(long, value_name = "NAME", conflicts_with = "trial")]
    method: Option<String>,
    /// The trial; when left out the first picked one of the method, on the first split
    #[arg(long, value_name = "ID")]
    trial: Option<String>,
}

impl RefitArguments {
    /// Trains, for as many epochs as validation picked.
    ///
    /// # Errors
    /// A sweep that has not run, a dataset, method or trial that it does not have, or a training that fails.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = Session::ran(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        let trial = model::pick(&session, self.dataset.as_deref(), self.method.as_deref(), self.trial.as_deref())?;
        let Refit { id, fit, interactions, left_out } = runner::refit(&session, &trial.trial)?;
        let epochs = match fit.epochs {
            0 => String::new(),
            1 => ", 1 epoch".to_owned(),
            epochs => format!(", {epochs} epochs"),
        };
        let learned = match left_out {
            0 => format!("all {interactions} interactions"),
            _ => format!("{interactions} of {} interactions (users who have every item keep train alone)", interactions + left_out),
        };
        let (at, method, of, sweep) = (session.refit(&id), trial.method, trial.trial, quoted(&self.sweep));
        let storage = global.storage.as_deref().map(|storage| format!(" --storage {}", quoted(storage))).unwrap_or_default();
        output::print(&format!(
            "{at}: {method} (trial {of}) on {learned} of the prepared dataset{epochs}; nothing is left to measure it on\n\
             lists: ranksweep recommend {sweep} --refit --trial {of}{storage}\n"
        ))?;
        Ok(Ending::Done)
    }
}

//! `ranksweep logs SWEEP.yaml`

use super::{
    Ending, Global, Usage,
    namespace::{Namespace, way},
    output,
};
use crate::{file::SweepFile, status};
use anyhow::Result;
use clap::Args;
use cluster::client::{Whose, logs};
use dataset::block_on;

/// What pods wrote.
#[derive(Debug, Args)]
pub struct Logs {
    /// The sweep file
    sweep: String,
    #[command(flatten)]
    namespace: Namespace,
    /// Of the trial with this id
    #[arg(long, value_name = "ID", conflicts_with_all = ["index", "stage"])]
    trial: Option<String>,
    /// Of the trial at this place of the plan, or of the stage's, counted from 0
    #[arg(long, value_name = "N")]
    index: Option<u32>,
    /// Of a stage: `driver`, `prepare`, `train`, `train-r0`, .., `evaluate` [default: `driver`, or `train` with a trial]
    #[arg(long, value_name = "STAGE")]
    stage: Option<String>,
    /// Go on until the pod ends
    #[arg(short, long)]
    follow: bool,
}

impl Logs {
    /// Prints the logs of the newest submission.
    ///
    /// # Errors
    /// A bad sweep file, a trial that the plan does not have, pods that are not there, or what the cluster refuses.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let file = SweepFile::open(&self.sweep)?;
        let cluster = self.namespace.cluster()?;
        let index = match &self.trial {
            None => self.index,
            Some(id) => {
                let plan = status::plan(&self.sweep, &way(global), &cluster)?;
                let place = plan.trials().position(|(.., trial)| trial.id == *id);
                let place = place
                    .ok_or_else(|| Usage(format!("--trial: no trial of the plan has the id `{id}`; `ranksweep status` lists them")))?;
                Some(u32::try_from(place)?)
            }
        };
        let stage = self.stage.clone().unwrap_or_else(|| if index.is_some() { "train" } else { "driver" }.to_owned());
        let (mut last, mut printed) = (String::new(), Ok(()));
        let mut line = |pod: &str, text: &str| {
            let header = if pod == last { String::new() } else { format!("==> {pod} <==\n") };
            pod.clone_into(&mut last);
            printed = output::print(&format!("{header}{text}\n"));
            printed.is_ok()
        };
        block_on(logs(&cluster, &file.name.value, &Whose { stage, index }, self.follow, &mut line))?;
        printed?;
        Ok(Ending::Done)
    }
}

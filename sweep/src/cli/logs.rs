//! `ranksweep logs SWEEP.yaml|NAME`

use super::{
    Ending, Global,
    namespace::{Namespace, way},
    output,
};
use crate::{
    file::Named,
    status::{self, Which},
};
use anyhow::Result;
use clap::Args;
use cluster::client::{Cluster, Whose, logs};
use dataset::block_on;

/// The logs of pods.
#[derive(Debug, Args)]
pub struct Logs {
    /// The sweep file, or the sweep's name
    sweep: String,
    #[command(flatten)]
    namespace: Namespace,
    /// Logs of the trial with this id
    #[arg(long, value_name = "ID", conflicts_with_all = ["index", "stage"])]
    trial: Option<String>,
    /// Logs of the trial at this place of the plan, counted from 0; with --stage, of the pod with this index of the stage
    #[arg(long, value_name = "N")]
    index: Option<u32>,
    /// Logs of a stage: `driver`, `prepare`, `train`, `train-r0`, .., `evaluate` [default: `driver`; of a trial, where its last pod is]
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
        let named = Named::of(&self.sweep)?;
        let cluster = self.namespace.cluster()?;
        let whose = self.whose(&named, global, &cluster)?;
        let (mut last, mut printed) = (String::new(), Ok(true));
        let mut line = |pod: &str, text: &str| {
            let header = if pod == last { String::new() } else { format!("==> {pod} <==\n") };
            pod.clone_into(&mut last);
            printed = output::print_on(&format!("{header}{text}\n"));
            matches!(printed, Ok(true))
        };
        block_on(logs(&cluster, &named.name, &whose, self.follow, &mut line))?;
        printed?;
        Ok(Ending::Done)
    }

    fn whose(&self, named: &Named, global: &Global, cluster: &Cluster) -> Result<Whose> {
        let which = self.trial.as_deref().map(Which::Id).or(self.index.map(Which::Place));
        match (&self.stage, which) {
            (None, Some(which)) => status::whose(named, &way(global), cluster, which),
            (stage, _) => Ok(Whose { stage: stage.clone().unwrap_or_else(|| "driver".to_owned()), index: self.index }),
        }
    }
}

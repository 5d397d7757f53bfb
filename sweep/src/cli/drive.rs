//! `ranksweep drive NAME --namespace NAMESPACE --submission HASH`: what the driver's pod runs

use super::{Ending, exit::EndedBadly, hint::Hint, namespace::Namespace};
use anyhow::Result;
use clap::Args;
use cluster::{
    drive::{Pace, drive},
    stages::Outcome,
};
use dataset::block_on;

/// The stages of a submission, one after the other. A signal ends it at any moment; started again, it goes on.
#[derive(Debug, Args)]
pub struct Drive {
    /// The sweep's name
    name: String,
    #[command(flatten)]
    namespace: Namespace,
    /// The submission's hash
    #[arg(long, value_name = "HASH")]
    submission: String,
}

impl Drive {
    /// Ends when the sweep has.
    ///
    /// # Errors
    /// [`EndedBadly`] when stages or trials failed; what the cluster refuses.
    pub fn run(&self) -> Result<Ending> {
        let cluster = self.namespace.cluster()?;
        match block_on(drive(&cluster, &self.name, &self.submission, Pace::default()))? {
            Outcome::Done => Ok(Ending::Done),
            outcome => {
                let hint = Hint { sweep: &self.name, namespace: self.namespace.name(), storage: None };
                Err(EndedBadly(hint.ending(&outcome, &self.submission)).into())
            }
        }
    }
}

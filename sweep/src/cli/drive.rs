//! `ranksweep drive NAME --namespace NAMESPACE --submission HASH`: what the driver's pod runs

use super::{Ending, exit::EndedBadly, hint::Hint, namespace::Namespace};
use crate::prometheus::{Stage, meter};
use anyhow::Result;
use clap::Args;
use cluster::{
    drive::{Pace, drive_telling},
    stages::{Indexes, Outcome, SeenJob, State},
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
        let mut tell = |jobs: &[SeenJob]| meter().stages(stages(&self.name, &self.submission, jobs));
        match block_on(drive_telling(&cluster, &self.name, &self.submission, Pace::default(), &mut tell))? {
            Outcome::Done => Ok(Ending::Done),
            outcome => {
                let hint = Hint { sweep: &self.name, namespace: self.namespace.name(), storage: None };
                Err(EndedBadly(hint.ending(&outcome, &self.submission)).into())
            }
        }
    }
}

/// The stages as Prometheus is told of them; trials over several nodes, each of which has a Job of its own, are one stage.
fn stages(sweep: &str, submission: &str, jobs: &[SeenJob]) -> Vec<Stage> {
    let stage = |jobs: &[SeenJob]| {
        let (_, name) = jobs[0].name.rsplit_once(&format!("-{submission}-")).unwrap_or(("", &jobs[0].name));
        let name = if jobs.len() > 1 { name.rsplit_once('-').map_or(name, |(stage, _)| stage) } else { name };
        let count = |of: fn(&Indexes) -> u32| jobs.iter().map(|job| of(&job.indexes)).sum();
        Stage {
            sweep: sweep.to_owned(),
            submission: submission.to_owned(),
            stage: name.to_owned(),
            state: jobs.iter().map(state).min_by_key(|state| ORDER.iter().position(|other| other == state)).unwrap_or_default(),
            indexes: [
                ("waiting", count(|indexes| indexes.waiting)),
                ("active", count(|indexes| indexes.active)),
                ("done", count(|indexes| indexes.done)),
                ("failed", count(|indexes| indexes.failed)),
            ],
        }
    };
    jobs.chunk_by(|a, b| a.order == b.order).map(stage).collect()
}

/// The states of a stage's Jobs, the one first that tells most of the stage.
const ORDER: [&str; 7] = ["running", "suspended", "queued", "waiting", "gone", "failed", "done"];

fn state(job: &SeenJob) -> &'static str {
    match (&job.state, &job.queue) {
        (State::Missing { .. }, _) => "gone",
        (State::Suspended, _) if !job.started => "waiting",
        (State::Suspended, Some(_)) => "queued",
        (State::Suspended, None) => "suspended",
        (State::Running { .. }, _) => "running",
        (State::Done, _) => "done",
        (State::Failed(_), _) => "failed",
    }
}

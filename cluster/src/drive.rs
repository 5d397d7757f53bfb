//! The driver: it starts each stage of a sweep when the one before it is done. It looks, does what [`crate::stages`] decide, and sleeps.

use crate::{
    client::{Away, ClientError, Cluster, Selector, call},
    labels,
    stages::{self, Action, Outcome, Pause, SeenJob, State, step},
};
use k8s_openapi::api::batch::v1::Job;
use kube::{
    ResourceExt,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    time::Duration,
};
use tokio::time::Instant;

/// The manager of the fields that the driver sets.
const MANAGER: &str = "ranksweep-driver";
/// How often the driver looks, and for how long it waits for Jobs that are not there.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Time between two looks; up to a quarter is added at random, so that many drivers do not ask at once.
    pub look: Duration,
    /// A Job that is missing for so long is gone: submitting takes less.
    pub submitting: Duration,
    /// A trial over several nodes that lacks one of them for so long gives way to others; autoscalers need a part of it to bring nodes, and
    /// ranks wait for each other longer.
    pub placing: Duration,
    /// Time for which a trial that gave way is not started again, unless another trial ends.
    pub holding: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { look: seconds(10), submitting: seconds(120), placing: seconds(900), holding: seconds(300) }
    }
}

impl Pace {
    fn next(&self) -> Duration {
        // The standard library's hashers are seeded at random: enough to spread drivers out.
        let random = RandomState::new().hash_one(()) as f64 / u64::MAX as f64;
        self.look.mul_f64(1.0 + random / 4.0)
    }
}

/// How many Jobs have ended.
fn ended(stages: &[SeenJob]) -> usize {
    stages.iter().filter(|job| matches!(job.state, State::Done | State::Failed(_))).count()
}

/// Starts the stages of a submission one after the other, until the sweep has ended.
///
/// Everything it decides by stands in the Jobs: a driver that is stopped at any moment, and started again, goes on. An API server that
/// does not answer is waited for.
///
/// # Errors
/// Credentials that are refused again and again, and what the server refuses otherwise.
pub async fn drive(cluster: &Cluster, sweep: &str, submission: &str, pace: Pace) -> Result<Outcome, ClientError> {
    drive_telling(cluster, sweep, submission, pace, &mut |_| ()).await
}

/// Drives a submission as [`drive`] does, and tells after each look what the stages' Jobs look like.
///
/// # Errors
/// Those of [`drive`].
pub async fn drive_telling(
    cluster: &Cluster,
    sweep: &str,
    submission: &str,
    pace: Pace,
    tell: &mut (dyn FnMut(&[SeenJob]) + Send),
) -> Result<Outcome, ClientError> {
    let mut driver = Driver::new(cluster, sweep, submission, pace);
    let mut away = Away::default();
    loop {
        let delay = match driver.turn(tell).await {
            Ok(Some(outcome)) => return Ok(outcome),
            Ok(None) => {
                away.answered();
                pace.next()
            }
            Err(error) => away.failed(error)?,
        };
        tokio::time::sleep(delay).await;
    }
}

struct Driver<'a> {
    cluster: &'a Cluster,
    jobs: Selector,
    pace: Pace,
    /// Since when a Job has been missing.
    missing: BTreeMap<String, Instant>,
    /// Since when a trial over several nodes has lacked some of them.
    unplaced: BTreeMap<String, Instant>,
    /// When such a trial gave way, and how many Jobs had ended then.
    held: BTreeMap<String, (Instant, usize)>,
    /// The pauses that were said last.
    said: Vec<Pause>,
}

impl<'a> Driver<'a> {
    fn new(cluster: &'a Cluster, sweep: &str, submission: &str, pace: Pace) -> Self {
        let jobs = Selector::submission(sweep, submission);
        Self { cluster, jobs, pace, missing: BTreeMap::new(), unplaced: BTreeMap::new(), held: BTreeMap::new(), said: Vec::new() }
    }

    /// One look at the Jobs and what follows from it; the outcome, where the sweep has ended.
    async fn turn(&mut self, tell: &mut (dyn FnMut(&[SeenJob]) + Send)) -> Result<Option<Outcome>, ClientError> {
        let jobs = self.cluster.jobs(&self.jobs).await?;
        let Some(mut stages) = stages::stages(&jobs) else { return Ok(Some(Outcome::Gone("of the driver".to_owned()))) };
        tell(&stages);
        self.time_missing(&mut stages);
        self.time_gangs(&mut stages);
        let (mut pauses, mut outcome) = (Vec::new(), None);
        for action in step(&stages) {
            match action {
                Action::Unsuspend(job) => self.unsuspend(&job).await?,
                Action::Label { job, queue } => self.label(&job, &queue).await?,
                Action::Suspend(job) => {
                    self.suspend(&job).await?;
                    self.held.insert(job, (Instant::now(), ended(&stages)));
                }
                Action::Wait(pause) => pauses.push(pause),
                Action::Finish(end) => outcome = Some(end),
            }
        }
        self.say(pauses);
        if outcome.is_some() {
            self.let_expire(&jobs).await?;
        }
        Ok(outcome)
    }

    /// Marks the Jobs that have been missing for too long.
    fn time_missing(&mut self, stages: &mut [SeenJob]) {
        let is_missing = |name: &str| stages.iter().any(|job| job.name == name && matches!(job.state, State::Missing { .. }));
        self.missing.retain(|name, _| is_missing(name));
        for job in stages {
            if let State::Missing { overdue } = &mut job.state {
                let since = self.missing.entry(job.name.clone()).or_insert_with(Instant::now);
                *overdue = since.elapsed() >= self.pace.submitting;
            }
        }
    }

    /// Marks the trials over several nodes that have lacked one for too long, and those that have just given way.
    fn time_gangs(&mut self, stages: &mut [SeenJob]) {
        let is_unplaced = |name: &str| stages.iter().any(|job| job.name == name && job.is_one_trial && job.is_unplaced());
        self.unplaced.retain(|name, _| is_unplaced(name));
        let ended = ended(stages);
        self.held.retain(|_, (since, before)| since.elapsed() < self.pace.holding && *before == ended);
        for job in stages.iter_mut().filter(|job| job.is_one_trial) {
            job.is_held = self.held.contains_key(&job.name);
            if job.is_unplaced() {
                let since = self.unplaced.entry(job.name.clone()).or_insert_with(Instant::now);
                job.is_stuck = since.elapsed() >= self.pace.placing;
            }
        }
    }

    /// A Job that is suspended so counts as one that was never started.
    async fn suspend(&self, job: &str) -> Result<(), ClientError> {
        tracing::info!(job, "suspended: nodes for some of its pods are missing while others wait for theirs");
        self.patch(job, json!({"metadata": {"annotations": {labels::STARTED: null}}, "spec": {"suspend": true}})).await
    }

    async fn unsuspend(&self, job: &str) -> Result<(), ClientError> {
        tracing::info!(job, "unsuspended");
        let patch = json!({"metadata": {"annotations": {labels::STARTED: "true"}}, "spec": {"suspend": false}});
        self.patch(job, patch).await
    }

    async fn label(&self, job: &str, queue: &str) -> Result<(), ClientError> {
        tracing::info!(job, queue, "queued");
        self.patch(job, json!({"metadata": {"labels": {labels::KUEUE_QUEUE: queue}}})).await
    }

    /// Lets the controller clean up behind a sweep that has ended; its results are stored. Its Jobs go with the driver's, which owns them; those that it
    /// does not own belong to whoever applied them.
    async fn let_expire(&self, jobs: &[Job]) -> Result<(), ClientError> {
        let Some(driver) = stages::driver(jobs) else { return Ok(()) };
        let is_owned = |job: &Job| job.owner_references().iter().any(|owner| Some(&owner.uid) == driver.metadata.uid.as_ref());
        let seconds = driver.annotations().get(labels::TTL).and_then(|text| text.parse::<u32>().ok());
        if let (Some(seconds), true) = (seconds, jobs.iter().all(|job| job.name_any() == driver.name_any() || is_owned(job))) {
            self.patch(&driver.name_any(), json!({"spec": {"ttlSecondsAfterFinished": seconds}})).await?;
        }
        Ok(())
    }

    /// A Job that has gone in the meantime is seen by the next look.
    async fn patch(&self, job: &str, patch: Value) -> Result<(), ClientError> {
        let parameters = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        let (jobs, patch) = (self.cluster.api::<Job>(), Patch::Merge(patch));
        match self.cluster.ask(call::PATCH_JOBS, jobs.patch(job, &parameters, &patch)).await {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }

    /// Says why it waits, once for each change.
    fn say(&mut self, pauses: Vec<Pause>) {
        for pause in pauses.iter().filter(|pause| !self.said.contains(pause)) {
            tracing::info!("{pause}");
        }
        self.said = pauses;
    }
}

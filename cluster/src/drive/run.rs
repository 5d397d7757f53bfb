//! The loop: look, decide, do, sleep.

use super::{
    seen::{self, SeenJob, State},
    step::{Action, Outcome, Pause, step},
};
use crate::{
    client::{Away, Cluster, Error, Selector, call},
    labels,
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
/// The objects of a sweep that is done are kept for so many seconds, a week.
const KEPT_SECONDS: u32 = 7 * 24 * 60 * 60;

/// How often the driver looks, and for how long it waits for Jobs that are not there.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Between two looks; up to a quarter is added at random, so that many drivers do not ask at once.
    pub look: Duration,
    /// A Job that is missing for so long is gone: submitting takes less.
    pub submitting: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { look: Duration::from_secs(10), submitting: Duration::from_secs(120) }
    }
}

impl Pace {
    fn next(&self) -> Duration {
        // The standard library's hashers are seeded at random: enough to spread drivers out.
        let random = RandomState::new().hash_one(()) as f64 / u64::MAX as f64;
        self.look.mul_f64(1.0 + random / 4.0)
    }
}

/// Starts the stages of a submission one after the other, until the sweep has ended.
///
/// Everything it decides by stands in the Jobs: a driver that is stopped at any moment, and started again, goes on. An API server that
/// does not answer is waited for.
///
/// # Errors
/// Credentials that are refused again and again, and what the server refuses otherwise.
pub async fn drive(cluster: &Cluster, sweep: &str, submission: &str, pace: Pace) -> Result<Outcome, Error> {
    let mut driver = Driver::new(cluster, sweep, submission, pace);
    let mut away = Away::default();
    loop {
        let delay = match driver.turn().await {
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
    /// What was said last.
    said: Vec<Pause>,
}

impl<'a> Driver<'a> {
    fn new(cluster: &'a Cluster, sweep: &str, submission: &str, pace: Pace) -> Self {
        let jobs = Selector::submission(sweep, submission);
        Self { cluster, jobs, pace, missing: BTreeMap::new(), said: Vec::new() }
    }

    /// One look at the Jobs and what follows from it; the outcome, where the sweep has ended.
    async fn turn(&mut self) -> Result<Option<Outcome>, Error> {
        let jobs = self.cluster.jobs(&self.jobs).await?;
        let Some(mut stages) = seen::stages(&jobs) else { return Ok(Some(Outcome::Gone("of the driver".to_owned()))) };
        self.time_missing(&mut stages);
        let (mut pauses, mut outcome) = (Vec::new(), None);
        for action in step(&stages) {
            match action {
                Action::Unsuspend(job) => self.unsuspend(&job).await?,
                Action::Label { job, queue } => self.label(&job, &queue).await?,
                Action::Wait(pause) => pauses.push(pause),
                Action::Finish(end) => outcome = Some(end),
            }
        }
        self.say(pauses);
        if outcome == Some(Outcome::Done) {
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

    async fn unsuspend(&self, job: &str) -> Result<(), Error> {
        tracing::info!(job, "unsuspended");
        let patch = json!({"metadata": {"annotations": {labels::STARTED: "true"}}, "spec": {"suspend": false}});
        self.patch(job, patch).await
    }

    async fn label(&self, job: &str, queue: &str) -> Result<(), Error> {
        tracing::info!(job, queue, "queued");
        self.patch(job, json!({"metadata": {"labels": {labels::KUEUE_QUEUE: queue}}})).await
    }

    /// Lets the controller clean up behind a sweep whose results are stored. Its Jobs go with the driver's, which owns them; those that it
    /// does not own belong to whoever applied them.
    async fn let_expire(&self, jobs: &[Job]) -> Result<(), Error> {
        let Some(driver) = seen::driver(jobs) else { return Ok(()) };
        let is_owned = |job: &Job| job.owner_references().iter().any(|owner| Some(&owner.uid) == driver.metadata.uid.as_ref());
        if jobs.iter().all(|job| job.name_any() == driver.name_any() || is_owned(job)) {
            self.patch(&driver.name_any(), json!({"spec": {"ttlSecondsAfterFinished": KEPT_SECONDS}})).await?;
        }
        Ok(())
    }

    /// A Job that has gone in the meantime is seen by the next look.
    async fn patch(&self, job: &str, patch: Value) -> Result<(), Error> {
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

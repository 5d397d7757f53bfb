//! A submission's objects, created once.

use super::{
    ClientError, Cluster,
    adjust::Adjustments,
    find::{Found, Selector},
    reason::no_kueue,
    wait::end,
};
use crate::{
    Object, Submission, objects,
    objects::renamed,
    stages::{Outcome, State},
};
use kube::ResourceExt;
use std::collections::BTreeSet;

/// What a submitter is told of Jobs whose `parallelism` cannot be changed.
const HELD: &str =
    "the trials that Kueue has admitted keep the number of pods that they were admitted with; what is queued later has the new one";

/// The outcome of submitting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// The submission's hash.
    pub hash: String,
    /// How it was dealt with.
    pub how: How,
    /// Submissions of the sweep that had not ended, and were removed.
    pub replaced: Vec<String>,
    /// Submissions of the sweep that have ended, and are left as they are.
    pub left: Vec<String>,
    /// Warnings of the API server.
    pub warnings: Vec<String>,
}

/// How a submission was dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The submission is new.
    Created,
    /// The submission had ended with failures, and starts again.
    Restarted,
    /// The submission was done, its tables are gone, and it starts again.
    Renewed,
    /// This many of the submission's objects were missing, and are there again.
    Completed(usize),
    /// The submission is on the cluster and has not ended.
    Running,
    /// The submission has not ended, and goes on with another `parallelism` or `ttl_seconds_after_finished`.
    Adjusted,
    /// The submission is on the cluster and is done.
    Done,
    /// The submission is on the cluster and is done, but for trials that would fail again.
    Settled,
}

/// What submitting goes by, beside the submission.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// Whether other submissions of the sweep that have not ended are removed.
    pub replace: bool,
    /// Whether the tables of the submission's plan are stored, so that there is nothing to do where it is done.
    pub has_tables: bool,
}

/// A submission that the cluster would take.
#[derive(Clone, Debug)]
pub struct Rehearsed {
    sweep: String,
    hash: String,
    how: How,
    /// Objects that are to be created.
    missing: Vec<Object>,
    /// What of a sweep that runs is to be changed.
    adjusted: Adjustments,
    /// Whether all was done when it ended, but for some trials.
    only_trials_failed: bool,
    /// Whether stages are to wait for a queue that nobody looks after.
    lacks_kueue: bool,
    /// Submissions of the sweep that are to be removed first.
    running: Vec<String>,
    left: Vec<String>,
}

/// Finds out what submitting would do, and has the server check all of it; nothing is changed.
///
/// The same submission is not submitted twice: one that runs is left alone, one that is done and has its tables too, and one that failed is removed and
/// starts again.
///
/// # Errors
/// A submission that no objects can be made of, [`ClientError::StillRunning`] without `replace`, [`ClientError::PodsForbidden`],
/// [`ClientError::Queued`], and what the server would refuse.
pub async fn rehearse(cluster: &Cluster, submission: &Submission, conditions: Conditions) -> Result<Rehearsed, ClientError> {
    let (all, hash, sweep) = (objects(submission)?, submission.hash(), submission.name.clone());
    let (same, others): (Vec<Found>, Vec<Found>) = cluster.submissions(&sweep).await?.into_iter().partition(|found| found.hash == hash);
    let (how, missing) = match same.first().map(|found| &found.state) {
        None => (How::Created, all.clone()),
        Some(State::Done) if conditions.has_tables => (How::Done, Vec::new()),
        Some(State::Done) => (How::Renewed, all.clone()),
        Some(State::Failed(_)) => (How::Restarted, all.clone()),
        Some(_) => match cluster.missing(&sweep, &hash, &all).await? {
            missing if missing.is_empty() => (How::Running, missing),
            missing => (How::Completed(missing.len()), missing),
        },
    };
    let (adjusted, only_trials_failed) = match same.first() {
        Some(found) if !found.has_ended() => (cluster.adjustments(&sweep, found, &all).await?, false),
        Some(found) if how == How::Restarted => (Adjustments::default(), cluster.has_only_failed_trials(&sweep, &found.hash).await?),
        _ => (Adjustments::default(), false),
    };
    let how = if how == How::Running && !adjusted.patches.is_empty() { How::Adjusted } else { how };
    let lacks_kueue = submission.resources.queue.is_some() && !missing.is_empty() && cluster.kueue().await?.is_none();
    let (left, running): (Vec<Found>, Vec<Found>) = others.into_iter().partition(Found::has_ended);
    let [left, running] = [left, running].map(|found| found.into_iter().map(|found| found.hash).collect::<Vec<_>>());
    let rehearsed = Rehearsed { sweep, hash, how, missing, adjusted, only_trials_failed, lacks_kueue, running, left };
    if rehearsed.is_needless() {
        return Ok(rehearsed);
    }
    if let (Some(other), false) = (rehearsed.running.first(), conditions.replace) {
        let namespace = cluster.namespace().to_owned();
        return Err(ClientError::StillRunning { sweep: rehearsed.sweep, namespace, submission: other.clone() });
    }
    match rehearsed.how {
        // Applied to what stands under their names until it is removed, they would be merged with it.
        How::Restarted | How::Renewed => cluster.rehearse(&renamed(submission)).await?,
        _ => cluster.rehearse(&rehearsed.missing).await?,
    }
    Ok(rehearsed)
}

impl Rehearsed {
    /// Whether there is nothing to do.
    pub fn is_needless(&self) -> bool {
        self.missing.is_empty() && self.adjusted.patches.is_empty()
    }

    /// Whether all trials that have not ended are to be trained: not where the submission is on the cluster and goes on, whose failed trials have failed there
    /// for good.
    pub fn starts(&self) -> bool {
        !self.is_needless() && matches!(self.how, How::Created | How::Restarted | How::Renewed)
    }

    /// Whether the same submission has ended with everything done, but for some trials, and is to start again.
    pub fn is_of_failed_trials(&self) -> bool {
        self.only_trials_failed
    }

    /// Leaves such a submission as it is, as its trials would fail again.
    pub fn leave(self) -> Self {
        Self { how: How::Settled, missing: Vec::new(), ..self }
    }

    /// Does it: removes what is in the way and waits until its pods have stopped, then creates the driver's Job, which owns what is created
    /// after it.
    ///
    /// # Errors
    /// Refusals of the server, and [`ClientError::NotGone`].
    pub async fn create(self, cluster: &Cluster) -> Result<Submitted, ClientError> {
        if self.is_needless() {
            return Ok(Submitted { hash: self.hash, how: self.how, replaced: Vec::new(), left: self.left, warnings: Vec::new() });
        }
        let restarted = matches!(self.how, How::Restarted | How::Renewed).then_some(&self.hash);
        for other in self.running.iter().chain(restarted) {
            cluster.remove(&self.sweep, other).await?;
        }
        cluster.create(&self.sweep, &self.hash, self.missing).await?;
        for (job, patch) in &self.adjusted.patches {
            cluster.adjust(job, patch).await?;
        }
        let own = [self.lacks_kueue.then(|| no_kueue().to_string()), self.adjusted.is_held.then(|| HELD.to_owned())];
        let warnings = cluster.warnings().into_iter().chain(own.into_iter().flatten()).collect();
        Ok(Submitted { hash: self.hash, how: self.how, replaced: self.running, left: self.left, warnings })
    }
}

impl Cluster {
    /// The objects of a submission that are not there.
    async fn missing(&self, sweep: &str, hash: &str, objects: &[Object]) -> Result<Vec<Object>, ClientError> {
        let of = Selector::submission(sweep, hash);
        let mut found = BTreeSet::new();
        found.extend(self.jobs(&of).await?.iter().map(|job| ("Job", job.name_any())));
        found.extend(self.config_maps(&of).await?.iter().map(|map| ("ConfigMap", map.name_any())));
        if objects.iter().any(|object| matches!(object, Object::Service(_))) {
            found.extend(self.services(&of).await?.iter().map(|service| ("Service", service.name_any())));
            found.extend(self.network_policies(&of).await?.iter().map(|policy| ("NetworkPolicy", policy.name_any())));
        }
        let is_missing = |object: &&Object| !found.contains(&(object.kind(), object.name().to_owned()));
        Ok(objects.iter().filter(is_missing).cloned().collect())
    }

    /// Whether a submission has ended with everything done, but for some trials.
    async fn has_only_failed_trials(&self, sweep: &str, hash: &str) -> Result<bool, ClientError> {
        let end = end(&self.jobs(&Selector::submission(sweep, hash)).await?);
        Ok(end.as_ref().is_some_and(Outcome::is_of_trials))
    }

    /// Creates objects in their order. Those that come after the driver's Job are owned by it.
    async fn create(&self, sweep: &str, hash: &str, objects: Vec<Object>) -> Result<(), ClientError> {
        let mut owner = self.submissions(sweep).await?.into_iter().find(|found| found.hash == hash).map(|found| found.driver);
        for mut object in objects {
            if let Some(owner) = &owner {
                object.owned_by(owner);
            }
            let job = self.apply(&object).await?;
            owner = owner.or(job);
        }
        Ok(())
    }
}

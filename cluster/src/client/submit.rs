//! A submission's objects, created once.

use super::{
    Cluster, Error,
    find::{Found, Selector},
};
use crate::{Object, Submission, drive::State, objects};
use kube::ResourceExt;
use std::collections::BTreeSet;

/// What submitting did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// The submission's hash.
    pub hash: String,
    /// What was done about it.
    pub how: How,
    /// Submissions of the sweep that had not ended, and were removed.
    pub replaced: Vec<String>,
    /// Submissions of the sweep that have ended, and are left as they are.
    pub left: Vec<String>,
    /// What the API server warns of.
    pub warnings: Vec<String>,
}

/// What was done about a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It was new.
    Created,
    /// It had ended with failures, and starts again.
    Restarted,
    /// So many of its objects were missing, and are there again.
    Completed(usize),
    /// It is on the cluster and has not ended.
    Running,
    /// It is on the cluster and is done.
    Done,
}

/// Creates all objects of a submission: the driver's Job first, which owns the others.
///
/// The same submission is not submitted twice: one that runs is left alone, one that is done too, and one that failed is removed and
/// starts again. `replace` removes other submissions of the sweep that have not ended, and waits until their pods have. Everything that
/// the server would refuse is known before anything is changed.
///
/// # Errors
/// A submission that no objects can be made of, [`Error::StillRunning`] without `replace`, [`Error::PodsForbidden`], and what the server
/// refuses.
pub async fn submit(cluster: &Cluster, submission: &Submission, replace: bool) -> Result<Submitted, Error> {
    let (objects, hash, sweep) = (objects(submission)?, submission.hash(), &submission.name);
    let (same, others): (Vec<Found>, Vec<Found>) = cluster.submissions(sweep).await?.into_iter().partition(|found| found.hash == hash);
    let ended = |how| Ok(Submitted { hash: hash.clone(), how, replaced: Vec::new(), left: Vec::new(), warnings: Vec::new() });
    let missing = match same.first().map(|found| &found.state) {
        Some(State::Done) => return ended(How::Done),
        Some(State::Failed(_)) | None => objects.clone(),
        Some(_) => cluster.missing(sweep, &hash, &objects).await?,
    };
    if missing.is_empty() {
        return ended(How::Running);
    }
    let (left, running): (Vec<Found>, Vec<Found>) = others.into_iter().partition(Found::has_ended);
    let [left, running] = [left, running].map(|found| found.into_iter().map(|found| found.hash).collect::<Vec<_>>());
    if let (Some(other), false) = (running.first(), replace) {
        return Err(Error::StillRunning { sweep: sweep.clone(), submission: other.clone() });
    }
    cluster.rehearse(&missing).await?;
    let how = match same.first() {
        None => How::Created,
        Some(found) if found.has_ended() => How::Restarted,
        Some(_) => How::Completed(missing.len()),
    };
    let restarted = (how == How::Restarted).then_some(&hash);
    for other in running.iter().chain(restarted) {
        cluster.remove(sweep, other).await?;
    }
    cluster.create(sweep, &hash, missing).await?;
    Ok(Submitted { hash, how, replaced: running, left, warnings: cluster.warnings() })
}

impl Cluster {
    /// The objects of a submission that are not there.
    async fn missing(&self, sweep: &str, hash: &str, objects: &[Object]) -> Result<Vec<Object>, Error> {
        let of = Selector::submission(sweep, hash);
        let mut found = BTreeSet::new();
        found.extend(self.jobs(&of).await?.iter().map(|job| ("Job", job.name_any())));
        found.extend(self.config_maps(&of).await?.iter().map(|map| ("ConfigMap", map.name_any())));
        if objects.iter().any(|object| matches!(object, Object::Service(_))) {
            found.extend(self.services(&of).await?.iter().map(|service| ("Service", service.name_any())));
        }
        let is_missing = |object: &&Object| !found.contains(&(object.kind(), object.name().to_owned()));
        Ok(objects.iter().filter(is_missing).cloned().collect())
    }

    /// Creates objects in their order. Those that come after the driver's Job are owned by it.
    async fn create(&self, sweep: &str, hash: &str, objects: Vec<Object>) -> Result<(), Error> {
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

//! Why something of a submission does not move, and what to do about it.
//!
//! Conditions and container states of pods (`pod`, `schedule`), events of Jobs (`creation`) and Kueue's Workloads (`queue`) say it, in the
//! cluster's words; what to do about it is added here.

mod creation;
mod pod;
mod queue;
mod schedule;

pub(super) use pod::{container, words};
pub(super) use queue::no_kueue;

use super::{ClientError, Cluster, call, status::newest_of_index};
use crate::{
    labels,
    stages::{State, names_index},
};
use k8s_openapi::{
    api::{
        batch::v1::Job,
        core::v1::{Event, Pod},
    },
    apimachinery::pkg::apis::meta::v1::Time,
};
use kube::{ResourceExt, api::ListParams};
use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// Reasons of one Job that are told, at most.
const MOST: usize = 3;

/// Why something does not move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The obstacle, in the cluster's words where it has any.
    pub what: String,
    /// The advice.
    pub remedy: String,
    /// How many pods it holds for.
    pub pods: usize,
}

impl Reason {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into(), pods: 1 }
    }

    /// The reason of a pod that is not over, or was its index's last.
    pub(super) fn of_pod(pod: &Pod, events: &[Event]) -> Option<Self> {
        pod::reason(pod, events)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pods > 1 {
            write!(f, "{} pods: ", self.pods)?;
        }
        write!(f, "{}: {}", self.what, self.remedy)
    }
}

/// The reasons of Jobs that do not move, by the Jobs' names; those of most pods first.
pub(super) fn of_jobs(jobs: &[Job], pods: &[Pod], events: &[Event]) -> BTreeMap<String, Vec<Reason>> {
    let reasons = |job: &Job| (job.name_any(), of_job(job, pods, events));
    jobs.iter().map(reasons).filter(|(_, reasons)| !reasons.is_empty()).collect()
}

fn of_job(job: &Job, pods: &[Pod], events: &[Event]) -> Vec<Reason> {
    let own: Vec<&Pod> = pods.iter().filter(|pod| pod.labels().get(super::status::JOB) == job.metadata.name.as_ref()).collect();
    let newest = newest_of_index(&own);
    match State::of(job) {
        State::Running { active, of, done, .. } => {
            let going = newest.into_iter().filter(|pod| !is_over(job, pod));
            let of_pods = going.filter_map(|pod| pod::reason(pod, events));
            // A Job that has as many pods as it may have lacks none.
            let room = job.spec.as_ref().and_then(|spec| spec.parallelism).map_or(1, |most| u32::try_from(most).unwrap_or_default());
            let lacks = active < room.min(of.saturating_sub(done));
            let refused = lacks.then(|| creation::reason(job, &own, events)).flatten();
            told(refused.into_iter().chain(of_pods))
        }
        State::Failed(failure) if !failure.is_of_indexes() && !is_driver(job) => told(newest.into_iter().filter_map(pod::last_words)),
        _ => Vec::new(),
    }
}

/// Whether a pod is the last of an index that is done or has failed for good.
fn is_over(job: &Job, pod: &Pod) -> bool {
    let (Some(status), Some(index)) = (&job.status, super::status::index_of(pod)) else { return false };
    [&status.completed_indexes, &status.failed_indexes].into_iter().flatten().any(|text| names_index(text, index))
}

/// Each reason once, with the number of its pods.
fn told(reasons: impl Iterator<Item = Reason>) -> Vec<Reason> {
    let mut told: Vec<Reason> = Vec::new();
    for reason in reasons {
        match told.iter_mut().find(|other| (&other.what, &other.remedy) == (&reason.what, &reason.remedy)) {
            Some(other) => other.pods += reason.pods,
            None => told.push(reason),
        }
    }
    told.sort_by_key(|reason| std::cmp::Reverse(reason.pods));
    let (more, pods) = (told.len().saturating_sub(MOST), told.iter().skip(MOST).map(|reason| reason.pods).sum());
    if more > 0 {
        told.truncate(MOST);
        told.push(Reason { pods, ..Reason::new("there are further reasons", "the row of each trial has its own") });
    }
    told
}

fn is_driver(job: &Job) -> bool {
    job.labels().get(labels::STAGE).is_some_and(|stage| stage == labels::DRIVER)
}

/// When an event last happened.
fn last(event: &Event) -> Option<&Time> {
    event.last_timestamp.as_ref().or(event.first_timestamp.as_ref()).or(event.metadata.creation_timestamp.as_ref())
}

/// A message of several lines, or one with long addresses, as one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Cluster {
    /// The warnings of the namespace. They are helpful, and not everybody's to read.
    pub(super) async fn events(&self) -> Result<Vec<Event>, ClientError> {
        let list = ListParams::default().fields("type=Warning");
        match self.ask(call::LIST_EVENTS, self.api::<Event>().list(&list)).await {
            Err(ClientError::Forbidden { .. }) => Ok(Vec::new()),
            other => Ok(other?.items),
        }
    }

    /// The reasons of Jobs that do not move, by the Jobs' names.
    pub(super) async fn reasons(&self, jobs: &[Job], pods: &[Pod], events: &[Event]) -> Result<BTreeMap<String, Vec<Reason>>, ClientError> {
        let mut reasons = of_jobs(jobs, pods, events);
        reasons.extend(self.queue_reasons(jobs).await?.into_iter().map(|(job, reason)| (job, vec![reason])));
        Ok(reasons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_with_one_reason_are_counted_and_few_reasons_are_told() {
        let reason = |what: &str| Reason::new(what, "do it");
        let told = told(["a", "b", "b", "c", "d", "d", "e"].map(reason).into_iter());
        let texts: Vec<String> = told.iter().map(ToString::to_string).collect();
        assert_eq!(texts[..3], ["2 pods: b: do it", "2 pods: d: do it", "a: do it"]);
        assert_eq!(texts[3], "2 pods: there are further reasons: the row of each trial has its own");
    }
}

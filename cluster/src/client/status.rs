//! What is seen of a submission: its stages, its pods, and what keeps pods from being created.

use super::{Cluster, Error, call, find::Selector};
use crate::{
    drive::{SeenJob, State, condition, driver, stages},
    labels,
};
use k8s_openapi::{
    api::{
        batch::v1::Job,
        core::v1::{ContainerState, Event, Pod},
    },
    apimachinery::pkg::apis::meta::v1::Time,
};
use kube::{ResourceExt, api::ListParams};
use std::{collections::BTreeMap, fmt};

/// Where the Job controller writes a pod's index.
pub(super) const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// Where it writes the pod's Job.
pub(super) const JOB: &str = "batch.kubernetes.io/job-name";

/// A submission as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Its hash.
    pub submission: String,
    /// The URL of its plan.
    pub plan: Option<String>,
    /// The driver's Job.
    pub driver: StageView,
    /// The stages' Jobs, in their order.
    pub stages: Vec<StageView>,
    /// The newest pod of each index of each Job.
    pub pods: Vec<PodView>,
    /// Why pods cannot be created, in the cluster's words.
    pub troubles: Vec<String>,
}

/// A Job.
#[derive(Clone, Debug, PartialEq)]
pub struct StageView {
    /// Its name.
    pub job: String,
    /// Its name without the submission's: `prepare`, `train`, `train-r0`, `evaluate`.
    pub stage: String,
    /// How far it is.
    pub state: State,
    /// The Kueue queue that admits it, if any.
    pub queue: Option<String>,
    /// Whether the driver has started it, or handed it to its queue.
    pub started: bool,
    /// When its pods could first run, in RFC 3339.
    pub began: Option<String>,
    /// When it was over.
    pub ended: Option<String>,
}

/// A pod.
#[derive(Clone, Debug, PartialEq)]
pub struct PodView {
    /// Its name.
    pub name: String,
    /// Its Job.
    pub job: String,
    /// Its index, where the Job has indexes.
    pub index: Option<u32>,
    /// `Pending`, `Running`, `Succeeded`, `Failed`.
    pub phase: String,
    /// Why it does not run yet, or what it said last.
    pub message: Option<String>,
    /// How it ended.
    pub exit_code: Option<i32>,
    /// Where it runs.
    pub node: Option<String>,
}

/// The newest submission of a sweep; `None` where the cluster has none.
///
/// # Errors
/// What the server refuses.
pub async fn status(cluster: &Cluster, sweep: &str) -> Result<Option<Seen>, Error> {
    let Some(newest) = cluster.submissions(sweep).await?.into_iter().next() else { return Ok(None) };
    let of = Selector::submission(sweep, &newest.hash);
    let jobs = cluster.jobs(&of).await?;
    let Some(driver) = driver(&jobs) else { return Ok(None) };
    let prefix = driver.name_any();
    let prefix = prefix.strip_suffix("drive").unwrap_or_default();
    let stages = stages(&jobs).unwrap_or_default();
    let own = SeenJob { queue: None, started: true, ..SeenJob::of(driver, 0) };
    let view = |seen: SeenJob| StageView::of(seen, prefix, &jobs);
    Ok(Some(Seen {
        driver: view(own),
        stages: stages.into_iter().map(view).collect(),
        pods: newest_pods(cluster.pods(&of).await?),
        troubles: cluster.troubles(&jobs).await?,
        plan: jobs.iter().find_map(plan_of),
        submission: newest.hash,
    }))
}

/// What stands after `--plan` in the command of a stage.
fn plan_of(job: &Job) -> Option<String> {
    let containers = &job.spec.as_ref()?.template.spec.as_ref()?.containers;
    let arguments = containers.first()?.args.as_ref()?;
    let flag = arguments.iter().position(|argument| argument == "--plan")?;
    arguments.get(flag + 1).map(|url| url.replace("$$(", "$("))
}

impl StageView {
    fn of(seen: SeenJob, prefix: &str, jobs: &[Job]) -> Self {
        let status = jobs.iter().find(|job| job.name_any() == seen.name).and_then(|job| job.status.as_ref());
        let text = |time: &Option<Time>| time.as_ref().map(|time| time.0.to_string());
        let failed = || status.and_then(|status| condition(status, "Failed")).and_then(|failed| text(&failed.last_transition_time));
        Self {
            stage: seen.name.strip_prefix(prefix).unwrap_or(&seen.name).to_owned(),
            job: seen.name,
            state: seen.state,
            queue: seen.queue,
            started: seen.started,
            began: status.and_then(|status| text(&status.start_time)),
            ended: status.and_then(|status| text(&status.completion_time)).or_else(failed),
        }
    }
}

impl fmt::Display for StageView {
    /// In a few words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.state, &self.queue) {
            (State::Missing { .. }, _) => f.write_str("gone: its Job was deleted"),
            (State::Suspended, _) if !self.started => f.write_str("waits for its turn"),
            (State::Suspended, Some(queue)) => write!(f, "waits for the queue `{queue}`"),
            (State::Suspended, None) => f.write_str("suspended by somebody"),
            (State::Running { active, done, of }, _) => write!(f, "runs: {done} of {of} done, {active} active"),
            (State::Done, _) => f.write_str("done"),
            (State::Failed(failure), _) if failure.is_of_indexes() => write!(f, "done, but for {}", failure.indexes),
            (State::Failed(failure), _) => write!(f, "failed: {} ({})", failure.message, failure.reason),
        }
    }
}

impl PodView {
    pub(super) fn of(pod: &Pod) -> Self {
        let (status, index) = (pod.status.clone().unwrap_or_default(), pod.annotations().get(INDEX));
        let container = status.container_statuses.iter().flatten().next().and_then(|container| container.state.clone()).unwrap_or_default();
        Self {
            name: pod.name_any(),
            job: pod.labels().get(JOB).cloned().unwrap_or_default(),
            index: index.and_then(|index| index.parse().ok()),
            phase: status.phase.clone().unwrap_or_default(),
            message: said(&container).or_else(|| unscheduled(pod)),
            exit_code: container.terminated.map(|ended| ended.exit_code),
            node: pod.spec.as_ref().and_then(|spec| spec.node_name.clone()),
        }
    }
}

/// What a container's state says: why it waits, or its last words.
fn said(container: &ContainerState) -> Option<String> {
    let waiting = container.waiting.as_ref().and_then(|waiting| waiting.message.clone().or_else(|| waiting.reason.clone()));
    let ended = container.terminated.as_ref().and_then(|ended| ended.message.clone().or_else(|| ended.reason.clone()));
    waiting.or(ended).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Why the scheduler has no node for it.
fn unscheduled(pod: &Pod) -> Option<String> {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions
        .filter(|condition| condition.type_ == "PodScheduled" && condition.status == "False")
        .find_map(|condition| condition.message.clone())
}

/// Of the pods of each index the last, in the order of Jobs and indexes.
pub(super) fn newest_pods(mut pods: Vec<Pod>) -> Vec<PodView> {
    pods.sort_by(|a, b| a.metadata.creation_timestamp.cmp(&b.metadata.creation_timestamp));
    let views = pods.iter().map(PodView::of).map(|view| ((view.job.clone(), view.index), view));
    views.collect::<BTreeMap<_, _>>().into_values().collect()
}

impl Cluster {
    /// What the Job controller says of pods that it could not create.
    async fn troubles(&self, jobs: &[Job]) -> Result<Vec<String>, Error> {
        let list = ListParams::default().fields("reason=FailedCreate,involvedObject.kind=Job");
        let events = match self.ask(call::LIST_EVENTS, self.api::<Event>().list(&list)).await {
            // Events are helpful, and not everybody's to read.
            Err(Error::Forbidden { .. }) => return Ok(Vec::new()),
            other => other?.items,
        };
        let is_ours = |event: &Event| jobs.iter().any(|job| job.metadata.uid.is_some() && job.metadata.uid == event.involved_object.uid);
        let is_idle = |event: &Event| {
            let of = |job: &&Job| job.metadata.uid == event.involved_object.uid;
            jobs.iter().find(of).is_some_and(|job| matches!(State::of(job), State::Running { active: 0, .. }))
        };
        let mut messages: Vec<String> =
            events.into_iter().filter(|event| is_ours(event) && is_idle(event)).filter_map(|event| event.message).collect();
        messages.sort();
        messages.dedup();
        Ok(messages)
    }
}

/// The value of a pod's label for its stage.
pub(super) fn stage_of(pod: &Pod) -> Option<&String> {
    pod.labels().get(labels::STAGE)
}

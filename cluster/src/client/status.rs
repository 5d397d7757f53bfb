//! The state of a submission: its stages, its pods, and why they do not move.

use super::{
    ClientError, Cluster, Reason,
    find::Selector,
    reason::{container, words},
};
use crate::{
    exit, labels,
    stages::{SeenJob, State, condition, driver, stages, trials_per_gpu, trials_per_pod},
};
use k8s_openapi::{
    api::{
        batch::v1::Job,
        core::v1::{Event, Pod},
    },
    apimachinery::pkg::apis::meta::v1::Time,
};
use kube::ResourceExt;
use std::{collections::BTreeMap, fmt};

/// The annotation where the Job controller writes a pod's index.
pub(super) const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// The label where the Job controller writes a pod's Job.
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
    /// How many trials each of its pods trains.
    pub trials_per_pod: u32,
    /// How many of them at once, on one GPU.
    pub trials_per_gpu: u32,
    /// Whether the driver has started it, or handed it to its queue.
    pub started: bool,
    /// When its pods could first run, in RFC 3339.
    pub began: Option<String>,
    /// When it was over.
    pub ended: Option<String>,
    /// Why it does not move.
    pub reasons: Vec<Reason>,
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
    /// Why it does not run, or, where it has failed, how.
    pub reason: Option<Reason>,
    /// The pod's last words.
    pub message: Option<String>,
    /// How it ended.
    pub exit_code: Option<i32>,
    /// The node that it runs on.
    pub node: Option<String>,
}

/// The newest submission of a sweep; `None` where the cluster has none.
///
/// # Errors
/// Refusals of the server.
pub async fn status(cluster: &Cluster, sweep: &str) -> Result<Option<Seen>, ClientError> {
    let Some(newest) = cluster.submissions(sweep).await?.into_iter().next() else { return Ok(None) };
    let of = Selector::submission(sweep, &newest.hash);
    let jobs = cluster.jobs(&of).await?;
    let Some(driver) = driver(&jobs) else { return Ok(None) };
    let prefix = driver.name_any();
    let prefix = prefix.strip_suffix("drive").unwrap_or_default();
    let stages = stages(&jobs).unwrap_or_default();
    let own = SeenJob { queue: None, started: true, ..SeenJob::of(driver, 0) };
    let (pods, events) = (cluster.pods(&of).await?, cluster.events().await?);
    let reasons = cluster.reasons(&jobs, &pods, &events).await?;
    let view = |seen: SeenJob| StageView::of(seen, prefix, &jobs, &reasons);
    Ok(Some(Seen {
        driver: view(own),
        stages: stages.into_iter().map(view).collect(),
        pods: newest_pods(&pods, &events),
        plan: jobs.iter().find_map(plan_of),
        submission: newest.hash,
    }))
}

/// The URL after `--plan` in the command of a stage.
fn plan_of(job: &Job) -> Option<String> {
    let containers = &job.spec.as_ref()?.template.spec.as_ref()?.containers;
    let arguments = containers.first()?.args.as_ref()?;
    let flag = arguments.iter().position(|argument| argument == "--plan")?;
    arguments.get(flag + 1).map(|url| url.replace("$$", "$"))
}

impl StageView {
    pub(super) fn of(seen: SeenJob, prefix: &str, jobs: &[Job], reasons: &BTreeMap<String, Vec<Reason>>) -> Self {
        let job = jobs.iter().find(|job| job.name_any() == seen.name);
        let status = job.and_then(|job| job.status.as_ref());
        let text = |time: &Option<Time>| time.as_ref().map(|time| time.0.to_string());
        let failed = || status.and_then(|status| condition(status, "Failed")).and_then(|failed| text(&failed.last_transition_time));
        Self {
            stage: seen.name.strip_prefix(prefix).unwrap_or(&seen.name).to_owned(),
            reasons: reasons.get(&seen.name).cloned().unwrap_or_default(),
            job: seen.name,
            state: seen.state,
            queue: seen.queue,
            trials_per_pod: job.map_or(1, trials_per_pod),
            trials_per_gpu: job.map_or(1, trials_per_gpu),
            started: seen.started,
            began: status.and_then(|status| text(&status.start_time)),
            ended: status.and_then(|status| text(&status.completion_time)).or_else(failed),
        }
    }

    /// Whether the Job failed, and nothing of it runs any longer.
    pub fn has_failed(&self) -> bool {
        matches!(self.state, State::Failed(_))
    }

    /// Whether the driver has ended and says by its exit code that trials or a stage have failed.
    fn is_drivers_verdict(&self) -> bool {
        let code = format!("failed with exit code {} ", exit::REPEATS);
        self.stage == "drive" && matches!(&self.state, State::Failed(failure) if failure.message.contains(&code))
    }
}

impl fmt::Display for StageView {
    /// The state in a few words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.state, &self.queue) {
            (State::Missing { .. }, _) => f.write_str("gone: its Job was deleted"),
            (State::Suspended, _) if !self.started => f.write_str("waits for its turn"),
            (State::Suspended, Some(queue)) => write!(f, "waits for the queue `{queue}`"),
            (State::Suspended, None) => f.write_str("suspended by somebody"),
            (State::Running { active, ready, done, of }, _) if ready < active => {
                write!(f, "runs: {done} of {of} done, {active} active, {ready} of them ready")
            }
            (State::Running { active, done, of, .. }, _) => write!(f, "runs: {done} of {of} done, {active} active"),
            (State::Done, _) => f.write_str("done"),
            (State::Failed(failure), _) if failure.is_of_indexes() && self.stage != "drive" => {
                write!(f, "done, but for {}", failure.indexes)
            }
            (State::Failed(_), _) if self.is_drivers_verdict() => f.write_str("ended: not everything was done"),
            (State::Failed(failure), _) => write!(f, "failed: {} ({})", failure.message, failure.reason),
        }
    }
}

impl PodView {
    pub(super) fn of(pod: &Pod, events: &[Event]) -> Self {
        let status = pod.status.clone().unwrap_or_default();
        let ended = container(pod).and_then(|container| container.state.as_ref()?.terminated.as_ref());
        Self {
            name: pod.name_any(),
            job: pod.labels().get(JOB).cloned().unwrap_or_default(),
            index: index_of(pod),
            phase: status.phase.unwrap_or_default(),
            reason: Reason::of_pod(pod, events),
            message: words(ended.and_then(|ended| ended.message.as_deref().or(ended.reason.as_deref())).or(status.message.as_deref())),
            exit_code: ended.map(|ended| ended.exit_code),
            node: pod.spec.as_ref().and_then(|spec| spec.node_name.clone()),
        }
    }
}

/// A pod's index, where its Job has indexes.
pub(super) fn index_of(pod: &Pod) -> Option<u32> {
    pod.annotations().get(INDEX)?.parse().ok()
}

/// The last pod of each index, in the order of Jobs and indexes.
pub(super) fn newest_of_index<'a>(pods: &[&'a Pod]) -> Vec<&'a Pod> {
    let mut pods = pods.to_vec();
    pods.sort_by(|a, b| a.metadata.creation_timestamp.cmp(&b.metadata.creation_timestamp));
    let places = pods.into_iter().map(|pod| ((pod.labels().get(JOB).cloned(), index_of(pod)), pod));
    places.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// The same, as they are seen.
pub(super) fn newest_pods(pods: &[Pod], events: &[Event]) -> Vec<PodView> {
    newest_of_index(&pods.iter().collect::<Vec<_>>()).into_iter().map(|pod| PodView::of(pod, events)).collect()
}

/// The value of a pod's label for its stage.
pub(super) fn stage_of(pod: &Pod) -> Option<&String> {
    pod.labels().get(labels::STAGE)
}

//! The Jobs of a submission, reduced to what the driver decides by.

use crate::{Stage, labels};
use k8s_openapi::api::batch::v1::{Job, JobCondition, JobStatus};
use kube::ResourceExt;

/// The label of the stage whose Jobs train.
const TRAIN: &str = Stage::Train { trials: 0, rung: None }.label();

/// A stage's Job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenJob {
    /// Its name.
    pub name: String,
    /// The Job's namespace.
    pub namespace: String,
    /// Its place in the order of stages, from 0; Jobs of the same place run side by side.
    pub order: usize,
    /// Whether its pods train one trial together, so that its failure is that trial's.
    pub is_one_trial: bool,
    /// Whether each of its indexes stands for several trials.
    pub has_batches: bool,
    /// The Kueue queue that is to unsuspend it, if any.
    pub queue: Option<String>,
    /// Whether it was unsuspended before, or labelled with its queue.
    pub started: bool,
    /// How many Jobs of its place may run at once.
    pub at_once: u32,
    /// Whether some of its pods have been without a node for longer than it takes to place them.
    pub is_stuck: bool,
    /// Whether it has just given way to another.
    pub is_held: bool,
    /// How far it is.
    pub state: State,
    /// Its indexes, by how far they are.
    pub indexes: Indexes,
}

/// How many indexes of a Job are how far: of one whose pods work together, their work; of one without indexes, its pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indexes {
    /// No pod of them is there.
    pub waiting: u32,
    /// Their pods wait for a node or run.
    pub active: u32,
    /// Their work is done.
    pub done: u32,
    /// They failed for good.
    pub failed: u32,
}

/// How far a Job is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The Job is not there.
    Missing {
        /// Whether it has been missing for longer than it takes to submit a sweep.
        overdue: bool,
    },
    /// No pod runs.
    Suspended,
    /// Pods run, or will.
    Running {
        /// Pods that wait for a node or run.
        active: u32,
        /// Pods that run.
        ready: u32,
        /// Indexes, or pods, that are done.
        done: u32,
        /// Indexes, or pods, in all.
        of: u32,
    },
    /// The Job is done.
    Done,
    /// The Job failed, and nothing of it runs any longer.
    Failed(Failure),
}

/// How a Job failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The controller's word: `FailedIndexes`, `PodFailurePolicy`, `BackoffLimitExceeded`.
    pub reason: String,
    /// Its sentence.
    pub message: String,
    /// Indexes that failed for good.
    pub indexes: u32,
}

impl Failure {
    /// Whether some indexes failed after all others had been tried.
    pub fn is_of_indexes(&self) -> bool {
        self.reason == "FailedIndexes"
    }

    /// Whether a pod ended with the exit code of a bad sweep file, which every other pod would end with too.
    pub fn is_bad_configuration(&self) -> bool {
        self.reason == "PodFailurePolicy" && self.message.contains("failed with exit code 2 ")
    }
}

/// The stages' Jobs in their order, as the driver's Job names them; `None` where there is no driver's Job that does.
pub(crate) fn stages(jobs: &[Job]) -> Option<Vec<SeenJob>> {
    let driver = driver(jobs)?;
    let stages = driver.annotations().get(labels::STAGES)?;
    let at_once = driver.annotations().get(labels::PARALLELISM).and_then(|text| text.parse().ok()).unwrap_or(u32::MAX);
    let names = stages.split_whitespace().enumerate().flat_map(|(order, names)| names.split(',').map(move |name| (order, name)));
    let seen = |(order, name): (usize, &str)| match jobs.iter().find(|job| job.name_any() == name) {
        Some(job) => SeenJob { at_once, ..SeenJob::of(job, order) },
        None => SeenJob::missing(name, order),
    };
    Some(names.map(seen).collect())
}

/// How many trials an index of the Job stands for.
pub(crate) fn trials_per_pod(job: &Job) -> u32 {
    annotated(job, labels::TRIALS_PER_POD)
}

/// How many trials of a pod share its GPU at once.
pub(crate) fn trials_per_gpu(job: &Job) -> u32 {
    annotated(job, labels::TRIALS_PER_GPU)
}

/// The number in an annotation; 1 where it has none.
fn annotated(job: &Job, annotation: &str) -> u32 {
    job.annotations().get(annotation).and_then(|text| text.parse().ok()).filter(|&count| count > 0).unwrap_or(1)
}

/// The driver's own Job.
pub(crate) fn driver(jobs: &[Job]) -> Option<&Job> {
    jobs.iter().find(|job| job.labels().get(labels::STAGE).is_some_and(|stage| stage == labels::DRIVER))
}

impl SeenJob {
    fn missing(name: &str, order: usize) -> Self {
        let (has_batches, at_once, state) = (false, u32::MAX, State::Missing { overdue: false });
        Self {
            name: name.to_owned(),
            namespace: String::new(),
            order,
            is_one_trial: false,
            has_batches,
            queue: None,
            started: false,
            at_once,
            is_stuck: false,
            is_held: false,
            state,
            indexes: Indexes::default(),
        }
    }

    pub(crate) fn of(job: &Job, order: usize) -> Self {
        let queue = job.annotations().get(labels::QUEUE).cloned();
        let started = match queue {
            Some(_) => job.labels().contains_key(labels::KUEUE_QUEUE),
            None => job.annotations().contains_key(labels::STARTED),
        };
        let rules = job.spec.iter().filter_map(|spec| spec.success_policy.as_ref()).flat_map(|policy| &policy.rules);
        let is_led = rules.clone().any(|rule| rule.succeeded_indexes.is_some());
        let is_one_trial = is_led && job.labels().get(labels::STAGE).is_some_and(|stage| stage == TRAIN);
        let (name, at_once, state) = (job.name_any(), u32::MAX, State::of(job));
        let (has_batches, namespace) = (trials_per_pod(job) > 1, job.namespace().unwrap_or_default());
        let indexes = Indexes::of(job, &state, is_led);
        let (is_stuck, is_held) = (false, false);
        Self { name, namespace, order, is_one_trial, has_batches, queue, started, at_once, is_stuck, is_held, state, indexes }
    }

    /// Whether some of its pods have no node, or do not run yet.
    pub(crate) fn is_unplaced(&self) -> bool {
        matches!(self.state, State::Running { ready, done, of, .. } if ready + done < of)
    }
}

impl Indexes {
    fn of(job: &Job, state: &State, is_led: bool) -> Self {
        let one = |field: fn(&mut Self) -> &mut u32| {
            let mut indexes = Self::default();
            *field(&mut indexes) = 1;
            indexes
        };
        let is_one = is_led || job.spec.as_ref().is_none_or(|spec| spec.completions.is_none());
        match state {
            State::Running { active: 1.., .. } if is_one => one(|indexes| &mut indexes.active),
            State::Done if is_one => one(|indexes| &mut indexes.done),
            State::Failed(_) if is_one => one(|indexes| &mut indexes.failed),
            _ if is_one => one(|indexes| &mut indexes.waiting),
            _ => {
                let (all, status) = (indexes_of(job), job.status.clone().unwrap_or_default());
                let done = count_indexes(status.completed_indexes.as_deref().unwrap_or_default());
                let failed = count_indexes(status.failed_indexes.as_deref().unwrap_or_default());
                let active = count(status.active);
                Self { waiting: all.saturating_sub(done + failed + active), active, done, failed }
            }
        }
    }
}

impl State {
    /// How far a Job is that is there.
    pub(crate) fn of(job: &Job) -> Self {
        let status = job.status.clone().unwrap_or_default();
        if condition(&status, "Complete").is_some() {
            return Self::Done;
        }
        if let Some(failed) = condition(&status, "Failed") {
            return Self::Failed(Failure::of(failed, &status));
        }
        match job.spec.as_ref().and_then(|spec| spec.suspend) {
            Some(true) => Self::Suspended,
            _ => Self::Running {
                active: count(status.active),
                ready: count(status.ready),
                done: count(status.succeeded),
                of: indexes_of(job),
            },
        }
    }
}

impl Failure {
    fn of(condition: &JobCondition, status: &JobStatus) -> Self {
        Self {
            reason: condition.reason.clone().unwrap_or_default(),
            message: condition.message.clone().unwrap_or_default(),
            indexes: count_indexes(status.failed_indexes.as_deref().unwrap_or_default()),
        }
    }
}

/// A condition that holds.
pub(crate) fn condition<'a>(status: &'a JobStatus, kind: &str) -> Option<&'a JobCondition> {
    status.conditions.iter().flatten().find(|condition| condition.type_ == kind && condition.status == "True")
}

/// Pods that have to succeed.
fn indexes_of(job: &Job) -> u32 {
    let Some(spec) = &job.spec else { return 1 };
    let enough = spec.success_policy.iter().flat_map(|policy| &policy.rules).find_map(|rule| rule.succeeded_count);
    enough.or(spec.completions).map_or(1, |completions| count(Some(completions)))
}

pub(crate) fn count(number: Option<i32>) -> u32 {
    number.and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
}

/// How many indexes `1,3-5,7` names.
fn count_indexes(text: &str) -> u32 {
    spans(text).map(|(first, last)| last - first + 1).sum()
}

/// Whether `1,3-5,7` names an index.
pub(crate) fn names_index(text: &str, index: u32) -> bool {
    spans(text).any(|(first, last)| (first..=last).contains(&index))
}

/// The first and the last index of each part of `1,3-5,7`.
fn spans(text: &str) -> impl Iterator<Item = (u32, u32)> {
    text.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some((first, last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_counted() {
        for (text, count) in [("", 0), ("4", 1), ("1,3-5,7", 5), ("0-999", 1000)] {
            assert_eq!(count_indexes(text), count, "{text}");
        }
        assert!(names_index("1,3-5,7", 4) && names_index("1", 1) && !names_index("1,3-5,7", 2) && !names_index("", 0));
    }

    #[test]
    fn the_controllers_sentence_names_the_exit_code() {
        let failure = |code: u32| Failure {
            reason: "PodFailurePolicy".to_owned(),
            message: format!(
                "Container ranksweep for pod default/s-1-train-0-x failed with exit code {code} matching FailJob rule at index 2"
            ),
            indexes: 0,
        };
        assert!(failure(2).is_bad_configuration());
        assert!(!failure(42).is_bad_configuration() && !failure(27).is_bad_configuration());
    }
}

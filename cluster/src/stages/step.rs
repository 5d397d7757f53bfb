//! The driver's next step, as a function of what is seen.

use super::{Failure, SeenJob, State};
use std::fmt;

/// A step of the driver, about one Job or about them all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Unsuspend a Job.
    Unsuspend(String),
    /// Label a Job with its Kueue queue, which will unsuspend it.
    Label {
        /// The Job.
        job: String,
        /// The queue.
        queue: String,
    },
    /// Take the nodes away from a Job that does not get all that it needs; it is started again later.
    Suspend(String),
    /// Look again later.
    Wait(Pause),
    /// End.
    Finish(Outcome),
}

/// Why a Job is left alone for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Its pods run, or will.
    Runs {
        /// The Job.
        job: String,
        /// Pods that wait for a node or run.
        active: u32,
        /// Indexes that are done.
        done: u32,
        /// Indexes in all.
        of: u32,
    },
    /// Its Kueue queue has not admitted it.
    Queued {
        /// The Job.
        job: String,
        /// The queue.
        queue: String,
    },
    /// Somebody has suspended it.
    Suspended {
        /// The Job.
        job: String,
        /// Its namespace.
        namespace: String,
    },
    /// The Job is not there, and may yet be created.
    Missing(String),
    /// Trials over several nodes wait for their turn.
    Turn {
        /// Trials that wait.
        waiting: u32,
        /// Trials that may run at once.
        at_once: u32,
    },
}

/// How a sweep ended on the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done.
    Done,
    /// This many trials failed, and everything else was done.
    FailedTrials(u32),
    /// In this many pods of several trials each some of them failed, and everything else was done.
    FailedBatches(u32),
    /// A stage failed, and those after it were not begun.
    Failed {
        /// Its Job.
        job: String,
        /// How.
        failure: Failure,
    },
    /// A stage's Job is not there.
    Gone(String),
}

impl Outcome {
    /// Whether all was done, but for some trials.
    pub fn is_of_trials(&self) -> bool {
        matches!(self, Self::FailedTrials(_) | Self::FailedBatches(_))
    }

    /// The stage that failed, as `ranksweep logs --stage` names it: what follows the submission's hash in its Job's name.
    pub fn failed_stage(&self, hash: &str) -> Option<&str> {
        let Self::Failed { job, .. } = self else { return None };
        let (_, stage) = job.rsplit_once(&format!("-{hash}-"))?;
        Some(if stage == "drive" { crate::labels::DRIVER } else { stage })
    }
}

/// The steps about the Jobs of a sweep, given in the order of their stages.
///
/// Only the stage that is due is looked at: the first that is not over. What is missing before a stage that was started is over.
pub fn step(jobs: &[SeenJob]) -> Vec<Action> {
    let started = jobs.iter().filter(|job| job.was_begun()).map(|job| job.order).max().unwrap_or_default();
    let mut failed_trials = 0;
    for stage in jobs.chunk_by(|a, b| a.order == b.order) {
        if let Some(end) = stage.iter().find_map(|job| job.end()) {
            return vec![Action::Finish(end)];
        }
        let later_began = stage[0].order < started;
        let open: Vec<&SeenJob> = stage.iter().filter(|job| !job.is_behind(later_began)).collect();
        if !open.is_empty() {
            return if stage.iter().any(|job| job.is_one_trial) { gangs(&open) } else { open.into_iter().map(SeenJob::action).collect() };
        }
        failed_trials += stage.iter().map(SeenJob::failed_trials).sum::<u32>();
    }
    let has_batches = jobs.iter().any(|job| job.has_batches);
    vec![Action::Finish(match failed_trials {
        0 => Outcome::Done,
        failed if has_batches => Outcome::FailedBatches(failed),
        failed => Outcome::FailedTrials(failed),
    })]
}

/// The steps about trials over several nodes: no more of them run than may, and each has all of its nodes before the next is started, so that
/// no two wait for each other's. Under Kueue, which admits a Job as a whole, they are handed to their queue as far as they may run.
fn gangs(open: &[&SeenJob]) -> Vec<Action> {
    let (waiting, begun): (Vec<&SeenJob>, Vec<&SeenJob>) = open.iter().copied().partition(|job| job.is_waiting());
    let occupying: Vec<&SeenJob> = begun.iter().copied().filter(|job| job.is_occupying()).collect();
    let mut actions: Vec<Action> = begun.iter().map(|job| job.action()).collect();
    let stuck = occupying.iter().rev().find(|job| job.is_stuck && job.is_unplaced() && job.queue.is_none());
    if let (Some(job), 2..) = (stuck, occupying.len()) {
        actions.push(Action::Suspend(job.name.clone()));
        return actions;
    }
    let Some(first) = waiting.first() else { return actions };
    let room = (first.at_once as usize).saturating_sub(occupying.len());
    let room = match first.queue {
        Some(_) => room,
        None if occupying.iter().any(|job| job.is_unplaced()) => 0,
        None => room.min(1),
    };
    let may = |job: &&&SeenJob| !job.is_held || occupying.is_empty();
    let due: Vec<Action> = waiting.iter().filter(may).take(room).map(|job| job.action()).collect();
    let left = (waiting.len() - due.len()) as u32;
    let turn = (left > 0).then_some(Action::Wait(Pause::Turn { waiting: left, at_once: first.at_once }));
    actions.into_iter().chain(due).chain(turn).collect()
}

impl SeenJob {
    /// Whether nobody has started it.
    fn is_waiting(&self) -> bool {
        self.state == State::Suspended && !self.started
    }

    /// Whether it has nodes, or is to get them from its queue.
    fn is_occupying(&self) -> bool {
        matches!(self.state, State::Running { .. }) || (self.started && self.queue.is_some())
    }

    fn was_begun(&self) -> bool {
        self.started || matches!(self.state, State::Done | State::Failed(_) | State::Running { .. })
    }

    /// Whether it is over, or must have been, as a later stage has begun.
    fn is_behind(&self, later_began: bool) -> bool {
        match self.state {
            State::Done | State::Failed(_) => true,
            State::Missing { .. } => later_began,
            _ => false,
        }
    }

    /// The end of the sweep, if this Job is it.
    fn end(&self) -> Option<Outcome> {
        let State::Failed(failure) = &self.state else { return None };
        let is_of_trials = failure.is_of_indexes() || (self.is_one_trial && !failure.is_bad_configuration());
        (!is_of_trials).then(|| Outcome::Failed { job: self.name.clone(), failure: failure.clone() })
    }

    fn failed_trials(&self) -> u32 {
        match &self.state {
            State::Failed(_) if self.is_one_trial => 1,
            State::Failed(failure) => failure.indexes,
            _ => 0,
        }
    }

    /// The step about a Job that is due and not over.
    fn action(&self) -> Action {
        let job = self.name.clone();
        match (&self.state, &self.queue) {
            (State::Missing { overdue: true }, _) => Action::Finish(Outcome::Gone(job)),
            (State::Missing { .. }, _) => Action::Wait(Pause::Missing(job)),
            (State::Suspended, None) if self.started => Action::Wait(Pause::Suspended { job, namespace: self.namespace.clone() }),
            (State::Suspended, None) => Action::Unsuspend(job),
            (State::Suspended, Some(queue)) if self.started => Action::Wait(Pause::Queued { job, queue: queue.clone() }),
            (State::Suspended, Some(queue)) => Action::Label { job, queue: queue.clone() },
            (&State::Running { active, done, of, .. }, _) => Action::Wait(Pause::Runs { job, active, done, of }),
            (State::Done | State::Failed(_), _) => unreachable!("a Job that is over is not due"),
        }
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs { job, active, done, of } => write!(f, "{job}: {done} of {of} done, {active} pods run or wait for a node"),
            Self::Queued { job, queue } => write!(f, "{job}: waits until the Kueue queue `{queue}` admits it"),
            Self::Suspended { job, namespace } => {
                let patch = "{\"spec\":{\"suspend\":false}}";
                write!(f, "{job}: somebody suspended it; `kubectl patch job {job} --namespace {namespace} --patch '{patch}'` goes on")
            }
            Self::Missing(job) => write!(f, "{job}: is not there yet"),
            Self::Turn { waiting, at_once: u32::MAX } => write!(f, "{waiting} trials wait for their nodes, one after the other"),
            Self::Turn { waiting, at_once } => {
                write!(f, "{waiting} trials wait for their nodes, one after the other; at most {at_once} run at once (`parallelism`)")
            }
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("the sweep is done"),
            Self::FailedTrials(1) => f.write_str("1 trial failed; everything else was done"),
            Self::FailedTrials(count) => write!(f, "{count} trials failed; everything else was done"),
            Self::FailedBatches(1) => f.write_str("in 1 pod of several trials some failed; everything else was done"),
            Self::FailedBatches(count) => write!(f, "in {count} pods of several trials each some failed; everything else was done"),
            Self::Failed { job, failure } if failure.is_bad_configuration() => {
                write!(f, "{job} refused its sweep file or command line: {}", failure.message)
            }
            Self::Failed { job, failure } => write!(f, "{job} failed: {} ({})", failure.message, failure.reason),
            Self::Gone(job) => {
                write!(f, "the Job {job} is not there: it was deleted, or never created; `ranksweep submit` goes on from what is stored")
            }
        }
    }
}

#[cfg(test)]
mod tests;

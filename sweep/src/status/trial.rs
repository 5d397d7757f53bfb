//! One trial: what it has stored, and what its pod says.

use crate::{
    plan::PlannedRef,
    runner::{LeftOut, Session, holder, out_of_time},
};
use anyhow::Result;
use cluster::{client::PodView, exit};
use serde::Serialize;
use trainer::{Ended, Fit, Outcome, Progress, progress};

/// How a trial stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TrialState {
    /// The trial has not begun, or has not ended and will go on.
    Waiting,
    /// A pod or a process works on the trial.
    Running,
    /// The trial has a model.
    Done,
    /// The search has stopped the trial, as others of its method were better.
    Stopped,
    /// The search has picked other values by other seeds, so that the trial is not needed.
    Skipped,
    /// The trial has no model, and will not have one: it failed, or its time limit is over.
    Failed,
}

/// A trial as it stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialStatus {
    /// Its place in the plan, from 0.
    pub index: usize,
    /// Its id.
    pub trial: String,
    /// Its method's key: the same in every table.
    pub method: String,
    /// Its method as the leaderboard calls it.
    pub title: String,
    /// Its tuned values; empty where nothing is tuned.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub values: String,
    /// Its dataset.
    pub dataset: String,
    /// The seed of its split, where its dataset has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split_seed: Option<u64>,
    /// Its seed.
    pub seed: Option<u64>,
    /// How it stands.
    pub state: TrialState,
    /// Epochs done, when its state was last stored.
    pub epoch: Option<u32>,
    /// Epochs at most.
    pub epochs: Option<u32>,
    /// The metric of validation.
    pub metric: String,
    /// Its value: the last one while it runs, the best one when it is done.
    pub value: Option<f64>,
    /// Why it failed, or why it waits.
    pub why: Option<String>,
}

/// Facts about a trial beside those in its folder.
pub(super) struct Known<'a> {
    /// Its method as the leaderboard calls it.
    pub(super) title: &'a str,
    /// Why the search trains it no further, if it does not.
    pub(super) left_out: Option<&'a LeftOut>,
    /// Its last pod.
    pub(super) pod: Option<&'a PodView>,
}

/// How a trial stands, by its search, its folder and its pod.
pub(super) fn status(
    session: &Session,
    index: usize,
    (method, configuration, planned): PlannedRef<'_>,
    known: &Known<'_>,
) -> Result<TrialStatus> {
    let folder = session.trial(&planned.id);
    let mut status = TrialStatus {
        index,
        trial: planned.id.clone(),
        method: method.label.clone(),
        title: known.title.to_owned(),
        values: configuration.words(),
        dataset: method.dataset.clone(),
        split_seed: planned.split_seed,
        seed: planned.seed(),
        state: TrialState::Waiting,
        epoch: None,
        epochs: planned.trial.epochs(),
        metric: planned.trial.select_by.to_string(),
        value: None,
        why: None,
    };
    match known.left_out {
        Some(LeftOut::Stopped(fit)) => {
            status.end(TrialState::Stopped, fit); // however far another sweep went
            status.why = Some("stopped by the search, as others were better".to_owned());
            return Ok(status);
        }
        Some(LeftOut::Skipped) => {
            status.state = TrialState::Skipped;
            status.why = Some("skipped by the search, as others were better by the seeds that pick values".to_owned());
            return Ok(status);
        }
        None => {}
    }
    match Ended::read(&folder, &planned.id).map(|ended| ended.map(|ended| ended.outcome)) {
        Ok(Some(Outcome::Done(fit))) => status.end(TrialState::Done, &fit),
        Ok(Some(Outcome::Failed(error))) => (status.state, status.why) = (TrialState::Failed, Some(error)),
        Ok(None) => match progress(&folder, &planned.id) {
            Err(error) if error.is_damage() => status.begin_anew(&error),
            progress => status.go_on(session, progress?, known.pod, holder(&folder)?),
        },
        Err(error) if error.is_damage() => status.begin_anew(&error),
        Err(error) => return Err(error.into()),
    }
    Ok(status)
}

impl TrialStatus {
    /// Notes that a trial trains no more.
    fn end(&mut self, state: TrialState, fit: &Fit) {
        (self.state, self.epoch, self.value) = (state, Some(fit.epochs), fit.validation);
    }

    /// Notes that a trial is trained again, as a file of it is damaged.
    fn begin_anew(&mut self, error: &dyn std::fmt::Display) {
        self.why = Some(format!("{error}: it is trained again"));
    }

    /// Notes how far a trial is that has not ended.
    fn go_on(&mut self, session: &Session, progress: Option<Progress>, pod: Option<&PodView>, holder: Option<String>) {
        (self.epoch, self.value) = (progress.map(|progress| progress.epoch), progress.and_then(|progress| progress.validation));
        let over = progress.and_then(|progress| out_of_time(session, &progress));
        (self.state, self.why) = match (pod, holder, over) {
            (Some(pod), ..) => by_pod(pod),
            (None, Some(owner), _) => (TrialState::Running, Some(format!("by {owner}"))),
            (None, None, Some(over)) => (TrialState::Failed, Some(over.to_string())),
            (None, None, None) => (TrialState::Waiting, progress.map(|_| "not ended, and can go on".to_owned())),
        };
    }
}

/// The state of a trial without a result, by its last pod, and why.
fn by_pod(pod: &PodView) -> (TrialState, Option<String>) {
    let said = |text: &str| match &pod.message {
        Some(message) => Some(format!("{text}: {message}")),
        None => Some(text.to_owned()),
    };
    let hindered = |text: &str| match &pod.reason {
        Some(reason) => Some(format!("{text}: {}", reason.what)),
        None => Some(text.to_owned()),
    };
    match (pod.phase.as_str(), pod.exit_code) {
        ("Running", _) if pod.reason.is_some() => (TrialState::Waiting, hindered("its pod may not run any longer")),
        ("Running", _) => (TrialState::Running, None),
        ("Failed", Some(exit::TIME_LIMIT)) => (TrialState::Failed, Some("its time limit is over; with a larger one it goes on".to_owned())),
        ("Failed", Some(exit::INTERRUPTED) | None) => {
            (TrialState::Waiting, Some("its pod was interrupted; the next one goes on".to_owned()))
        }
        ("Failed", Some(code @ (exit::BAD_CONFIGURATION | exit::REPEATS))) => {
            (TrialState::Failed, said(&format!("its pod ended with exit code {code}")))
        }
        ("Failed", Some(code)) => (TrialState::Waiting, said(&format!("its last pod ended with exit code {code}"))),
        ("Pending", _) => (TrialState::Waiting, hindered("its pod is not running yet")),
        _ => (TrialState::Waiting, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluster::client::Reason;

    fn pod(phase: &str, exit_code: Option<i32>, message: Option<&str>) -> PodView {
        PodView {
            name: "p".to_owned(),
            job: "j".to_owned(),
            index: Some(0),
            phase: phase.to_owned(),
            reason: None,
            message: message.map(str::to_owned),
            exit_code,
            node: None,
        }
    }

    #[test]
    fn a_pod_says_why_its_trial_waits_or_failed() {
        assert_eq!(by_pod(&pod("Running", None, None)), (TrialState::Running, None));
        let what = "no node for it (0/3 nodes are available: 3 Insufficient nvidia.com/gpu)".to_owned();
        let reason = Some(Reason { what, remedy: "add nodes".to_owned(), pods: 1 });
        let (state, why) = by_pod(&PodView { reason: reason.clone(), ..pod("Pending", None, None) });
        assert_eq!(
            (state, why.unwrap().as_str()),
            (TrialState::Waiting, "its pod is not running yet: no node for it (0/3 nodes are available: 3 Insufficient nvidia.com/gpu)")
        );
        let (state, why) = by_pod(&pod("Failed", Some(42), Some("error: the loss is not finite")));
        assert_eq!((state, why.unwrap().as_str()), (TrialState::Failed, "its pod ended with exit code 42: error: the loss is not finite"));
        assert_eq!(by_pod(&pod("Failed", Some(124), None)).0, TrialState::Failed);
        for code in [Some(1), Some(75), None] {
            assert_eq!(by_pod(&pod("Failed", code, None)).0, TrialState::Waiting);
        }
    }
}

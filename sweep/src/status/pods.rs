//! Which pod trains which trial, or was the last one to.

use super::{Opened, StorageAccess, open};
use crate::{file::Named, runner::Decisions, usage::Usage};
use anyhow::Result;
use cluster::client::{ClientError, Cluster, PodView, Reason, Seen, StageView, Whose, status};
use dataset::block_on;
use serde::Serialize;
use std::collections::HashMap;

/// A pod as it stands.
#[derive(Clone, Debug, Serialize)]
pub struct PodStatus {
    /// The stage: `train`, `train-r0`.
    pub stage: String,
    /// Its index in the stage.
    pub index: Option<u32>,
    /// Its name.
    pub pod: String,
    /// `Pending`, `Running`, `Succeeded`, `Failed`.
    pub phase: String,
    /// How it ended.
    pub exit_code: Option<i32>,
    /// Why it does not run.
    pub reason: Option<Reason>,
    /// The pod's last words.
    pub message: Option<String>,
}

/// The last pod of each trial, where nothing else is known of the trials.
pub(super) fn alone(seen: Option<&Seen>) -> Vec<PodStatus> {
    let Some(seen) = seen else { return Vec::new() };
    let status = |pod: &PodView| {
        let stage = seen.stages.iter().find(|stage| stage.job == pod.job).filter(|stage| parse(&stage.stage).is_some())?;
        let pod = pod.clone();
        let (stage, PodView { name, index, phase, exit_code, reason, message, .. }) = (stage.stage.clone(), pod);
        Some(PodStatus { stage, index, pod: name, phase, exit_code, reason, message })
    };
    seen.pods.iter().filter_map(status).collect()
}

/// A trial as it is named on a command line.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// The trial with this id.
    Id(&'a str),
    /// The trial at this place in the plan, from 0.
    Place(u32),
}

/// The log of a trial: of its last pod, in whichever rung of successive halving, and of rank 0 where it has several.
///
/// # Errors
/// A bad sweep file, or one that was changed since it was submitted, a trial that the plan does not have, [`ClientError::NotThere`] for one without a
/// pod, a store that fails, what the cluster refuses.
pub fn whose(named: &Named, way: &StorageAccess<'_>, cluster: &Cluster, which: Which<'_>) -> Result<Whose> {
    let stage = || "train".to_owned();
    let Some(seen) = block_on(status(cluster, &named.name))? else { return Ok(Whose { stage: stage(), index: None }) };
    // Where one Job has all trials, their places are its indexes.
    let plain = seen.stages.iter().find(|job| job.stage == "train");
    if let (Which::Place(place), Some(job)) = (which, plain) {
        return Ok(Whose { stage: stage(), index: Some(place / job.trials_per_pod) });
    }
    let Some(path) = &named.file else {
        let stages: Vec<&str> = seen.stages.iter().map(|stage| stage.stage.as_str()).collect();
        let words = "by the sweep's name alone, a trial is found by --index within a --stage";
        return Err(Usage(format!("{words} (expected one of {}); or give the sweep file", stages.join(", "))).into());
    };
    let Opened { session, is_submitted } = open(path, way, Some(&seen), &mut Vec::new())?;
    if !is_submitted {
        let words = "the sweep file has changed since it was submitted, and its trials are not those of the pods";
        return Err(Usage(format!("{words}: name a pod by --index within a --stage")).into());
    }
    let ids: Vec<&str> = session.plan.trials().map(|(.., trial)| trial.id.as_str()).collect();
    let id = match which {
        Which::Place(place) => {
            *ids.get(place as usize).ok_or_else(|| Usage(format!("--index: the plan has {} trials, counted from 0", ids.len())))?
        }
        Which::Id(id) if ids.contains(&id) => id,
        Which::Id(id) => {
            return Err(Usage(format!("--trial: no trial of the plan has the id `{id}`; `ranksweep status` lists them")).into());
        }
    };
    let pods = of_trials(&mut Decisions::of(&session)?, Some(&seen))?;
    let found = pods.get(id).and_then(|pod| Some((pod, seen.stages.iter().find(|job| job.job == pod.job)?)));
    let (sweep, namespace) = (&named.name, cluster.namespace());
    let none = || {
        let words = format!("there is no pod of trial {id}: it has not begun, was stopped or done before, or its pod was removed");
        ClientError::NotThere(format!("{words}; `ranksweep status {sweep} --namespace {namespace}` says which"))
    };
    let (pod, job) = found.ok_or_else(none)?;
    Ok(Whose { stage: job.stage.clone(), index: pod.index })
}

/// The last pod of each trial, by the trial's id; of several ranks the first one's.
pub(super) fn of_trials<'a>(decisions: &mut Decisions<'_>, seen: Option<&'a Seen>) -> Result<HashMap<String, &'a PodView>> {
    let mut all = HashMap::new();
    let Some(seen) = seen else { return Ok(all) };
    // Jobs are in the order of the stages: a later rung's pod takes the place of an earlier one's.
    for (job, rung, trial) in trainings(seen) {
        let own: Vec<&PodView> = seen.pods.iter().filter(|pod| pod.job == job.job).collect();
        let trials = if own.is_empty() { Vec::new() } else { decisions.in_rung(rung)? };
        for pod in own {
            let (places, several) = match (trial, pod.index) {
                (Some(trial), Some(0)) => (Some(trial), 1),
                (Some(_), _) => (None, 1),
                (None, index) => (index, job.trials_per_pod),
            };
            let places =
                places.into_iter().flat_map(|index| index.saturating_mul(several)..index.saturating_add(1).saturating_mul(several));
            let ids = places.filter_map(|place| trials.get(place as usize));
            all.extend(ids.map(|id| ((*id).to_owned(), pod)));
        }
    }
    Ok(all)
}

/// The last rung that has begun.
pub(super) fn begun(seen: Option<&Seen>) -> usize {
    let begun = seen.into_iter().flat_map(trainings).filter(|(job, ..)| job.started);
    begun.map(|(_, rung, _)| rung).max().unwrap_or_default()
}

/// The Jobs that train, each with its rung and, where it is of one trial, that trial's place.
fn trainings(seen: &Seen) -> impl Iterator<Item = (&StageView, usize, Option<u32>)> {
    seen.stages.iter().filter_map(|job| parse(&job.stage).map(|(rung, trial)| (job, rung, trial)))
}

/// The rung and the trial's place in a stage's name: `train`, `train-r1`, and for trials over several nodes `train-3`, `train-r1-3`.
fn parse(stage: &str) -> Option<(usize, Option<u32>)> {
    let rest = stage.strip_prefix("train")?;
    let (rung, trial) = match rest.strip_prefix("-r") {
        None => (0, rest.strip_prefix('-')),
        Some(rest) => {
            let (rung, trial) = rest.split_once('-').map_or((rest, None), |(rung, trial)| (rung, Some(trial)));
            (rung.parse().ok()?, trial)
        }
    };
    Some((rung, trial.map(str::parse).transpose().ok()?))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_job_says_its_rung_and_its_trial() {
        let stages = ["train", "train-r0", "train-r12", "train-3", "train-r1-34"].map(parse);
        assert_eq!(stages, [(0, None), (0, None), (12, None), (0, Some(3)), (1, Some(34))].map(Some));
        assert_eq!(["prepare", "evaluate", "train-x"].map(parse), [None; 3]);
    }
}

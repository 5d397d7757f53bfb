//! Which pod trains which trial, or was the last one to.

use crate::runner::Decisions;
use anyhow::Result;
use cluster::client::{PodView, Seen, StageView};
use std::collections::HashMap;

/// The last pod of each trial, by the trial's id; of several ranks the first one's.
pub(super) fn of_trials<'a>(decisions: &mut Decisions<'_>, seen: Option<&'a Seen>) -> Result<HashMap<String, &'a PodView>> {
    let mut all = HashMap::new();
    let Some(seen) = seen else { return Ok(all) };
    // Jobs are in the order of the stages: a later rung's pod takes the place of an earlier one's.
    for (job, rung, trial) in trainings(seen) {
        let own: Vec<&PodView> = seen.pods.iter().filter(|pod| pod.job == job.job).collect();
        let trials = if own.is_empty() { Vec::new() } else { decisions.in_rung(rung)? };
        for pod in own {
            let place = match (trial, pod.index) {
                (Some(trial), Some(0)) => Some(trial),
                (Some(_), _) => None,
                (None, index) => index,
            };
            let id = place.and_then(|place| trials.get(place as usize));
            all.extend(id.map(|id| ((*id).to_owned(), pod)));
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

/// Of `train`, `train-r1`, and for trials over several nodes `train-3`, `train-r1-3`: the rung, and the trial's place.
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

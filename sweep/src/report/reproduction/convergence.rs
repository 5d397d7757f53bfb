//! The validation curves of a dataset's picked trials, for claims about epochs.

use super::{Input, methods};
use crate::{
    plan::PlannedClaim,
    tables::{CurveRow, TrialRow},
};
use evaluator::significance::{Course, Estimate, MethodCourses, convergence};

/// How many epochs more the slower method of a claim needs; none where one of the two has no curve.
pub(super) fn estimate(input: &Input, claim: &PlannedClaim, faster: &str, slower: &str) -> Option<Estimate> {
    let methods = courses(input, claim);
    let place = |key: &str| methods.iter().position(|found| found.method == key);
    convergence(&methods, place(faster)?, place(slower)?)
}

/// The methods of the claim's dataset, with the curves by its metric of the trials that were picked.
fn courses<'a>(input: &Input<'a>, claim: &PlannedClaim) -> Vec<MethodCourses<'a>> {
    let course = |trial: &TrialRow| {
        let of_trial = |row: &&CurveRow| row.trial == trial.trial && row.at == Some(claim.at);
        let values = input.curves.iter().filter(of_trial).filter_map(|row| Some((row.epoch, row.value?))).collect();
        Course { split_seed: trial.split_seed, values }
    };
    let picked = |trials: &[&TrialRow]| trials.iter().filter(|trial| trial.selected).map(|trial| course(trial)).collect();
    methods(input.trials, &claim.dataset)
        .into_iter()
        .map(|method| MethodCourses { method: method.key, courses: picked(&method.trials) })
        .collect()
}

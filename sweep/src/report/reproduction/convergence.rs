//! The validation curves of a dataset's picked trials, for claims about epochs.

use super::Input;
use crate::{plan::PlannedClaim, tables::CurveRow};
use evaluator::significance::{Course, Estimate, MethodCourses, convergence};

/// How many epochs more the slower method of a claim needs; none where one of the two has no curve.
pub(super) fn estimate(input: &Input, claim: &PlannedClaim, faster: &str, slower: &str) -> Option<Estimate> {
    let methods = methods(input, claim);
    let place = |key: &str| methods.iter().position(|found| found.method == key);
    convergence(&methods, place(faster)?, place(slower)?)
}

/// The methods of the claim's dataset, with the curves by its metric of the trials that were picked.
fn methods<'a>(input: &Input<'a>, claim: &PlannedClaim) -> Vec<MethodCourses<'a>> {
    let mut methods: Vec<MethodCourses<'a>> = Vec::new();
    for trial in input.trials.iter().filter(|trial| trial.dataset == claim.dataset && trial.selected) {
        let of_trial = |row: &&CurveRow| row.trial == trial.trial && row.at == Some(claim.at);
        let values = input.curves.iter().filter(of_trial).filter_map(|row| Some((row.epoch, row.value?))).collect();
        let course = Course { split_seed: trial.split_seed, values };
        match methods.iter_mut().find(|method| method.method == trial.method) {
            Some(method) => method.courses.push(course),
            None => methods.push(MethodCourses { method: &trial.method, courses: vec![course] }),
        }
    }
    methods
}

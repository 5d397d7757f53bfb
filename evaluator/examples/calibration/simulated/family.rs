//! How often the corrected verdicts on all pairs of a set err, from values to rows as in a sweep.

use super::{ALPHA, Population, Rate};
use dataset::Split;
use evaluator::{
    Evaluation, Metric, MetricAt, Result, TrialValues,
    findings::compare,
    settings::{Significance, Test},
    significance::{Comparison, MethodValues},
};
use rayon::prelude::*;

/// Resamples of the joint distribution.
const RESAMPLES: u32 = 1000;
/// The name that values go by.
const PRIMARY: MetricAt = MetricAt { metric: Metric::Ndcg, cutoff: Some(20) };

/// The errors of the corrected default over all pairs.
pub(crate) struct FamilyRates {
    /// How often any two methods are called different that are not.
    pub(crate) false_positives: Rate,
    /// How often all intervals hold the true differences.
    pub(crate) coverage: Rate,
}

/// The rates over so many sets in which the first `better` methods are better than the others.
///
/// # Errors
/// Those of [`compare`], which refuses no values that are drawn here.
pub(crate) fn family(population: &Population, better: usize, repeats: usize) -> Result<FamilyRates> {
    let outcome = |repeat: usize| {
        let methods = population.draw(better, &format!("family {better}"), repeat);
        let rows = compared(&methods, repeat as u64)?;
        let step = |method: &str| if methods[..better].iter().any(|known| known.method == method) { population.step } else { 0.0 };
        let truth = |row: &Comparison| step(&row.method_a) - step(&row.method_b);
        let wrong = |row: &Comparison| row.significant && truth(row) == 0.0;
        Ok((rows.iter().any(wrong), rows.iter().all(|row| !wrong(row) && holds(row, truth(row)))))
    };
    let outcomes: Vec<(bool, bool)> = (0..repeats).into_par_iter().map(outcome).collect::<Result<_>>()?;
    Ok(FamilyRates {
        false_positives: Rate::of(outcomes.iter().map(|(wrong, _)| *wrong)),
        coverage: Rate::of(outcomes.iter().map(|(_, held)| *held)),
    })
}

fn holds(row: &Comparison, truth: f64) -> bool {
    row.ci_low.is_none_or(|low| low <= truth) && row.ci_high.is_none_or(|high| truth <= high)
}

/// The rows of all pairs by the corrected default.
fn compared(methods: &[MethodValues<'_>], seed: u64) -> Result<Vec<Comparison>> {
    let significance =
        Significance { tests: vec![Test::PairedT], alpha: ALPHA, bootstrap_resamples: RESAMPLES, seed, ..Significance::default() };
    let trials: Vec<TrialValues> = methods.iter().flat_map(trials).collect();
    Ok(compare(&trials, &Evaluation { significance, ..Evaluation::default() }, &mut |_, _| {})?.comparisons)
}

/// One trial for each seed of a method.
fn trials(method: &MethodValues<'_>) -> Vec<TrialValues> {
    let trial = |(seed, values): (u64, &std::borrow::Cow<'_, [f64]>)| TrialValues {
        trial: format!("{}-{seed}", method.method),
        method: method.method.clone(),
        dataset: "simulated".to_owned(),
        seed: Some(seed),
        split_seed: None,
        split: Split::Test,
        users: method.users.clone(),
        user_ids: vec![String::new(); values.len()].into(),
        values: vec![(PRIMARY, values.to_vec())],
        tied_users: 0,
        listed: None,
        unknown_users: 0,
        sampled_candidates: None,
        groups: Vec::new(),
    };
    (0..).zip(&method.replicates).map(trial).collect()
}

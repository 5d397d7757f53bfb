//! The picked trials on the test part: metrics, values per user, tests.

use super::{Interrupted, Results, Session, Standing, results, rows, select};
use crate::{interrupt, plan::Spaces, tables::TrialRow};
use anyhow::{Context, Result};
use dataset::Split;
use evaluator::{
    evaluate::{Candidate, TrialValues, evaluate as rank},
    significance::{Findings, compare},
};

/// Picks each method's values by validation, ranks the picked trials on the test part, tests the differences, and writes the tables.
///
/// # Errors
/// A checkpoint or a dataset that cannot be read, a store that fails, or a signal that came while training ended.
pub fn evaluate(session: &Session, endings: &[Standing]) -> Result<Results> {
    if interrupt::has_come() {
        return Err(Interrupted { ended: endings.len(), trials: endings.len() }.into());
    }
    let manifests = session.prepared()?;
    let picked = select::picked(&session.plan, endings);
    let trials = rows::trials(session, endings, &picked);
    let progress = session.progress.ranking(trials.iter().filter(|row| row.selected).count());
    let mut values: Vec<TrialValues> = Vec::new();
    for dataset in &session.plan.datasets {
        let candidates = candidates(session, &dataset.preparation.name, &trials);
        if candidates.is_empty() {
            continue;
        }
        let name = &dataset.preparation.name;
        let dataset = session.read_dataset(name).with_context(|| format!("dataset `{name}`"))?;
        let (settings, memory) = (&session.plan.evaluation, session.machine.memory);
        let ranked = rank(&dataset, Split::Test, &candidates, settings, memory, &mut |candidate| progress.ranked(candidate));
        values.extend(ranked.with_context(|| format!("dataset `{name}`"))?);
    }
    let Findings { comparisons, methods: components } =
        compare(&values, &session.plan.evaluation, &mut |done, all| progress.tested(done, all))?;
    progress.finish();
    let (spaces, curves) = (Spaces::of(&session.file), rows::curves(session, endings)?);
    let results = Results { manifests, spaces, trials, values, comparisons, components, curves };
    results::write(session, &results)?;
    Ok(results)
}

fn candidates(session: &Session, dataset: &str, trials: &[TrialRow]) -> Vec<Candidate> {
    trials.iter().filter(|row| row.selected && row.dataset == dataset).map(|row| candidate(session, row)).collect()
}

pub(super) fn candidate(session: &Session, row: &TrialRow) -> Candidate {
    Candidate {
        trial: row.trial.clone(),
        method: row.method.clone(),
        dataset: row.dataset.clone(),
        seed: row.seed,
        split_seed: None,
        checkpoint: session.trial(&row.trial).join("checkpoint"),
    }
}

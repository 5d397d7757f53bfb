//! All trials: what was tried, what validation said, how long it took.

use super::{MethodTrials, Palette};
use crate::number;
use crate::tables::{Status, TrialRow};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct TrialLine<'a> {
    trial: &'a str,
    color: usize,
    title: String,
    values: String,
    seed: String,
    split: String,
    status: &'static str,
    failed: bool,
    selected: bool,
    validation: String,
    epochs: String,
    time: String,
    device: &'a str,
    error: &'a str,
}

/// The trials of a method, the picked ones first, then by validation; those that were stopped come after those that ended.
pub(super) fn lines<'a>(method: &MethodTrials<'a>, palette: &Palette) -> Vec<TrialLine<'a>> {
    let tuned = method.tuned();
    let mut trials = method.trials.clone();
    let order = |trial: &TrialRow| (!trial.selected, trial.status.has_failed(), matches!(trial.status, Status::Stopped | Status::Skipped));
    trials.sort_by(|a, b| {
        let validation = |trial: &TrialRow| if trial.selected { 0.0 } else { trial.validation.unwrap_or(f64::NEG_INFINITY) };
        order(a).cmp(&order(b)).then(validation(b).total_cmp(&validation(a)))
    });
    let shown = if tuned.is_empty() { None } else { Some(tuned.as_slice()) };
    trials.into_iter().map(|trial| line(method, trial, shown, palette)).collect()
}

fn line<'a>(method: &MethodTrials, trial: &'a TrialRow, shown: Option<&[String]>, palette: &Palette) -> TrialLine<'a> {
    let epochs = trial.best_epoch.zip(trial.epochs).filter(|&(_, all)| all > 0).map(|(best, all)| format!("{best} of {all}"));
    TrialLine {
        trial: &trial.trial,
        color: palette.color(method.key),
        title: method.title.clone(),
        values: number::parameters(&trial.parameters, shown),
        seed: trial.seed.map_or_else(String::new, |seed| seed.to_string()),
        split: trial.split_seed.map_or_else(String::new, |seed| seed.to_string()),
        status: trial.status.name(),
        failed: trial.status.has_failed(),
        selected: trial.selected,
        validation: trial.validation.map_or_else(String::new, number::value),
        epochs: epochs.unwrap_or_default(),
        time: trial.seconds.map_or_else(String::new, number::seconds),
        device: trial.device.as_deref().unwrap_or_default(),
        error: trial.error.as_deref().unwrap_or_default(),
    }
}

//! The endings of the plan's trials, as rows of `trials.parquet` and `curves.parquet`.

use super::{Session, Standing, evaluate::forget};
use crate::{
    plan::{Configuration, PlannedRef},
    tables::{CurveRow, Status, TrialRow, curves},
};
use anyhow::Result;

/// One row per trial, in the plan's order.
pub(super) fn trials(session: &Session, endings: &[Standing], picked: &[Option<&Configuration>]) -> Vec<TrialRow> {
    let is_picked = |configuration: &Configuration| picked.iter().flatten().any(|other| std::ptr::eq(*other, configuration));
    let row = |(planned, ending): (PlannedRef<'_>, &Standing)| trial(planned, ending, is_picked(planned.1));
    session.plan.trials().zip(endings).map(row).collect()
}

fn trial((method, configuration, trial): PlannedRef<'_>, ending: &Standing, picked: bool) -> TrialRow {
    let fit = ending.fit();
    TrialRow {
        trial: trial.id.clone(),
        method: method.label.clone(),
        dataset: method.dataset.clone(),
        backbone: method.backbone.clone(),
        loss: method.loss.clone(),
        sampler: method.sampler.clone(),
        parameters: configuration.parameters.clone().into(),
        seed: trial.seed(),
        split_seed: trial.split_seed,
        status: match ending {
            Standing::Done(_) => Status::Done,
            Standing::Stopped(_) => Status::Stopped,
            Standing::Skipped => Status::Skipped,
            Standing::Failed(_) | Standing::Broken(_) => Status::Failed,
            Standing::TimedOut(_) | Standing::Missing => Status::Missing,
        },
        selected: picked && ending.finished().is_some(),
        epochs: fit.map(|fit| fit.epochs),
        best_epoch: fit.map(|fit| fit.best_epoch),
        select_by: trial.trial.select_by,
        validation: fit.and_then(|fit| fit.validation),
        seconds: fit.map(|fit| fit.seconds),
        device: fit.map(|fit| fit.device.clone()),
        error: ending.error().map(str::to_owned),
        remarks: fit.map(|fit| fit.remarks.join("; ")).filter(|remarks| !remarks.is_empty()),
    }
}

/// The curves of all trials that have one, in the plan's order; of one that was stopped up to where it was, and none of one that was skipped, however far
/// another sweep went. A
/// trial whose curve is damaged counts as failed from here on, and the next start trains it again.
pub(super) fn curves(session: &Session, endings: &mut [Standing]) -> Result<Vec<CurveRow>> {
    let mut rows = Vec::new();
    for ((.., trial), ending) in session.plan.trials().zip(endings) {
        if matches!(ending, Standing::Broken(_) | Standing::Skipped) {
            continue;
        }
        let last = if let Standing::Stopped(fit) = ending { fit.epochs } else { u32::MAX };
        match curve(session, &trial.id) {
            Ok(curve) => rows.extend(curve.into_iter().filter(|row| row.epoch <= last)),
            Err(error @ dataset::Error::Store { .. }) => return Err(error.into()),
            Err(error) => {
                forget(session, &trial.id, &error);
                *ending = Standing::Broken(error.to_string());
            }
        }
    }
    Ok(rows)
}

fn curve(session: &Session, trial: &str) -> dataset::Result<Vec<CurveRow>> {
    match trainer::curve(&session.trial(trial), trial)? {
        Some(curve) => curves::of_trial(trial, &curve),
        None => Ok(Vec::new()),
    }
}

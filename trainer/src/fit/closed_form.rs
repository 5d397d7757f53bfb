//! Backbones that fit without sampling.

use crate::fit::{
    Finished, Fit, Resources,
    checkpoint::{curve, stored_files::Checkpoint},
    views::Views,
};
use crate::{Error, Result, Trial, validation::validate};
use dataset::Location;
use evaluator::Scorer;
use models::Trained;
use std::time::Instant;

pub(crate) fn fit(trial: &Trial, views: &Views<'_>, folder: &Location, resources: &Resources) -> Result<Finished> {
    if resources.is_interrupted() {
        return Err(Error::Interrupted { epoch: 0 });
    }
    let start = Instant::now();
    let needs_more = || Error::impossible("this backbone needs a loss, a sampler and an optimizer");
    let scorer = trial.backbone.closed_form().ok_or_else(needs_more)?.fit(views.seen(), resources.memory)?;
    finish(trial, views, folder, resources, scorer, Vec::new(), start)
}

/// Validates and stores a model that is there at once, with what is remarkable of it and when the work on it began.
pub(crate) fn finish(
    trial: &Trial,
    views: &Views<'_>,
    folder: &Location,
    resources: &Resources,
    scorer: Scorer,
    remarks: Vec<String>,
    start: Instant,
) -> Result<Finished> {
    let model = Trained { scorer, parameters: Vec::new() };
    let (scorer, dataset) = (views.scorer(trial, model)?, views.whole());
    let validation = validate(&scorer, dataset, trial.select_by, resources.memory)?;
    let per_user = validation.as_ref().map(|validation| validation.table(dataset, trial.select_by)).transpose()?;
    resources.check_fence()?;
    let checkpoint = Checkpoint::write(folder, &scorer, &Vec::new(), per_user)?;
    let curve = curve::write(folder, &[], trial.select_by)?;
    let validation = validation.map(|validation| validation.mean);
    let fit = Fit { epochs: 0, best_epoch: 0, validation, seconds: start.elapsed().as_secs_f64(), device: "cpu".to_owned(), remarks };
    Ok(Finished { fit, checkpoint: Some(checkpoint), curve: Some(curve) })
}

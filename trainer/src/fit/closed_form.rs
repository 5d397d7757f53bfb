//! Backbones that fit without sampling.

use super::{Finished, Fit, Resources, curve, kept::Checkpoint, validation::validate};
use crate::{
    Backbone, Error, Result, Trial,
    backbone::{ease, popularity},
};
use dataset::{Dataset, Location};
use std::time::Instant;

pub(super) fn fit(trial: &Trial, dataset: &Dataset, folder: &Location, resources: &Resources) -> Result<Finished> {
    if resources.is_interrupted() {
        return Err(Error::Interrupted { epoch: 0 });
    }
    let start = Instant::now();
    let scorer = match &trial.backbone {
        Backbone::Popularity(_) => popularity::fit(dataset),
        Backbone::Ease(settings) => ease::fit(settings, dataset, resources.memory)?,
        Backbone::Mf(_) | Backbone::LightGcn(_) => {
            return Err(Error::Impossible("this backbone needs a loss, a sampler and an optimizer".to_owned()));
        }
    };
    let validation = validate(&scorer, dataset, trial.select_by, resources.memory)?;
    let per_user = validation.as_ref().map(|validation| validation.table(dataset, trial.select_by)).transpose()?;
    resources.check_fence()?;
    let checkpoint = Checkpoint::write(folder, &scorer, per_user)?;
    let curve = curve::write(folder, &[], trial.select_by)?;
    let validation = validation.map(|validation| validation.mean);
    let fit = Fit { epochs: 0, best_epoch: 0, validation, seconds: start.elapsed().as_secs_f64(), device: "cpu".to_owned() };
    Ok(Finished { fit, checkpoint: Some(checkpoint), curve: Some(curve) })
}

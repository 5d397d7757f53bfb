//! Backbones that fit without sampling.

use super::{Fit, Resources, curve, validation::validate};
use crate::{
    Backbone, Error, Result, Trial,
    backbone::{ease, popularity},
};
use dataset::{Dataset, Location};
use std::time::Instant;

pub(super) fn fit(trial: &Trial, dataset: &Dataset, folder: &Location, resources: &Resources) -> Result<Fit> {
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
    scorer.write(&folder.join("checkpoint"))?;
    let validation = validate(&scorer, dataset, trial.select_by, resources.memory)?;
    if let Some(validation) = &validation {
        validation.write(&folder.join("per_user.parquet"), dataset, trial.select_by)?;
    }
    curve::write(&folder.join("curve.parquet"), &[], trial.select_by)?;
    let validation = validation.map(|validation| validation.mean);
    Ok(Fit { epochs: 0, best_epoch: 0, validation, seconds: start.elapsed().as_secs_f64(), device: "cpu".to_owned() })
}

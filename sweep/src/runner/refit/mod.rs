//! A trial trained once more, for serving: on train, validation and test together, for as many epochs as validation had picked.
//!
//! ```text
//! refits/<id>/    as trials/<id>/, but of nothing that is measured
//! ```
//! Nothing is left that the model could be judged on, so it stands apart: no plan names it, and no evaluation, leaderboard or report can take it in.

mod whole;

use super::{
    Session, Standing,
    standing::failed,
    train::{Interrupted, StopConditions, TrainingLocations, guarded, lacks_memory, read},
};
use crate::{interrupt, plan::PlannedTrial, usage::Usage};
use anyhow::{Result, anyhow};
use dataset::{Dataset, Location, Manifest};
use trainer::{Ended, Fit, Outcome, Trial};

/// A trial that was trained on everything.
pub struct Refit {
    /// Its id, and the name of its folder under `refits/`.
    pub id: String,
    /// How the training went.
    pub fit: Fit,
    /// Interactions that it learned from.
    pub interactions: usize,
    /// Those of validation and test that it did not, of users who have every item.
    pub left_out: usize,
}

/// Trains a trial on all interactions of its dataset, or goes on where that was stopped.
///
/// # Errors
/// [`Usage`] for a trial that has no model, or whose model another program trained; those of a training, also that it was interrupted.
pub fn refit(session: &Session, trial: &str) -> Result<Refit> {
    let devices = session.devices()?;
    devices.refuse_processes()?;
    let planned = session.plan.trial_named(trial)?;
    let on = session.plan.dataset_of(planned.2);
    let again = again(session, planned.2)?;
    let dataset = whole::of(read(session, on, again.trial.backbone.reads_order())?);
    let (interactions, left_out) = (dataset.train.len(), dataset.test.len());
    if let Some(reason) = lacks_memory(session, devices, &again, &manifest(session, &dataset, planned.2)?) {
        return Err(anyhow!("trial {trial}: {reason}"));
    }
    let folder = session.refit(&again.id);
    forget_damaged(&folder, &again.id)?;
    let place = TrainingLocations { cache: folder.join("samplers"), folder, model_files: Default::default() };
    let hold = interrupt::hold();
    let progress = session.progress.trials(&session.plan, 1);
    let mut watch = progress.start((planned.0, planned.1, &again), None);
    let stop = StopConditions { until: None, hold: &hold, fence: None };
    let standing = guarded(session, devices, &again, &dataset, &mut watch, stop, place)?;
    match standing {
        Some(Standing::Done(fit)) => Ok(Refit { id: again.id, fit, interactions, left_out }),
        Some(other) => Err(anyhow!("trial {trial} on all interactions: {}", other.error().unwrap_or("it did not end"))),
        None => Err(Interrupted::of_trials(0, 1).into()),
    }
}

/// Has a training begin anew of which a stored file is damaged: no evaluation would find it, as none ranks it.
fn forget_damaged(folder: &Location, id: &str) -> Result<()> {
    match Ended::read(folder, id).and_then(|ended| ended.map_or(Ok(()), |ended| ended.check_files(folder))) {
        Err(error) if error.is_damage() => {
            tracing::warn!("{error}: it is trained again now");
            Ok(trainer::forget(folder)?)
        }
        other => Ok(other?),
    }
}

/// The dataset with all its interactions as train, and how the training of a trial on it ended, with the folder of what is stored of it.
///
/// # Errors
/// [`Usage`] for a trial that was not trained on everything; a store that fails.
pub(crate) fn refitted(session: &Session, trial: &str, dataset: Dataset) -> Result<(Dataset, (Ended, Location))> {
    let again = again(session, session.plan.trial_named(trial)?.2)?;
    let folder = session.refit(&again.id);
    let Some(ended) = Ended::read(&folder, &again.id)?.filter(|ended| !ended.outcome.is_failure()) else {
        let words = "was not trained on all interactions yet; `ranksweep refit` with the same sweep file and trial does that";
        return Err(Usage(format!("trial {trial} {words}")).into());
    };
    Ok((whole::of(dataset), (ended, folder)))
}

/// The trial that trains on everything.
fn again(session: &Session, planned: &PlannedTrial) -> Result<PlannedTrial> {
    let id = &planned.id;
    if planned.trial.backbone.is_pretrained() {
        return Err(Usage(format!("trial {id} is a model that another program trained; train it there")).into());
    }
    let ended = Ended::read(&session.trial(id), id)?;
    if let Some(Outcome::Failed(error)) = ended.as_ref().map(|ended| &ended.outcome) {
        return Err(Usage(failed(id, error)).into());
    }
    let Some(fit) = ended.as_ref().and_then(|ended| ended.outcome.fit()) else {
        return Err(Usage(format!("trial {id} was not trained to its end, and has no model; `ranksweep status` lists them")).into());
    };
    let trial = for_serving(&planned.trial, fit);
    Ok(PlannedTrial { id: trial.id(), split_seed: planned.split_seed, trial })
}

/// A trial on everything, for the epochs that were best; there is nothing to stop on.
fn for_serving(trial: &Trial, fit: &Fit) -> Trial {
    let mut trial = Trial { dataset: whole::fingerprint(&trial.dataset), ..trial.clone() };
    if let Some(learning) = &mut trial.learning {
        let training = &mut learning.training;
        (training.epochs, training.evaluate_every, training.patience) = (fit.best_epoch, fit.best_epoch, None);
    }
    if let Some(iterations) = &mut trial.iterations {
        (iterations.epochs, iterations.evaluate_every, iterations.patience) = (fit.best_epoch, fit.best_epoch, None);
    }
    trial
}

/// Sizes of the dataset with all its interactions in train.
fn manifest(session: &Session, whole: &Dataset, planned: &PlannedTrial) -> Result<Manifest> {
    let manifest = Dataset::read_manifest(&session.dataset(session.plan.dataset_of(planned)))?;
    Ok(Manifest { train: whole.train.len(), fold_in: None, validation: 0, test: 0, ..manifest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fit(best_epoch: u32) -> Fit {
        Fit { epochs: 30, best_epoch, validation: Some(0.1), seconds: 1.0, device: "cpu".to_owned(), remarks: Vec::new() }
    }

    fn trial(more: serde_json::Value) -> Trial {
        let mut trial =
            json!({"version": 7, "dataset": "0123456789abcdef", "backbone": {"popularity": {}}, "learning": null, "select_by": "ndcg@20"});
        trial.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(trial).unwrap()
    }

    #[test]
    fn the_best_epoch_is_the_last_and_nothing_stops_before_it() {
        let training = json!({"epochs": 200, "batch_size": 64, "evaluate_every": 5, "patience": 3});
        let learning = json!({
            "loss": {"bpr": {}}, "sampler": {"uniform": {"negatives": 1}}, "seed": 3, "training": training,
            "optimizer": {"adam": {"learning_rate": 0.01}}
        });
        let learned = trial(json!({"backbone": {"mf": {"dim": 4}}, "learning": learning}));
        let again = for_serving(&learned, &fit(15));
        let training = &again.learning.as_ref().unwrap().training;
        assert_eq!((training.epochs, training.evaluate_every, training.patience, training.batch_size), (15, 15, None, 64));
        assert_eq!((again.seed(), &again.backbone), (Some(3), &learned.backbone));
        assert_ne!((&again.dataset, again.id()), (&learned.dataset, learned.id()));
        let iterated = trial(json!({"iterations": {"epochs": 50, "evaluate_every": 2, "patience": 1, "seed": 1}}));
        let iterations = for_serving(&iterated, &fit(8)).iterations.unwrap();
        assert_eq!((iterations.epochs, iterations.evaluate_every, iterations.patience, iterations.seed), (8, 8, None, 1));
    }

    /// A model that fits at once has another id by its data alone.
    #[test]
    fn a_model_that_fits_at_once_is_fitted_to_everything() {
        let closed = trial(json!({}));
        let again = for_serving(&closed, &fit(0));
        assert_eq!(again, Trial { dataset: again.dataset.clone(), ..closed.clone() });
        assert_ne!(again.id(), closed.id());
    }
}

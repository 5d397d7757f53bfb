//! Which checkpoints stand in a folder, and which of them belong to a dataset.

use crate::{Error, Result, evaluate::Candidate};
use dataset::{Dataset, Location};
use serde::{Deserialize, de::DeserializeOwned};

/// What a folder holds for a dataset.
#[derive(Debug)]
pub(super) struct Found {
    /// Its finished trials, by id.
    pub(super) candidates: Vec<Candidate>,
    /// How many trials belong to other datasets.
    pub(super) other_datasets: usize,
    /// How many trials of the dataset failed or are not done.
    pub(super) unfinished: usize,
}

/// What is read of `trial.json`.
#[derive(Deserialize)]
struct Trial {
    dataset: String,
    learning: Option<Learning>,
}

/// What is read of how a trial learns.
#[derive(Deserialize)]
struct Learning {
    seed: u64,
}

impl Trial {
    fn seed(&self) -> Option<u64> {
        self.learning.as_ref().map(|learning| learning.seed)
    }
}

/// What is read of `done.json`.
#[derive(Deserialize)]
struct Outcome {
    status: String,
}

/// Looks for one checkpoint, one trial, or a folder of trials, in this order.
///
/// # Errors
/// [`Error::Settings`] when there is none that is finished and belongs to the dataset, or when the one checkpoint is of a trial of
/// another dataset.
pub(super) fn find(folder: &Location, dataset: &Dataset) -> Result<Found> {
    if folder.join("scorer.json").exists()? {
        let seed = check_trial(folder, dataset)?;
        let candidates = vec![candidate(trial_name(folder), seed, folder.clone(), dataset)];
        return Ok(Found { candidates, other_datasets: 0, unfinished: 0 });
    }
    let single = folder.join("checkpoint/scorer.json").exists()?;
    let trials = if single { vec![folder.clone()] } else { folder.folders()? };
    let mut found = Found { candidates: Vec::new(), other_datasets: 0, unfinished: 0 };
    for trial in trials {
        let Some(stored) = read_json::<Trial>(&trial.join("trial.json"))? else { continue };
        if stored.dataset != dataset.fingerprint {
            found.other_datasets += 1;
        } else if read_json(&trial.join("done.json"))?.is_none_or(|Outcome { status }| status != "done") {
            found.unfinished += 1;
        } else {
            found.candidates.push(candidate(trial.name().to_owned(), stored.seed(), trial.join("checkpoint"), dataset));
        }
    }
    if found.candidates.is_empty() {
        let Found { other_datasets, unfinished, .. } = found;
        let reason = format!(
            "{folder} has no finished trial of dataset `{}` ({}): {other_datasets} are of other datasets, {unfinished} failed or are not done",
            dataset.name, dataset.fingerprint
        );
        return Err(Error::Settings { reason });
    }
    Ok(found)
}

/// The seed of the trial that a checkpoint is of, which must not be of another dataset. A checkpoint that stands alone, without a
/// `trial.json` above it, may be of any.
fn check_trial(checkpoint: &Location, dataset: &Dataset) -> Result<Option<u64>> {
    let Some(stored) = read_json::<Trial>(&parent(checkpoint)?.join("trial.json"))? else { return Ok(None) };
    if stored.dataset == dataset.fingerprint {
        return Ok(stored.seed());
    }
    let reason = format!(
        "{checkpoint} is of a trial of dataset {}, not of `{}` ({}); give the dataset that it was trained on",
        stored.dataset, dataset.name, dataset.fingerprint
    );
    Err(Error::Settings { reason })
}

/// The folder that a folder stands in; the root's is itself.
fn parent(folder: &Location) -> Result<Location> {
    let path = folder.to_string();
    let above = path.rfind('/').map_or(path.as_str(), |last| &path[..=last]);
    Ok(Location::parse(above)?)
}

fn candidate(trial: String, seed: Option<u64>, checkpoint: Location, dataset: &Dataset) -> Candidate {
    Candidate { method: trial.clone(), trial, dataset: dataset.name.clone(), seed, split_seed: None, checkpoint }
}

/// The id of the trial that a checkpoint's folder belongs to: the folder's own name, or that above `checkpoint`.
fn trial_name(folder: &Location) -> String {
    let path = folder.to_string();
    path.split('/').rev().find(|step| !step.is_empty() && *step != "checkpoint").unwrap_or("checkpoint").to_owned()
}

/// A file's content; `None` where there is no file.
fn read_json<T: DeserializeOwned>(at: &Location) -> Result<Option<T>> {
    match at.read() {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).map_err(|error| dataset::Error::content(at, error))?)),
        Err(dataset::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

//! Which checkpoints stand in a folder, and which of them belong to a dataset.

use crate::{Error, Result, evaluate::Candidate};
use dataset::{Dataset, FileEntry, Files, Location, marker};
use serde::Deserialize;

/// What a folder holds for a dataset.
#[derive(Debug)]
pub(super) struct FoundCheckpoints {
    /// The dataset's finished trials, by id.
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
    iterations: Option<Learning>,
}

/// What is read of how a trial learns.
#[derive(Deserialize)]
struct Learning {
    seed: u64,
}

impl Trial {
    fn seed(&self) -> Option<u64> {
        self.learning.as_ref().or(self.iterations.as_ref()).map(|learning| learning.seed)
    }
}

/// What is read of `done.json`.
#[derive(Deserialize)]
struct Ended {
    status: String,
    /// The folder of the model, below the trial's.
    checkpoint: Option<String>,
    files: Files,
}

/// What to do where a trial is damaged.
const REMEDY: &str = "delete the trial's folder and train it again";

/// Looks for one checkpoint, one trial, or a folder of trials, in this order.
///
/// # Errors
/// [`Error::Settings`] when there is none that is finished and belongs to the dataset, or when the one checkpoint is of a trial of
/// another dataset.
pub(super) fn find(folder: &Location, dataset: &Dataset) -> Result<FoundCheckpoints> {
    if folder.join("scorer.json").exists()? {
        let (trial, seed) = check_trial(folder, dataset)?;
        let candidate = candidate(trial, seed, folder.clone(), None, dataset);
        return Ok(FoundCheckpoints { candidates: vec![candidate], other_datasets: 0, unfinished: 0 });
    }
    let single = folder.join("trial.json").exists()?;
    let trials = if single { vec![folder.clone()] } else { folder.folders()? };
    let mut found = FoundCheckpoints { candidates: Vec::new(), other_datasets: 0, unfinished: 0 };
    for trial in trials {
        let ended = optional(marker::read::<Ended>(&trial.join("done.json"), REMEDY))?;
        let Some(stored) = read_trial(&trial, ended.as_ref())? else { continue };
        let model = ended.filter(|ended| ended.status == "done").and_then(|ended| model(&trial, &ended));
        match model {
            _ if stored.dataset != dataset.fingerprint => found.other_datasets += 1,
            None => found.unfinished += 1,
            Some((checkpoint, description)) => {
                found.candidates.push(candidate(trial.name().to_owned(), stored.seed(), checkpoint, description, dataset));
            }
        }
    }
    if found.candidates.is_empty() {
        let FoundCheckpoints { other_datasets, unfinished, .. } = found;
        if other_datasets + unfinished == 0 && folder.folders()?.is_empty() {
            return Err(Error::Settings {
                reason: format!("{folder} does not exist, or is empty (expected `trials` of a storage, or a trial in it)"),
            });
        }
        let reason = format!(
            "{folder} has no finished trial of dataset `{}` ({}): {other_datasets} are of other datasets, {unfinished} failed or are not done",
            dataset.name, dataset.fingerprint
        );
        return Err(Error::Settings { reason });
    }
    Ok(found)
}

/// What is trained in a folder, which is as its marker says where the trial has ended.
fn read_trial(folder: &Location, ended: Option<&Ended>) -> Result<Option<Trial>> {
    let at = folder.join("trial.json");
    let at = ended.and_then(|ended| ended.files.get("trial.json")).map_or_else(|| at.clone(), |entry| at.holding(entry, REMEDY));
    let Some(text) = optional(at.read())? else { return Ok(None) };
    Ok(Some(serde_json::from_slice(&text).map_err(|error| dataset::Error::content(&at, error))?))
}

/// The folder of a trial's model, and what its description is.
fn model(trial: &Location, ended: &Ended) -> Option<(Location, Option<FileEntry>)> {
    let checkpoint = ended.checkpoint.as_ref()?;
    let description = ended.files.get(&format!("{checkpoint}/scorer.json"))?;
    Some((trial.join(checkpoint), Some(description.clone())))
}

/// The name and the seed of the trial that a checkpoint is of, which must not be of another dataset. A checkpoint that stands alone, without a
/// `trial.json` above it, may be of any.
fn check_trial(checkpoint: &Location, dataset: &Dataset) -> Result<(String, Option<u64>)> {
    let above = parent(checkpoint)?;
    let trial = if above.name() == "checkpoint" { parent(&above)? } else { above };
    let Some(stored) = read_trial(&trial, None)? else { return Ok((checkpoint.name().to_owned(), None)) };
    if stored.dataset == dataset.fingerprint {
        return Ok((trial.name().to_owned(), stored.seed()));
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

fn candidate(trial: String, seed: Option<u64>, checkpoint: Location, description: Option<FileEntry>, dataset: &Dataset) -> Candidate {
    Candidate { method: trial.clone(), trial, dataset: dataset.name.clone(), seed, split_seed: None, checkpoint, description }
}

/// What was read; `None` where there is no file.
fn optional<T>(read: dataset::Result<T>) -> Result<Option<T>> {
    match read {
        Ok(content) => Ok(Some(content)),
        Err(dataset::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

//! The files of models that other programs trained: which of them each trial has, and what they hold.
//!
//! `{seed}`, `{dataset}` and `{split_seed}` in a path stand for those of the trial. What the files hold is part of the trial, so that a changed file is
//! another trial; where they stand is as the sweep file has it, and found by [`path`].

use super::{PlannedDataset, draft::Draft};
use crate::file::{DatasetEntry, Result, SweepFile};
use dataset::{FileEntry, Files};
use trainer::{Backbone, ModelFiles, Trial};

const SEED: &str = "{seed}";
const DATASET: &str = "{dataset}";
const SPLIT_SEED: &str = "{split_seed}";

/// Size and checksum of the file at a path as typed, or in words why there are none.
pub(crate) type Contents<'a> = &'a mut dyn FnMut(&str) -> std::result::Result<FileEntry, String>;

/// The path of a trial's file, as typed but for what stands for the trial's own.
pub(crate) fn path(typed: &str, dataset: &PlannedDataset, seed: Option<u64>) -> String {
    let of_split = dataset.split_seed.or(dataset.preparation.split.repetition());
    let named = typed.replace(DATASET, dataset.name());
    let numbers = [(SEED, seed), (SPLIT_SEED, of_split)];
    numbers.into_iter().fold(named, |path, (word, number)| number.map_or(path.clone(), |number| path.replace(word, &number.to_string())))
}

/// The files of a backbone before they are read, one set for each seed, or one for all where no file's name has the seed.
pub(super) fn unread(backbone: &Backbone, seeds: &[u64]) -> Vec<ModelFiles> {
    let nothing = FileEntry { bytes: 0, sha256: String::new() };
    let files: Files = backbone.files().iter().map(|file| (file.key.to_owned(), nothing.clone())).collect();
    let is_seeded = backbone.files().iter().any(|file| file.path.contains(SEED));
    let of_seed = |seed| ModelFiles { seed, files: files.clone() };
    if is_seeded { seeds.iter().map(|&seed| of_seed(Some(seed))).collect() } else { vec![of_seed(None)] }
}

/// The trial with what its files hold.
pub(super) fn read(mut trial: Trial, draft: &Draft<'_>, dataset: &PlannedDataset, contents: Contents<'_>) -> Result<Trial> {
    if let Some(files) = &mut trial.files {
        for file in trial.backbone.files() {
            let found = contents(&path(file.path, dataset, files.seed));
            let of_method = |reason| draft.backbone.node.at(file.key).place.error(format!("{}: {reason}", draft.names.method));
            files.files.insert(file.key.to_owned(), found.map_err(of_method)?);
        }
    }
    Ok(trial)
}

/// A model that was trained on one split has seen what others hold out.
pub(super) fn check(file: &SweepFile, draft: &Draft<'_>) -> Result<()> {
    let Some(entry) = file.datasets.iter().find(|entry| entry.is_repeated()) else { return Ok(()) };
    let is_shared = |backbone: &&Backbone| {
        let files = backbone.files();
        !files.is_empty() && !files.iter().any(|file| file.path.contains(SPLIT_SEED))
    };
    match draft.backbone.values.iter().find(is_shared) {
        Some(_) => Err(draft.backbone.node.place.error(shared(&draft.names.method, entry))),
        None => Ok(()),
    }
}

fn shared(method: &str, entry: &DatasetEntry) -> String {
    let (name, count) = (entry.name(), entry.splits.len());
    format!(
        "{method}: dataset `{name}` has {count} splits, and the model was trained on one, so that it knows what others hold out: train one on each \
         (`ranksweep export` writes them), and put `{SPLIT_SEED}` into the names of its files"
    )
}

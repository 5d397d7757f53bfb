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
    let is_seeded = is_named_by(backbone, SEED);
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

/// Whether a file of what was trained has a word in its path; files of ids say nothing of a training.
fn is_named_by(backbone: &Backbone, word: &str) -> bool {
    backbone.files().iter().any(|file| !file.key.ends_with("_ids") && file.path.contains(word))
}

/// A model that was trained on one split has seen what others hold out, be they of one dataset or of two of the same source.
pub(super) fn check(file: &SweepFile, draft: &Draft<'_>) -> Result<()> {
    let has_shared = |word| draft.backbone.values.iter().any(|backbone| !backbone.files().is_empty() && !is_named_by(backbone, word));
    let refuse = |reason| Err(draft.backbone.node.place.error(reason));
    if let Some(entry) = file.datasets.iter().find(|entry| entry.is_repeated() && has_shared(SPLIT_SEED)) {
        return refuse(shared(&draft.names.method, entry));
    }
    let twin = |at: usize| file.datasets[..at].iter().find(|other| other.splits[0].source == file.datasets[at].splits[0].source);
    match (1..file.datasets.len()).find_map(|at| Some((twin(at)?, &file.datasets[at]))).filter(|_| has_shared(DATASET)) {
        Some((one, other)) => refuse(format!(
            "{}: datasets `{}` and `{}` are of one source, and the model was trained on one of them, so that it may know what the other holds out: train one on each, and \
             put `{DATASET}` into the names of its files",
            draft.names.method,
            one.name(),
            other.name()
        )),
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

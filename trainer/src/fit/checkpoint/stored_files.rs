//! The files of a trial that count in the end, each under a name that follows from its content.
//!
//! ```text
//! checkpoint/<key>/     scorer.safetensors, scorer.json, per_user.parquet     a model, and its validation values
//!                       parameters.safetensors                                where it folds users in by its parameters
//! curve/<key>.parquet   the curve
//! ```
//! Several processes may work on one trial: one that was stopped for an hour does not know that another has taken its place. They never
//! write two contents under one name, and a marker says which names count: whoever writes late adds a file, and changes none.

use super::parameters;
use crate::Result;
use dataset::{FileEntry, Files, Location};
use evaluator::Scorer;
use models::NamedMatrices;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What to do where a file of a trial is damaged.
pub(crate) const REMEDY: &str = "delete the trial's folder to train it again";

/// A stored model with its validation values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// The model's folder, below the trial's.
    pub(crate) at: String,
    /// The model's files, by their paths below the trial's folder.
    pub(crate) files: Files,
}

/// A stored curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredCurve {
    /// The curve's path below the trial's folder.
    pub(crate) at: String,
    pub(crate) entry: FileEntry,
}

impl Checkpoint {
    /// Writes a model, the parameters that it folds users in by, and the table of its validation values, where there are any.
    pub(crate) fn write(folder: &Location, scorer: &Scorer, parameters: &NamedMatrices<'_>, per_user: Option<Vec<u8>>) -> Result<Self> {
        let kept = (!parameters.is_empty()).then(|| parameters::encode(parameters, folder)).transpose()?;
        let kept = kept.as_ref().map(|file| (parameters::NAME, file.pieces()));
        let per_user = per_user.as_ref().map(|table| ("per_user.parquet", vec![&table[..]]));
        let scorer = scorer.content(folder)?;
        let contents: Vec<(&str, Vec<&[u8]>)> = per_user.into_iter().chain(kept).chain(scorer.files()).collect();
        let entries: Vec<FileEntry> = contents.iter().map(|(_, pieces)| FileEntry::of_pieces(pieces)).collect();
        let at = format!("checkpoint/{}", key(&entries));
        for (name, pieces) in &contents {
            folder.join(&at).join(name).write_pieces(pieces)?;
        }
        let files = contents.iter().zip(entries).map(|((name, _), entry)| (format!("{at}/{name}"), entry)).collect();
        Ok(Self { at, files })
    }

    /// Checks that all files stand as they were written.
    pub(crate) fn check(&self, folder: &Location) -> dataset::Result<()> {
        self.files.iter().try_for_each(|(path, entry)| folder.join(path).holding(entry, REMEDY).read().map(drop))
    }

    pub(crate) fn delete(&self, folder: &Location) -> Result<()> {
        Ok(self.files.keys().try_for_each(|path| folder.join(path).delete())?)
    }
}

impl StoredCurve {
    pub(crate) fn write(folder: &Location, table: Vec<u8>) -> Result<Self> {
        let entry = FileEntry::of(&table);
        let at = format!("curve/{}.parquet", key(std::slice::from_ref(&entry)));
        folder.join(&at).write(table)?;
        Ok(Self { at, entry })
    }
}

/// The name of what consists of these files, in their order.
fn key(files: &[FileEntry]) -> String {
    let hash = files.iter().fold(Sha256::new(), |hash, file| hash.chain_update(&file.sha256));
    hex::encode(&hash.finalize()[..8])
}

/// Removes the models that a marker's files are not among: those of earlier epochs, and of processes that lost the trial.
pub(crate) fn drop_other_checkpoints(folder: &Location, files: &Files) -> Result<()> {
    let root = format!("{folder}/");
    for other in folder.join("checkpoint").list()? {
        if other.to_string().strip_prefix(&root).is_some_and(|path| !files.contains_key(path)) {
            other.delete()?;
        }
    }
    Ok(())
}

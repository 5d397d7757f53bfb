//! `resume/state.safetensors`: a training under way, in one file that is replaced as a whole.
//!
//! Draws are keyed by seed, epoch, step and row, so that no generator has a state to keep. What is read goes on to the same bits as a
//! training that was never stopped, also from the middle of an epoch: rows that an optimizer has left behind are kept as they are, with
//! the step at which each was left, for to bring them up to date there would round them once more.

use crate::Result;
use crate::fit::checkpoint::{
    curve::Point,
    stored_files::{Checkpoint, REMEDY},
};
use dataset::{Error, Location, TensorFile};
use safetensors::{Dtype, SafeTensorError, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Where a training stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Position {
    /// Epochs done.
    pub(crate) epoch: u32,
    /// Steps of the optimizer.
    pub(crate) steps: u64,
    /// Steps of the loss's own numbers.
    #[serde(default)]
    pub(crate) own_steps: u64,
    /// The best evaluation: its epoch and value.
    pub(crate) best: Option<(u32, f64)>,
    /// The model of that evaluation; of the last one, where nothing is validated.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// A point of the curve for each epoch.
    pub(crate) points: Vec<Point>,
    /// What is done of the epoch that follows.
    #[serde(default)]
    pub(crate) so_far: SoFar,
    /// Seconds of training.
    #[serde(default)]
    pub(crate) seconds: f64,
}

/// What is done of an epoch.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SoFar {
    /// Steps.
    pub(crate) step: u32,
    /// The sum of the losses, but for `part`.
    pub(crate) total: f64,
    /// The sum of the losses of the last steps, where they are added up some at a time.
    pub(crate) part: f64,
    /// The step of the optimizer at which all rows were up to date.
    pub(crate) caught_up: u64,
}

impl SoFar {
    /// The steps that are added up together have been made.
    pub(crate) fn add_part(&mut self) {
        self.total += std::mem::take(&mut self.part);
    }
}

impl Position {
    /// Whether an epoch has begun and not ended.
    pub(crate) fn is_within(&self) -> bool {
        self.so_far.step > 0
    }

    /// Seconds of training so far.
    pub(crate) fn seconds(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.seconds).max(self.seconds)
    }

    /// Whether as many evaluations as `patience` have passed since the best one.
    pub(crate) fn is_stale(&self, patience: Option<u32>) -> bool {
        let (Some((best, _)), Some(patience)) = (self.best, patience) else { return false };
        let since = self.points.iter().filter(|point| point.epoch > best && point.validation.is_some()).count();
        since >= patience as usize
    }
}

pub(crate) fn at(folder: &Location) -> Location {
    folder.join("resume/state.safetensors")
}

/// Checksum of where a training stands: of what can be read without the tensors.
fn header_checksum(trial: &str, position: &str) -> String {
    hex::encode(Sha256::new().chain_update(trial).chain_update([0]).chain_update(position).finalize())
}

/// Checksum of everything that is kept: the header's checksum, and the tensors by name.
fn checksum(header: &str, mut values: Vec<(&str, &[u8])>) -> String {
    values.sort_unstable();
    let hash = values.iter().fold(Sha256::new().chain_update(header), |hash, (name, values)| {
        hash.chain_update(name).chain_update((values.len() as u64).to_le_bytes()).chain_update(values)
    });
    hex::encode(hash.finalize())
}

/// The file goes out in parts, straight from the state.
pub(crate) fn write<'a>(folder: &Location, trial: &str, position: &Position, state: &'a [(String, &mut [f32])]) -> Result<()> {
    let tensors: Vec<(&str, &'a [u8])> = state.iter().map(|(name, values)| (name.as_str(), bytemuck::cast_slice(values))).collect();
    let position = serde_json::to_string(position).expect("a position is plain data");
    let header = header_checksum(trial, &position);
    let checksum = checksum(&header, tensors.clone());
    let metadata = [("trial", trial.to_owned()), ("position", position), ("header_sha256", header), ("sha256", checksum)];
    let metadata = metadata.map(|(key, value)| (key.to_owned(), value)).into();
    let refuse = |error: SafeTensorError| Error::content(at(folder), error);
    let vector = |(name, values): (&str, &'a [u8])| {
        let values = TensorView::new(Dtype::F32, vec![values.len() / size_of::<f32>()], values)?;
        Ok((name.to_owned(), values))
    };
    let tensors = tensors.into_iter().map(vector).collect::<Result<Vec<_>, _>>().map_err(refuse)?;
    let file = TensorFile::new(tensors, Some(metadata)).map_err(refuse)?;
    Ok(at(folder).write_pieces(&file.pieces())?)
}

/// Where the trial stands by the header of its state, which must be of this trial.
pub(crate) fn position(metadata: &HashMap<String, String>, trial: &str) -> Result<Position, String> {
    let value = |key: &str| metadata.get(key).ok_or_else(|| format!("it has no {key}"));
    let (of, position) = (value("trial")?, value("position")?);
    if header_checksum(of, position) != *value("header_sha256")? {
        return Err("its own checksum differs".to_owned());
    }
    if of != trial {
        return Err(format!("it is that of trial {of}, expected {trial}"));
    }
    serde_json::from_str(position).map_err(|error| error.to_string())
}

/// The state of a training that was stopped.
pub(crate) struct Stored {
    at: Location,
    bytes: bytes::Bytes,
    pub(crate) position: Position,
}

impl Stored {
    /// The state of the trial of this id, whose model must stand beside it; `None` where there is none.
    pub(crate) fn find(folder: &Location, trial: &str) -> Result<Option<Self>> {
        let stored = Self::read(folder, trial)?;
        if let Some(checkpoint) = stored.as_ref().and_then(|stored| stored.position.checkpoint.as_ref()) {
            checkpoint.check(folder)?;
        }
        Ok(stored)
    }

    fn read(folder: &Location, trial: &str) -> Result<Option<Self>> {
        let at = at(folder);
        let bytes = match at.read() {
            Err(Error::NotFound { .. }) => return Ok(None),
            other => other?,
        };
        let position = checked(&bytes, trial).map_err(|reason| refusal(&at, &reason))?;
        Ok(Some(Self { position, at, bytes }))
    }

    /// Whether something of this name was kept.
    pub(crate) fn has(&self, name: &str) -> bool {
        SafeTensors::deserialize(&self.bytes).is_ok_and(|tensors| tensors.tensor(name).is_ok())
    }

    /// Puts what was kept back in place.
    pub(crate) fn fill(&self, mut state: Vec<(String, &mut [f32])>) -> Result<()> {
        let refuse = |reason: &dyn std::fmt::Display| refusal(&self.at, reason);
        let tensors = SafeTensors::deserialize(&self.bytes).map_err(|error| refuse(&error))?;
        for (name, values) in &mut state {
            let tensor = tensors.tensor(name).map_err(|error| refuse(&error))?;
            if tensor.shape() != [values.len()] || tensor.dtype() != Dtype::F32 {
                return Err(refuse(&format!("`{name}` has shape {:?}, expected [{}]", tensor.shape(), values.len())).into());
            }
            bytemuck::cast_slice_mut::<f32, u8>(values).copy_from_slice(tensor.data());
        }
        Ok(())
    }
}

/// Where the trial of this id stands by a state that is whole.
fn checked(bytes: &[u8], trial: &str) -> Result<Position, String> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let metadata = header.metadata().clone().unwrap_or_default();
    let position = position(&metadata, trial)?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let tensors = tensors.tensors();
    let values = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.data())).collect();
    match metadata.get("sha256") == Some(&checksum(&metadata["header_sha256"], values)) {
        true => Ok(position),
        false => Err("its own checksum differs".to_owned()),
    }
}

fn refusal(at: &Location, reason: &dyn std::fmt::Display) -> Error {
    Error::damaged(at, format!("{reason}; {REMEDY}"))
}

/// Forgets the training; its trial is done.
pub(crate) fn delete(folder: &Location) -> Result<()> {
    Ok(at(folder).delete()?)
}

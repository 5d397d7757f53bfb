//! `resume/state.safetensors`: a training under way, in one file that is replaced as a whole.
//!
//! Draws are keyed by seed, epoch, step and row, so that no generator has a state to keep. What is read goes on to the same bits as a
//! training that was never stopped, also from the middle of an epoch: rows that an optimizer has left behind are kept as they are, with
//! the step at which each was left, for to bring them up to date there would round them once more.

use super::curve::Point;
use crate::Result;
use dataset::{Error, Location};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Where a training stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Position {
    /// Epochs done.
    pub(super) epoch: u32,
    /// Steps of the optimizer.
    pub(super) steps: u64,
    /// Steps of the loss's own numbers.
    #[serde(default)]
    pub(super) own_steps: u64,
    /// The best evaluation: its epoch and value.
    pub(super) best: Option<(u32, f64)>,
    /// One for each epoch.
    pub(super) points: Vec<Point>,
    /// Of the epoch that follows.
    #[serde(default)]
    pub(super) so_far: SoFar,
    /// Seconds of training.
    #[serde(default)]
    pub(super) seconds: f64,
}

/// What is done of an epoch.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct SoFar {
    /// Steps.
    pub(super) step: u32,
    /// The sum of the losses, but for `part`.
    pub(super) total: f64,
    /// The sum of the losses of the last steps, where they are added up some at a time.
    pub(super) part: f64,
    /// The step of the optimizer at which all rows were up to date.
    pub(super) caught_up: u64,
}

impl SoFar {
    /// The steps that are added up together have been made.
    pub(super) fn add_part(&mut self) {
        self.total += std::mem::take(&mut self.part);
    }
}

impl Position {
    /// Whether an epoch has begun and not ended.
    pub(super) fn is_within(&self) -> bool {
        self.so_far.step > 0
    }

    /// Seconds of training so far.
    pub(super) fn seconds(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.seconds).max(self.seconds)
    }

    /// Whether as many evaluations as `patience` have passed since the best one.
    pub(super) fn is_stale(&self, patience: Option<u32>) -> bool {
        let (Some((best, _)), Some(patience)) = (self.best, patience) else { return false };
        let since = self.points.iter().filter(|point| point.epoch > best && point.validation.is_some()).count();
        since >= patience as usize
    }
}

pub(super) fn at(folder: &Location) -> Location {
    folder.join("resume/state.safetensors")
}

/// Of everything that is kept, in the order in which it is.
fn checksum<'a>(position: &str, values: impl Iterator<Item = &'a [u8]>) -> String {
    let hash = values.fold(Sha256::new().chain_update(position), |hash, values| hash.chain_update(values));
    hex::encode(hash.finalize())
}

pub(super) fn write(folder: &Location, position: &Position, state: &[(String, &mut [f32])]) -> Result<()> {
    let position = serde_json::to_string(position).expect("a position is plain data");
    let checksum = checksum(&position, state.iter().map(|(_, values)| bytemuck::cast_slice(values)));
    let views = state.iter().map(|(name, values)| {
        let view = TensorView::new(Dtype::F32, vec![values.len()], bytemuck::cast_slice(values)).expect("a vector has its own length");
        (name, view)
    });
    let metadata = HashMap::from([("position".to_owned(), position), ("sha256".to_owned(), checksum)]);
    let bytes = safetensors::serialize(views, Some(metadata));
    Ok(at(folder).write(bytes.map_err(|error| Error::content(at(folder), error))?)?)
}

/// The state of a training that was stopped.
pub(super) struct Stored {
    at: Location,
    bytes: bytes::Bytes,
    metadata: HashMap<String, String>,
    pub(super) position: Position,
}

impl Stored {
    /// `None` where there is none.
    pub(super) fn read(folder: &Location) -> Result<Option<Self>> {
        let at = at(folder);
        let bytes = match at.read() {
            Err(Error::NotFound { .. }) => return Ok(None),
            other => other?,
        };
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|error| refusal(&at, &error))?;
        let metadata = header.metadata().clone().unwrap_or_default();
        let position = metadata.get("position").ok_or_else(|| refusal(&at, &"no position"))?;
        let position = serde_json::from_str(position).map_err(|error| refusal(&at, &error))?;
        Ok(Some(Self { position, at, bytes, metadata }))
    }

    /// Whether something of this name was kept.
    pub(super) fn has(&self, name: &str) -> bool {
        SafeTensors::deserialize(&self.bytes).is_ok_and(|tensors| tensors.tensor(name).is_ok())
    }

    /// Puts what was kept back in place.
    pub(super) fn fill(&self, mut state: Vec<(String, &mut [f32])>) -> Result<()> {
        let refuse = |reason: &dyn std::fmt::Display| refusal(&self.at, reason);
        let tensors = SafeTensors::deserialize(&self.bytes).map_err(|error| refuse(&error))?;
        for (name, values) in &mut state {
            let tensor = tensors.tensor(name).map_err(|error| refuse(&error))?;
            if tensor.shape() != [values.len()] || tensor.dtype() != Dtype::F32 {
                return Err(refuse(&format!("`{name}` has shape {:?}, expected [{}]", tensor.shape(), values.len())).into());
            }
            bytemuck::cast_slice_mut::<f32, u8>(values).copy_from_slice(tensor.data());
        }
        let found = checksum(&self.metadata["position"], state.iter().map(|(_, values)| bytemuck::cast_slice(values)));
        match self.metadata.get("sha256") {
            Some(expected) if *expected != found => Err(refuse(&"the checksum differs from its own").into()),
            _ => Ok(()),
        }
    }
}

fn refusal(at: &Location, reason: &dyn std::fmt::Display) -> Error {
    Error::content(at, format!("{reason}; delete the folder to train again"))
}

/// Forgets the training; its trial is done.
pub(super) fn delete(folder: &Location) -> Result<()> {
    Ok(at(folder).delete()?)
}

//! `resume/state.safetensors`: a training under way, in one file that is replaced as a whole.
//!
//! Draws are keyed by seed, epoch, step and row, so that no generator has a state to keep. What is read goes on to the same bits as a
//! training that was never stopped.

use super::curve::Point;
use crate::Result;
use dataset::{Error, Location};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};
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
}

impl Position {
    /// Seconds of training so far.
    pub(super) fn seconds(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.seconds)
    }

    /// Whether as many evaluations as `patience` have passed since the best one.
    pub(super) fn is_stale(&self, patience: Option<u32>) -> bool {
        let (Some((best, _)), Some(patience)) = (self.best, patience) else { return false };
        let since = self.points.iter().filter(|point| point.epoch > best && point.validation.is_some()).count();
        since >= patience as usize
    }
}

fn at(folder: &Location) -> Location {
    folder.join("resume/state.safetensors")
}

pub(super) fn write(folder: &Location, position: &Position, state: &[(String, &mut [f32])]) -> Result<()> {
    let position = serde_json::to_string(position).expect("a position is plain data");
    let views = state.iter().map(|(name, values)| {
        let view = TensorView::new(Dtype::F32, vec![values.len()], bytemuck::cast_slice(values)).expect("a vector has its own length");
        (name, view)
    });
    let bytes = safetensors::serialize(views, Some(HashMap::from([("position".to_owned(), position)])));
    Ok(at(folder).write(bytes.map_err(|error| Error::content(at(folder), error))?)?)
}

/// Fills the state of an interrupted training; `None` where there is none.
pub(super) fn read(folder: &Location, state: Vec<(String, &mut [f32])>) -> Result<Option<Position>> {
    let at = at(folder);
    let bytes = match at.read() {
        Err(Error::NotFound { .. }) => return Ok(None),
        other => other?,
    };
    let refuse = |reason: String| Error::content(&at, format!("{reason}; delete the folder to train again"));
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|error| refuse(error.to_string()))?;
    let position =
        header.metadata().as_ref().and_then(|metadata| metadata.get("position")).ok_or_else(|| refuse("no position".to_owned()))?;
    let position = serde_json::from_str(position).map_err(|error| refuse(error.to_string()))?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| refuse(error.to_string()))?;
    for (name, values) in state {
        let tensor = tensors.tensor(&name).map_err(|error| refuse(error.to_string()))?;
        if tensor.shape() != [values.len()] || tensor.dtype() != Dtype::F32 {
            return Err(refuse(format!("`{name}` has shape {:?}, expected [{}]", tensor.shape(), values.len())).into());
        }
        bytemuck::cast_slice_mut::<f32, u8>(values).copy_from_slice(tensor.data());
    }
    Ok(Some(position))
}

/// Forgets the training; its trial is done.
pub(super) fn delete(folder: &Location) -> Result<()> {
    Ok(at(folder).delete()?)
}

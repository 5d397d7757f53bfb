//! How far a training is, read from the beginning of its state.

use crate::fit::checkpoint::{resume, stored_files::REMEDY};
use crate::{Error, Result};
use dataset::Location;
use serde::Deserialize;
use std::collections::HashMap;

/// Bytes that are asked for at first: the header of a training of some hundred epochs.
const FIRST: u64 = 1 << 16;
/// No header of ours is longer.
const LONGEST_HEADER: u64 = 1 << 28;

/// Where a training stood when its state was last written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Epochs done.
    pub epoch: u32,
    /// The last validation metric.
    pub validation: Option<f64>,
    /// The epoch of the best one, and its value.
    pub best: Option<(u32, f64)>,
    /// Seconds of training.
    pub seconds: f64,
}

#[derive(Deserialize)]
struct Header {
    #[serde(rename = "__metadata__")]
    metadata: HashMap<String, String>,
}

/// How far the training of the trial of this id, whose folder this is, has come; `None` where it has not begun, has written nothing yet, or
/// has ended. Only the header of its state is read.
///
/// # Errors
/// When the store fails, or the state is damaged.
pub fn progress(folder: &Location, trial: &str) -> Result<Option<Progress>> {
    match read(folder, trial) {
        // A training may have put another state there between the two reads of a long header.
        Err(error) if error.is_damage() => read(folder, trial),
        read => read,
    }
}

fn read(folder: &Location, trial: &str) -> Result<Option<Progress>> {
    let at = resume::at(folder);
    let mut content = match at.beginning(FIRST) {
        Err(dataset::Error::NotFound { .. }) => return Ok(None),
        other => other?,
    };
    let damaged = |reason: String| Error::from(dataset::Error::damaged(&at, format!("{reason}; {REMEDY}")));
    let length = content.first_chunk().map(|length| u64::from_le_bytes(*length)).ok_or_else(|| damaged("it is cut off".to_owned()))?;
    let end = 8 + length.min(LONGEST_HEADER);
    if end > FIRST {
        content = at.beginning(end)?;
    }
    let header = content.get(8..end as usize).ok_or_else(|| damaged("it is cut off".to_owned()))?;
    let header: Header = serde_json::from_slice(header).map_err(|error| damaged(error.to_string()))?;
    let position = resume::position(&header.metadata, trial).map_err(damaged)?;
    let validation = position.points.iter().rev().find_map(|point| point.validation);
    Ok(Some(Progress { epoch: position.epoch, validation, best: position.best, seconds: position.seconds() }))
}

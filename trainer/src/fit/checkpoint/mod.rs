//! What is stored of a training: its state, its best model, its curve, and the markers that say which of them count.

pub(crate) mod curve;
pub(crate) mod outcome;
pub(crate) mod parameters;
pub(crate) mod progress;
pub(crate) mod resume;
pub(crate) mod rung;
pub(crate) mod stored_files;

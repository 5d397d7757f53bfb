//! Which trials a GPU can train.

use crate::Trial;

/// Whether a GPU can train it.
///
/// # Errors
/// Why not, as the end of a sentence; the same for every trial of a method.
pub fn fits_gpu(trial: &Trial) -> Result<(), String> {
    match trial.learning {
        None => Err("what fits without sampling is computed on the CPU".to_owned()),
        Some(_) => Err("no kernel trains it yet".to_owned()),
    }
}

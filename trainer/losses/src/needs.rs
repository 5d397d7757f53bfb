//! What a loss asks of the training loop beside scores.

use vectors::Similarity;

/// A part of a step that moves parameters: most losses have one, of the model and of their own numbers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Which of its values the loss gives: [`Given::phase`](super::Given::phase).
    pub number: usize,
    /// Whether the model moves.
    pub moves_model: bool,
    /// Whether the loss's learned numbers and its adversary move.
    pub moves_state: bool,
}

/// All at once.
pub(super) const ONE_PHASE: Phase = Phase { number: 0, moves_model: true, moves_state: true };

/// Which [`Relations`](super::Relations) a loss looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Related {
    /// Each row's positive with its negatives.
    pub of_negatives: bool,
    /// The rows' users with each other, and the rows' positives with each other.
    pub of_rows: bool,
}

/// A second model, two tables that score the same draws and move up the loss's gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adversary {
    /// Length of its vectors.
    pub dim: usize,
    /// How two of its vectors make a score.
    pub similarity: Similarity,
    /// The learning rate, under the trial's optimizer.
    pub learning_rate: f64,
}

//! What a step finds of its loss.

use embeddings::ScoreGradients;
use losses::{Loss, Per, StateSpec};

/// The derivatives of the mean loss by everything that it was given, as far as it depends on it.
pub(crate) struct Derivatives {
    pub(crate) scores: ScoreGradients,
    pub(crate) columns: Vec<Vec<f32>>,
    pub(crate) adversary: Vec<f32>,
    /// Derivatives by the relations of the negatives, of the users and of the positives.
    pub(crate) relations: [Vec<f32>; 3],
    /// New values of the columns that are remembered, `[B]` each.
    pub(crate) remembered: Vec<Vec<f32>>,
}

impl Derivatives {
    /// Derivatives of no rows.
    pub(crate) fn none(loss: &Loss) -> Self {
        let columns = loss.columns();
        let zeros = |column: &StateSpec| if let Per::Whole(length) = column.per { vec![0.0; length] } else { Vec::new() };
        Self {
            scores: ScoreGradients { losses: Vec::new(), positives: Vec::new(), negatives: Vec::new() },
            columns: columns.iter().map(zeros).collect(),
            adversary: Vec::new(),
            relations: Default::default(),
            remembered: columns.iter().filter(|column| column.update.remembers()).map(|_| Vec::new()).collect(),
        }
    }
}

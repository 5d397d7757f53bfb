//! Draws from weights by their running sums: O(n) to make, O(log n) a draw.

use super::{Stream, non_positives::NonPositives};

/// Running sums of weights.
pub(super) struct Cumulative {
    sums: Vec<f64>,
}

impl Cumulative {
    /// Makes the running sums of weights that are not negative.
    pub(super) fn new(mut weights: Vec<f64>) -> Self {
        let mut sum = 0.0;
        for entry in &mut weights {
            sum += *entry;
            *entry = sum;
        }
        Self { sums: weights }
    }

    /// Makes the running sums of the weights of a user's possible negatives alone.
    pub(super) fn of_non_positives(mut weights: Vec<f64>, non_positives: NonPositives) -> Self {
        for &item in non_positives.positives() {
            weights[item as usize] = 0.0;
        }
        Self::new(weights)
    }

    /// The sum of all weights.
    pub(super) fn total(&self) -> f64 {
        self.sums.last().copied().unwrap_or(0.0)
    }

    /// The first place whose sum exceeds a uniform part of the total: never one of weight 0.
    pub(super) fn draw(&self, rng: &mut Stream) -> usize {
        let total = self.total();
        let part = rng.fraction() * total;
        let last = self.sums.partition_point(|&sum| sum < total);
        self.sums.partition_point(|&sum| sum <= part).min(last)
    }
}

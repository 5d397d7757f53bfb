//! Holm's step-down: `max over i <= k of min(1, (m - i + 1) p_(i))`. It bounds the chance of any false claim, whatever the comparisons share, and is never
//! worse than Bonferroni's. Holm, Scand. J. Stat. 1979.

use super::{CorrectionKind, ascending};

/// `holm`
pub(super) struct Holm;

impl CorrectionKind for Holm {
    fn name(&self) -> &'static str {
        "holm"
    }

    fn words(&self) -> &'static str {
        "adjusted after Holm"
    }

    fn adjust(&self, p_values: &[f64]) -> Vec<f64> {
        let mut adjusted = vec![0.0; p_values.len()];
        let mut largest = 0.0f64;
        for (smaller, index) in ascending(p_values).into_iter().enumerate() {
            largest = largest.max(p_values[index] * (p_values.len() - smaller) as f64).min(1.0);
            adjusted[index] = largest;
        }
        adjusted
    }

    fn level(&self, alpha: f64, comparisons: usize, _significant: usize) -> f64 {
        alpha / comparisons as f64
    }

    fn multiplies(&self, comparisons: usize) -> usize {
        comparisons
    }
}

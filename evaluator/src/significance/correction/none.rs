//! No adjustment.

use super::CorrectionKind;

/// `none`
pub(super) struct None;

impl CorrectionKind for None {
    fn name(&self) -> &'static str {
        "none"
    }

    fn words(&self) -> &'static str {
        "not adjusted for the number of comparisons"
    }

    fn adjust(&self, p_values: &[f64]) -> Vec<f64> {
        p_values.to_vec()
    }

    fn level(&self, alpha: f64, _comparisons: usize, _significant: usize) -> f64 {
        alpha
    }
}

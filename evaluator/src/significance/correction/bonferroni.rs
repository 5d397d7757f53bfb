//! Bonferroni: `min(1, m p)`. It bounds the chance of any false claim, whatever the comparisons share.

use super::CorrectionKind;

/// `bonferroni`
pub(super) struct Bonferroni;

impl CorrectionKind for Bonferroni {
    fn name(&self) -> &'static str {
        "bonferroni"
    }

    fn words(&self) -> &'static str {
        "adjusted after Bonferroni"
    }

    fn adjust(&self, p_values: &[f64]) -> Vec<f64> {
        p_values.iter().map(|p| (p * p_values.len() as f64).min(1.0)).collect()
    }

    fn level(&self, alpha: f64, comparisons: usize, _significant: usize) -> f64 {
        alpha / comparisons as f64
    }

    fn multiplies(&self, comparisons: usize) -> usize {
        comparisons
    }
}

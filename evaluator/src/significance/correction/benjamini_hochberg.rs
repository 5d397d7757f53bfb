//! Benjamini and Hochberg's step-up: `min over i >= k of min(1, m p_(i) / i)`. It bounds the share of false claims. Benjamini and Hochberg, JRSS B 1995.
//!
//! With `r` significant comparisons intervals at the level `alpha r / m` bound the share of those that miss: Benjamini and Yekutieli, JASA 2005.

use super::{CorrectionKind, ascending};

/// `benjamini-hochberg`
pub(super) struct BenjaminiHochberg;

impl CorrectionKind for BenjaminiHochberg {
    fn name(&self) -> &'static str {
        "benjamini-hochberg"
    }

    fn words(&self) -> &'static str {
        "adjusted after Benjamini and Hochberg"
    }

    fn adjust(&self, p_values: &[f64]) -> Vec<f64> {
        let mut adjusted = vec![0.0; p_values.len()];
        let mut smallest = 1.0f64;
        for (smaller, index) in ascending(p_values).into_iter().enumerate().rev() {
            smallest = smallest.min(p_values[index] * (p_values.len() as f64 / (smaller + 1) as f64));
            adjusted[index] = smallest;
        }
        adjusted
    }

    fn level(&self, alpha: f64, comparisons: usize, significant: usize) -> f64 {
        alpha * significant as f64 / comparisons as f64
    }
}

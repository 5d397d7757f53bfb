//! Standard normal numbers from uniform ones.

use statrs::distribution::{ContinuousCDF, Normal};

/// The number of which a share `probability` of the standard normal distribution lies below.
pub(crate) fn normal(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// The share of the standard normal distribution at or below a number.
pub(crate) fn share_below(value: f64) -> f64 {
    Normal::standard().cdf(value)
}

/// A standard normal number from a uniform one of `[0, 1)`: 0 would be minus infinity, and is taken for half of the smallest step.
pub fn normal_from(fraction: f64) -> f64 {
    normal(fraction.max(0.5_f64.powi(54)))
}

//! Per-user differences of two methods, free of rounding noise.

/// Values this close, relative to their size, differ by rounding alone: means over seeds and metrics are sums of few terms.
const ROUNDING: f64 = 1e-12;

/// The difference of two methods for each user.
///
/// `0.31 - 0.28` and `0.42 - 0.39` are not the same `f64`, and a mean over seeds depends on their order in the last bit. Rank tests need to
/// know what is zero and what is tied, so differences within rounding of zero are zero, and [`Differences::tolerance`] says which are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Differences {
    pub(crate) values: Vec<f64>,
    pub(crate) tolerance: f64,
}

impl Differences {
    /// `a - b`, user by user. Both have the same users in the same order.
    pub fn new(a: &[f64], b: &[f64]) -> Self {
        debug_assert_eq!(a.len(), b.len());
        let near = |a: f64, b: f64| (a - b).abs() <= ROUNDING * a.abs().max(b.abs());
        let values = a.iter().zip(b).map(|(&a, &b)| if near(a, b) { 0.0 } else { a - b }).collect();
        Self { values, tolerance: tolerance(a).max(tolerance(b)) }
    }

    /// The differences, one per user.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Differences that are no further apart than this are tied.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// The differences that are not zero.
    pub(crate) fn nonzero(&self) -> Vec<f64> {
        self.values.iter().copied().filter(|&difference| difference != 0.0).collect()
    }

    /// The mean over users; zero without users.
    pub fn mean(&self) -> f64 {
        mean(&self.values)
    }
}

/// Whether several values are all the same but for rounding.
pub(crate) fn are_alike(values: &[f64], tolerance: f64) -> bool {
    values.len() > 1 && values.iter().all(|value| (value - values[0]).abs() <= tolerance)
}

/// How far apart values of this size can be by rounding alone.
pub(crate) fn tolerance(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs())) * ROUNDING
}

/// The mean; zero without values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The standard deviation of a sample, `n - 1` in the denominator; zero for fewer than two values.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / values.len().saturating_sub(1).max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_no_difference() {
        let a = [(0.1 + 0.2 + 0.3) / 3.0, 0.5];
        let b = [(0.3 + 0.2 + 0.1) / 3.0, 0.25];
        assert_ne!(a[0], b[0]);
        assert_eq!(Differences::new(&a, &b).values(), [0.0, 0.25]);
    }

    #[test]
    fn few_values_have_no_deviation() {
        assert_eq!((mean(&[]), deviation(&[]), deviation(&[3.0])), (0.0, 0.0, 0.0));
        assert_eq!(deviation(&[1.0, 3.0]), 2f64.sqrt());
    }
}

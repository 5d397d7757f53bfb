//! How large a standardised mean difference is.

use super::differences::{deviation, mean};

/// Cohen's d_z, the mean difference in standard deviations of the differences, with Hedges' correction for small samples:
/// `d_z (1 - 3 / (4 (n - 1) - 1))`. Zero when the mean is zero or there is one user; infinite when all users differ by the same.
pub(crate) fn standardised(differences: &[f64]) -> f64 {
    let mean = mean(differences);
    if mean == 0.0 || differences.len() < 2 {
        return 0.0;
    }
    let degrees = (differences.len() - 1) as f64;
    if deviation(differences) == 0.0 {
        return f64::INFINITY.copysign(mean);
    }
    mean / deviation(differences) * (1.0 - 3.0 / (4.0 * degrees - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::tests::differences;

    #[test]
    fn worked_example() {
        let differences = differences();
        assert!((mean(&differences.values) / deviation(&differences.values) - 0.92989563).abs() < 5e-9);
        assert!((standardised(&differences.values) - 0.85019029).abs() < 5e-9);
    }

    #[test]
    fn no_nan() {
        assert_eq!(standardised(&[0.0; 5]), 0.0);
        assert_eq!(standardised(&[0.5]), 0.0);
        assert_eq!(standardised(&[-0.5; 5]), f64::NEG_INFINITY);
    }
}

//! Student's paired t-test.
//!
//! ```text
//! t = mean(d) / (s_d / sqrt(n)),  n - 1 degrees of freedom
//! ```
//! Robust for the thousands of users of a test set, whatever the distribution of the differences.

use super::{Differences, Tested, differences::deviation, effect_size::standardised, interval::students_t};
use statrs::distribution::ContinuousCDF;

/// Whether the mean difference is zero. `p` is 1 when all differences are zero or there is one user, 0 when all differ by the same.
pub fn paired_t(differences: &Differences) -> Tested {
    let mean = differences.mean();
    let distribution = students_t(differences.values.len()).filter(|_| mean != 0.0);
    let statistic = match distribution {
        Some(_) => mean / deviation(&differences.values) * (differences.values.len() as f64).sqrt(),
        None => 0.0,
    };
    let p_value = distribution.map_or(1.0, |t| 2.0 * t.sf(statistic.abs()));
    Tested { statistic, p_value, effect_size: standardised(&differences.values) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::tests::differences;

    #[test]
    fn worked_example() {
        let tested = paired_t(&differences());
        assert!((tested.statistic - 2.94058818).abs() < 5e-9, "{tested:?}");
        assert!((tested.p_value - 0.01647098).abs() < 5e-9, "{tested:?}");
        assert!((tested.effect_size - 0.85019029).abs() < 5e-9, "{tested:?}");
    }

    #[test]
    fn no_nan() {
        let test = |a: &[f64]| paired_t(&Differences::new(a, &vec![0.25; a.len()]));
        assert_eq!(test(&[0.25; 6]), Tested { statistic: 0.0, p_value: 1.0, effect_size: 0.0 });
        assert_eq!(test(&[0.5]).p_value, 1.0);
        assert_eq!(test(&[0.5; 6]), Tested { statistic: f64::INFINITY, p_value: 0.0, effect_size: f64::INFINITY });
    }
}

//! The t interval of a mean.

use super::{
    differences::{deviation, mean},
    students_t::Students,
};

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The interval that holds the mean with probability `level`: `mean ± t_{(1 + level) / 2} s / sqrt(n)`, `n - 1` degrees of freedom.
///
/// Over the users of a method it is the interval the leaderboard shows. One value says nothing of the spread, so its interval is infinite.
pub fn interval(values: &[f64], level: f64) -> Interval {
    if values.len() < 2 {
        return Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
    }
    let quantile = Students::new((values.len() - 1) as f64).upper_quantile((1.0 - level) / 2.0);
    let half = quantile * deviation(values) / (values.len() as f64).sqrt();
    Interval { low: mean(values) - half, high: mean(values) + half }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::tests::differences;

    #[test]
    fn worked_example() {
        let interval = interval(&differences().values, 0.95);
        assert!((interval.low - 0.00645996).abs() < 5e-9 && (interval.high - 0.04954004).abs() < 5e-9, "{interval:?}");
    }

    /// `scipy.stats.t.ppf(0.975, users - 1)`
    #[test]
    fn quantiles_hold_for_many_users() {
        let expected = [
            (2, 12.706204736174694),
            (3, 4.302652729749462),
            (10, 2.262157162798205),
            (1000, 1.9623414611334493),
            (13_000, 1.9601464976854805),
            (1_000_000, 1.9599663568164791),
        ];
        for (users, quantile) in expected {
            let ours = Students::new((users - 1) as f64).upper_quantile(0.025);
            assert!((ours - quantile).abs() < 1e-9, "{users}: {ours}");
        }
    }

    /// `2 * scipy.stats.t.sf(t, users - 1)`
    #[test]
    fn p_values_hold_for_many_users() {
        let expected = [
            (2, 1.0, 0.5),
            (5, 10.0, 0.000562003622715991),
            (30, 2.0, 0.05494363718296717),
            (1000, 0.3, 0.7642395665698116),
            (13_000, 0.001, 0.9992021309171523),
            (13_000, 2.0, 0.04552103200885219),
            (13_000, 4.0, 6.369321586931127e-05),
            (13_000, 10.0, 1.852386652803346e-23),
            (1_000_000, 1.0, 0.31731074983381996),
            (1_000_000, 2.0, 0.045500533851589184),
            (1_000_000, 10.0, 1.527861080713021e-23),
        ];
        for (users, t, p_value) in expected {
            let ours = 2.0 * Students::new((users - 1) as f64).tail(t);
            assert!((ours / p_value - 1.0).abs() < 1e-7 && (ours - p_value).abs() < 1e-9, "{users} {t}: {ours}");
        }
    }

    #[test]
    fn one_value_says_nothing() {
        assert_eq!(interval(&[0.3], 0.95), Interval { low: f64::NEG_INFINITY, high: f64::INFINITY });
        assert_eq!(interval(&[0.25; 4], 0.95), Interval { low: 0.25, high: 0.25 });
    }
}

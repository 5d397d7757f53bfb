//! The Mann-Whitney-Wilcoxon test, unpaired, as paper 000 used it.
//!
//! ```text
//! U = R_a - n_a (n_a + 1) / 2
//! z = (|U - n_a n_b / 2| - 1/2) / sqrt(n_a n_b / 12 ((N + 1) - sum(t^3 - t) / (N (N - 1))))
//! ```
//! Normal with correction for ties and continuity. It does not know that both methods were measured on the same users, so the variance
//! between users hides differences that the paired tests see.

use super::{
    Tested,
    compare::Compared,
    differences::tolerance,
    kind::{Found, TestKind},
    ranks::mid_ranks,
    resample::Resampled,
};
use crate::significance::Over;
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

/// `mann-whitney`
pub(super) struct MannWhitney;

impl TestKind for MannWhitney {
    fn name(&self) -> &'static str {
        "mann-whitney"
    }

    fn words(&self, _counted: Over) -> &'static str {
        "Mann-Whitney U test"
    }

    fn is_paired(&self) -> bool {
        false
    }

    fn found(&self, compared: &Compared, _resampled: Option<&Resampled>) -> Found {
        let columns = compared.columns();
        let tested = compared.pairs.all.par_iter().map(|&(a, b)| mann_whitney(columns[a], columns[b])).collect();
        Found::over_users(compared, tested)
    }
}

/// Whether values of `a` tend to be larger than values of `b`. The effect size is Cliff's delta, `2 U / (n_a n_b) - 1`. `p` is 1 when all
/// values are the same.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Tested {
    let together: Vec<f64> = a.iter().chain(b).copied().collect();
    let ranked = mid_ranks(&together, tolerance(&together));
    let (users_a, users_b, users) = (a.len() as f64, b.len() as f64, together.len() as f64);
    let pairs = users_a * users_b;
    let statistic = ranked.ranks[..a.len()].iter().sum::<f64>() - users_a * (users_a + 1.0) / 2.0;
    let variance = pairs / 12.0 * (users + 1.0 - ranked.ties / (users * (users - 1.0)).max(1.0));
    let p_value = match variance > 0.0 {
        true => 2.0 * Normal::standard().sf((((statistic - pairs / 2.0).abs() - 0.5) / variance.sqrt()).max(0.0)),
        false => 1.0,
    };
    Tested { statistic, p_value, effect_size: (2.0 * statistic - pairs) / pairs.max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::tests::{A, B};

    #[test]
    fn worked_example() {
        let tested = mann_whitney(&A, &B);
        assert_eq!(tested.statistic, 55.0);
        assert!((tested.p_value - 0.73373).abs() < 5e-9, "{tested:?}");
        assert!((tested.effect_size - 0.1).abs() < 1e-15, "{tested:?}");
    }

    #[test]
    fn no_nan() {
        assert_eq!(mann_whitney(&[0.5; 5], &[0.5; 5]), Tested { statistic: 12.5, p_value: 1.0, effect_size: 0.0 });
        assert_eq!(mann_whitney(&[0.5], &[0.25]).p_value, 1.0);
        assert_eq!(mann_whitney(&[], &[]), Tested { statistic: 0.0, p_value: 1.0, effect_size: 0.0 });
    }
}

//! Wilcoxon's signed-rank test.
//!
//! ```text
//! W+ = sum of the ranks of |d| where d > 0,  W- where d < 0,  W = min(W+, W-)
//! z = (|W - n(n+1)/4| - 1/2) / sqrt(n(n+1)(2n+1)/24 - sum(t^3 - t)/48)
//! ```
//! Users without a difference are dropped, tied differences share their mean rank. Up to 50 users the distribution of W over all signs of
//! these ranks is exact, ties and all; beyond, it is normal with correction for ties and continuity. The test is of symmetry around zero,
//! not of the mean: where most users have no difference, prefer the randomization test.

use super::{
    Differences, Tested,
    compare::Compared,
    kind::{Found, TestKind},
    ranks::mid_ranks,
    resample::Resampled,
};
use crate::significance::Over;
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

/// The largest number of non-zero differences whose distribution is enumerated.
pub const EXACT: usize = 50;

/// `wilcoxon`
pub(super) struct Wilcoxon;

impl TestKind for Wilcoxon {
    fn name(&self) -> &'static str {
        "wilcoxon"
    }

    fn words(&self, _counted: Over) -> &'static str {
        "Wilcoxon signed-rank test"
    }

    fn found(&self, compared: &Compared, _resampled: Option<&Resampled>) -> Found {
        let columns = compared.columns();
        let of_pair = |&(a, b): &(usize, usize)| wilcoxon(&Differences::new(columns[a], columns[b]));
        let tested = compared.pairs.all.par_iter().map(of_pair).collect();
        Found::over_users(compared, tested)
    }
}

/// Whether the differences are symmetric around zero. `p` is 1 when all are zero.
pub fn wilcoxon(differences: &Differences) -> Tested {
    let nonzero = differences.nonzero();
    let magnitudes: Vec<f64> = nonzero.iter().map(|difference| difference.abs()).collect();
    let ranked = mid_ranks(&magnitudes, differences.tolerance);
    let plus: f64 = nonzero.iter().zip(&ranked.ranks).filter(|(difference, _)| **difference > 0.0).map(|(_, rank)| rank).sum();
    let total: f64 = ranked.ranks.iter().sum();
    let statistic = plus.min(total - plus);
    let p_value = match nonzero.len() {
        0 => 1.0,
        1..=EXACT => exact(&ranked.ranks, statistic),
        users => normal(users as f64, ranked.ties, statistic),
    };
    Tested { statistic, p_value, effect_size: (2.0 * plus - total) / total.max(1.0) }
}

/// Twice the share of all signs whose positive ranks sum to `smaller` at most.
fn exact(ranks: &[f64], smaller: f64) -> f64 {
    let doubled: Vec<usize> = ranks.iter().map(|rank| (2.0 * rank) as usize).collect();
    let total: usize = doubled.iter().sum();
    let mut ways = vec![0.0; total + 1]; // ways[s]: subsets of the ranks so far that sum to s; whole below 2^53
    ways[0] = 1.0;
    for rank in doubled {
        for sum in (rank..=total).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let tail: f64 = ways[..=(2.0 * smaller) as usize].iter().sum();
    (2.0 * tail / (ranks.len() as f64).exp2()).min(1.0)
}

fn normal(users: f64, ties: f64, smaller: f64) -> f64 {
    let mean = users * (users + 1.0) / 4.0;
    let variance = users * (users + 1.0) * (2.0 * users + 1.0) / 24.0 - ties / 48.0;
    let z = ((mean - smaller - 0.5) / variance.sqrt()).max(0.0);
    2.0 * Normal::standard().sf(z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::tests::differences;

    #[test]
    fn worked_example() {
        let tested = wilcoxon(&differences());
        assert_eq!(tested.statistic, 4.0);
        assert_eq!(tested.p_value, 0.013671875);
        assert!((tested.effect_size - 0.85454545).abs() < 5e-9, "{tested:?}");
    }

    #[test]
    fn worked_example_by_the_normal_approximation() {
        let ranked = mid_ranks(&differences().values.iter().map(|d| d.abs()).collect::<Vec<_>>(), 1e-12);
        assert_eq!(10.0 * 11.0 * 21.0 / 24.0 - ranked.ties / 48.0, 95.125);
        assert!((normal(10.0, ranked.ties, 4.0) - 0.01836383).abs() < 5e-9);
    }

    /// With five pairs no two-sided p-value is below .0625.
    #[test]
    fn smallest_p_of_five() {
        assert_eq!(wilcoxon(&Differences::new(&[0.1, 0.2, 0.3, 0.4, 0.5], &[0.0; 5])).p_value, 0.0625);
    }

    #[test]
    fn zeros_are_dropped() {
        let some = wilcoxon(&Differences::new(&[0.1, 0.2, -0.3, 0.4], &[0.0; 4]));
        assert_eq!(some, wilcoxon(&Differences::new(&[0.1, 0.7, 0.2, -0.3, 0.7, 0.4], &[0.0, 0.7, 0.0, 0.0, 0.7, 0.0])));
        assert_eq!(wilcoxon(&Differences::new(&[0.7; 80], &[0.7; 80])), Tested { statistic: 0.0, p_value: 1.0, effect_size: 0.0 });
    }

    /// The middle of the distribution: exact and approximate p-values are 1.
    #[test]
    fn balanced_signs() {
        for users in [4, 100] {
            let a: Vec<f64> = (0..users).map(|user| if user % 4 == 0 || user % 4 == 3 { 1.0 } else { -1.0 }).collect();
            assert_eq!(wilcoxon(&Differences::new(&a, &vec![0.0; users])).p_value, 1.0);
        }
    }
}

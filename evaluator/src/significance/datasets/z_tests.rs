//! Tests of pairs of average ranks, adjusted after Holm for the pairs that are asked about.
//!
//! ```text
//! z = (R_i - R_j) / sqrt(k (k + 1) / (6 N)),   p = 2 (1 - Phi(|z|))
//! ```
//! All pairs are one family; the pairs of one control method with each other one are a smaller one, with more power.
//! Demsar, JMLR 7 (2006), Section 3.2.2; Garcia and Herrera, JMLR 9 (2008), for all pairs.

use super::AverageRanks;
use crate::significance::{Correction, adjust};
use statrs::distribution::{ContinuousCDF, Normal};

/// A test of the difference of two average ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZTest {
    /// The difference in standard errors; negative where the first method has the better rank.
    pub z: f64,
    /// Two-sided.
    pub p_value: f64,
    /// Adjusted after Holm for all pairs of the family.
    pub p_adjusted: f64,
}

/// Tests pairs of methods, which are one family.
pub fn z_tests(ranks: &AverageRanks, pairs: &[(usize, usize)]) -> Vec<ZTest> {
    let error = ranks.standard_error();
    let z: Vec<f64> = pairs.iter().map(|&(one, other)| (ranks.ranks[one] - ranks.ranks[other]) / error).collect();
    let p_values: Vec<f64> = z.iter().map(|z| 2.0 * Normal::standard().sf(z.abs())).collect();
    let adjusted = adjust(Correction::Holm, &p_values);
    z.into_iter().zip(p_values).zip(adjusted).map(|((z, p_value), p_adjusted)| ZTest { z, p_value, p_adjusted }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::datasets::tests::demsar;

    /// `scipy.stats.norm.sf` and `statsmodels` `multipletests(method="holm")`
    #[test]
    fn all_pairs_of_the_worked_example() {
        let found = z_tests(&AverageRanks::new(&demsar()), &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        let expected = [
            (2.3421601750764793, 0.019172484755223106, 0.09586242377611554),
            (0.5123475382979799, 0.6084078002329985, 1.0),
            (2.4153526805476195, 0.015719980210024593, 0.09431988126014756),
            (-1.8298126367784995, 0.06727796053834902, 0.22815949699622212),
            (0.07319250547114019, 0.9416529301610358, 1.0),
            (1.9030051422496397, 0.05703987424905553, 0.22815949699622212),
        ];
        for (found, (z, p_value, p_adjusted)) in found.iter().zip(expected) {
            assert!((found.z - z).abs() < 1e-10 && (found.p_value - p_value).abs() < 1e-10, "{found:?}");
            assert!((found.p_adjusted - p_adjusted).abs() < 1e-10, "{found:?}");
        }
    }

    /// Demsar, Section 3.2.2: with C4.5 as the control, Holm's procedure rejects the two versions that tune m.
    #[test]
    fn a_control_has_a_smaller_family() {
        let found = z_tests(&AverageRanks::new(&demsar()), &[(0, 1), (0, 2), (0, 3)]);
        for (found, p_adjusted) in found.iter().zip([0.04715994063007378, 0.6084078002329985, 0.04715994063007378]) {
            assert!((found.p_adjusted - p_adjusted).abs() < 1e-10, "{found:?}");
        }
    }
}

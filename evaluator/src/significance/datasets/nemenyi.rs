//! Nemenyi's test: which of all pairs of methods differ in average rank.
//!
//! ```text
//! p  = P(Q_k > sqrt(2) |R_i - R_j| / sqrt(k (k + 1) / (6 N)))
//! CD = q_alpha sqrt(k (k + 1) / (6 N)),   P(Q_k > sqrt(2) q_alpha) = alpha
//! ```
//! Q_k is the studentized range of k values with infinite degrees of freedom. A pair differs where its average ranks are CD apart or more.
//! It follows Friedman's test: where that does not reject, no pair is called different, whatever p says.
//! Nemenyi 1963; Demsar, JMLR 7 (2006), Section 3.2.2.

use super::{
    AverageRanks,
    average_ranks::standard_error,
    studentized_range::{studentized_range_quantile, studentized_range_tail},
};

/// The p-value of two methods' difference, adjusted for all pairs of methods.
pub fn nemenyi(ranks: &AverageRanks, one: usize, other: usize) -> f64 {
    let apart = (ranks.ranks[one] - ranks.ranks[other]).abs() / ranks.standard_error();
    studentized_range_tail(apart * 2.0_f64.sqrt(), ranks.ranks.len())
}

/// How far apart average ranks must be to differ at level `alpha`, for all pairs together.
pub fn critical_difference(methods: usize, datasets: usize, alpha: f64) -> f64 {
    studentized_range_quantile(alpha, methods) / 2.0_f64.sqrt() * standard_error(methods, datasets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::datasets::tests::demsar;

    /// `scikit_posthocs.posthoc_nemenyi_friedman`
    #[test]
    fn worked_example() {
        let ranks = AverageRanks::new(&demsar());
        let expected = [
            (0, 1, 0.08867270928888271),
            (0, 2, 0.9561771752218107),
            (0, 3, 0.07418479506874454),
            (1, 2, 0.2592280701547286),
            (1, 3, 0.999859449385133),
            (2, 3, 0.22669688602641525),
        ];
        for (one, other, p_value) in expected {
            assert!((nemenyi(&ranks, one, other) - p_value).abs() < 1e-10, "{one} {other}");
            assert_eq!(nemenyi(&ranks, one, other), nemenyi(&ranks, other, one));
        }
    }

    /// Demsar prints 1.25 at 0.05 and 1.12 at 0.10; the digits are SciPy's.
    #[test]
    fn critical_differences() {
        assert!((critical_difference(4, 14, 0.05) - 1.2535591471176057).abs() < 1e-10);
        assert_eq!(format!("{:.2}", critical_difference(4, 14, 0.10)), "1.12");
    }
}

//! Adjusting the p-values of a family of comparisons, and the level of its intervals. One file for each correction.

mod benjamini_hochberg;
mod bonferroni;
mod holm;
mod kind;
mod none;
pub(crate) mod romano_wolf;

use super::pairs::PairKind;
use kind::{CorrectionKind, corrections};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

corrections! {
    /// No adjustment: p-values as they are.
    None in none,
    /// Bonferroni: times the number of comparisons.
    Bonferroni in bonferroni,
    /// Holm's step-down.
    Holm in holm,
    /// Benjamini and Hochberg's step-up, for the false discovery rate.
    BenjaminiHochberg in benjamini_hochberg,
    /// Romano and Wolf's step-down, on the largest statistic of jointly resampled comparisons. Tests without a joint resampling take Holm's.
    RomanoWolf in romano_wolf,
}

impl Correction {
    /// The name in sweep files and tables.
    pub fn name(self) -> &'static str {
        self.kind().name()
    }

    /// What is done, in words: `adjusted after Holm`.
    pub fn words(self) -> &'static str {
        self.kind().words()
    }

    /// Whether tests that resample all comparisons together are adjusted by their joint distribution.
    pub(super) fn is_joint(self) -> bool {
        self.kind().is_joint()
    }

    /// What tests without a joint resampling are adjusted by.
    pub(super) fn without_resamples(self) -> Self {
        self.kind().without_resamples(self)
    }

    /// By how much the smallest of so many p-values is multiplied, where they are not adjusted jointly.
    pub(super) fn multiplies(self, comparisons: usize) -> usize {
        self.kind().multiplies(comparisons)
    }
}

/// Adjusted p-values, in the order given. All of them are one family.
pub fn adjust(correction: Correction, p_values: &[f64]) -> Vec<f64> {
    correction.kind().adjust(p_values)
}

/// What the comparisons of some pairs of methods are adjusted to.
pub(super) struct AdjustedPairs {
    /// One for each pair.
    pub(super) p_values: Vec<f64>,
    /// The [`level`] of their intervals.
    pub(super) level: f64,
}

/// The p-values of these pairs, adjusted as one family in which a comparison counts once, however many copies its methods have, and a method beside its
/// copy not at all.
pub(super) fn adjust_pairs(correction: Correction, pairs: &[usize], kinds: &[PairKind], p_values: &[f64], alpha: f64) -> AdjustedPairs {
    let comparison = |pair: usize| kinds[pair].comparison(pair);
    let comparisons: BTreeSet<usize> = pairs.iter().filter_map(|&pair| comparison(pair)).collect();
    let adjusted = adjust(correction, &comparisons.iter().map(|&comparison| p_values[comparison]).collect::<Vec<_>>());
    let level = level(correction, &adjusted, alpha);
    let found: HashMap<usize, f64> = comparisons.into_iter().zip(adjusted).collect();
    let of = |&pair: &usize| comparison(pair).map_or(p_values[pair], |comparison| found[&comparison]);
    AdjustedPairs { p_values: pairs.iter().map(of).collect(), level }
}

/// The level `1 - level` of each interval of a family, such that intervals and adjusted p-values agree: of those that are not significant each
/// holds zero, and those that are hold it only where a step-down told them apart.
pub(crate) fn level(correction: Correction, adjusted: &[f64], alpha: f64) -> f64 {
    let significant = adjusted.iter().filter(|&&p| p < alpha).count().max(1);
    correction.kind().level(alpha, adjusted.len().max(1), significant)
}

/// Indices by ascending p-value.
fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&left, &right| p_values[left].total_cmp(&p_values[right]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(correction: Correction, expected: [f64; 5]) {
        let shuffled = [0.3, 0.013, 0.001, 0.04, 0.021];
        let place = [4, 1, 0, 3, 2];
        for (adjusted, place) in adjust(correction, &shuffled).into_iter().zip(place) {
            assert!((adjusted - expected[place]).abs() < 1e-12, "{correction:?}: {adjusted} {}", expected[place]);
        }
    }

    #[test]
    fn worked_example() {
        check(Correction::None, [0.001, 0.013, 0.021, 0.04, 0.3]);
        check(Correction::Bonferroni, [0.005, 0.065, 0.105, 0.2, 1.0]);
        check(Correction::Holm, [0.005, 0.052, 0.063, 0.08, 0.3]);
        check(Correction::BenjaminiHochberg, [0.005, 0.0325, 0.035, 0.05, 0.3]);
    }

    proptest! {
        #[test]
        fn adjusted_values_keep_the_order(p_values in prop::collection::vec(0.0..=1.0f64, 0..12)) {
            let holm = adjust(Correction::Holm, &p_values);
            let bonferroni = adjust(Correction::Bonferroni, &p_values);
            let discovery = adjust(Correction::BenjaminiHochberg, &p_values);
            for (left, &p) in p_values.iter().enumerate() {
                prop_assert!(p <= discovery[left] && discovery[left] <= holm[left] && holm[left] <= bonferroni[left]);
                for right in 0..p_values.len() {
                    prop_assert!(p > p_values[right] || holm[left] <= holm[right] && discovery[left] <= discovery[right]);
                }
            }
        }
    }
}

//! Adjusting the p-values of a family of comparisons.
//!
//! ```text
//! bonferroni:          min(1, m p)
//! holm:                max over i <= k of min(1, (m - i + 1) p_(i))
//! benjamini-hochberg:  min over i >= k of min(1, m p_(i) / i)
//! ```
//! The first two bound the chance of any false claim, Holm never worse than Bonferroni; the last bounds the share of false claims.

use crate::significance::Correction;

/// Adjusted p-values, in the order given. All of them are one family.
pub fn adjust(correction: Correction, p_values: &[f64]) -> Vec<f64> {
    match correction {
        Correction::None => p_values.to_vec(),
        Correction::Bonferroni => p_values.iter().map(|p| (p * p_values.len() as f64).min(1.0)).collect(),
        // Without a joint resampling, which is in `romano_wolf`, Holm's is the step-down that is left.
        Correction::Holm | Correction::RomanoWolf => holm(p_values),
        Correction::BenjaminiHochberg => benjamini_hochberg(p_values),
    }
}

/// The level `1 - level` of each interval of a family, such that intervals and adjusted p-values agree: of those that are not significant each
/// holds zero, and those that are hold it only where a step-down told them apart.
///
/// After Bonferroni and Holm it is `alpha / m`; after Benjamini and Hochberg `alpha r / m`, with `r` significant comparisons (Benjamini and
/// Yekutieli, JASA 2005: the share of intervals that miss is bounded).
pub(crate) fn level(correction: Correction, adjusted: &[f64], alpha: f64) -> f64 {
    let comparisons = adjusted.len().max(1) as f64;
    let significant = adjusted.iter().filter(|&&p| p < alpha).count().max(1) as f64;
    match correction {
        Correction::None => alpha,
        Correction::Bonferroni | Correction::Holm | Correction::RomanoWolf => alpha / comparisons,
        Correction::BenjaminiHochberg => alpha * significant / comparisons,
    }
}

fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0f64;
    for (smaller, index) in ascending(p_values).into_iter().enumerate() {
        largest = largest.max(p_values[index] * (p_values.len() - smaller) as f64).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p_values.len()];
    let mut smallest = 1.0f64;
    for (smaller, index) in ascending(p_values).into_iter().enumerate().rev() {
        smallest = smallest.min(p_values[index] * (p_values.len() as f64 / (smaller + 1) as f64));
        adjusted[index] = smallest;
    }
    adjusted
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

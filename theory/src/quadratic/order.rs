//! Which scores minimise the expected loss where item j is the positive with probability `eta_j`.
//!
//! ```text
//! SM                  s_j = log eta_j, up to a constant
//! RG2                 s_j = n eta_j - 1               (RGx: up to a constant)
//! sampled RG2         s_j = (eta_j w+ t+ + (1 - eta_j) w- t-) / (eta_j w+ + (1 - eta_j) w-)
//! ```
//! All have the order of eta: Theorems 10 to 12, for one context.

/// The weighted squared loss that m uniform negatives, drawn anew each time and not corrected, make of the softmax loss; m to infinity is RG2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// Weight of a positive.
    pub positive_weight: f64,
    /// Weight of any other item.
    pub other_weight: f64,
    /// Target of a positive; that of any other item is -1.
    pub positive_target: f64,
}

impl Sampled {
    /// The loss of n items, |P| positives and m negatives.
    pub fn new(items: usize, positives: usize, negatives: usize) -> Self {
        let (n, liked, m) = (items as f64, positives as f64, negatives as f64);
        let scale = 2.0 * n * (m + 1.0);
        Self {
            positive_weight: (liked * m + n) / scale,
            other_weight: liked * m / scale,
            positive_target: m * (n - liked) / (liked * m + n),
        }
    }

    /// `sum_j w_j (s_j - t_j)^2`
    pub fn value(&self, scores: &[f64], positives: &[usize]) -> f64 {
        let term = |(item, score): (usize, &f64)| {
            if positives.contains(&item) {
                self.positive_weight * (score - self.positive_target).powi(2)
            } else {
                self.other_weight * (score + 1.0).powi(2)
            }
        };
        scores.iter().enumerate().map(term).sum()
    }

    /// The minimiser's score for an item that is the positive with this probability.
    pub fn minimiser(&self, eta: f64) -> f64 {
        let (positive, other) = (eta * self.positive_weight, (1.0 - eta) * self.other_weight);
        (positive * self.positive_target - other) / (positive + other)
    }
}

/// The minimiser's score by RG2 over n items, for an item that is the positive with probability `eta`.
pub fn minimiser(items: usize, eta: f64) -> f64 {
    items as f64 * eta - 1.0
}

#[cfg(test)]
mod tests {
    use super::super::LossForm;
    use super::*;
    use crate::testing::{LIKED, SCORES, assert_near};
    use proptest::prelude::*;

    /// LOSSES section 8: n = 8, three positives, four negatives.
    #[test]
    fn the_example_of_the_reference() {
        let sampled = Sampled::new(8, 3, 4);
        assert_eq!(sampled, Sampled { positive_weight: 0.25, other_weight: 0.15, positive_target: 1.0 });
        assert_near(sampled.value(&SCORES, &LIKED), 1.3085, 1e-12);
    }

    #[test]
    fn endless_negatives_are_rg2() {
        let sampled = Sampled::new(8, 3, usize::MAX >> 12);
        let zero = |scores: &[f64]| sampled.value(scores, &LIKED) - sampled.value(&[0.0; 8], &LIKED);
        assert_near(zero(&SCORES), LossForm::Rg2.value(&SCORES, &LIKED) - LossForm::Rg2.value(&[0.0; 8], &LIKED), 1e-9);
    }

    type Loss<'a> = &'a dyn Fn(&[f64], &[usize]) -> f64;

    /// The expectation over the positive of a loss with one positive.
    fn expected(loss: Loss, scores: &[f64], eta: &[f64]) -> f64 {
        eta.iter().enumerate().map(|(item, eta)| eta * loss(scores, &[item])).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// No small step from the closed form lowers the expected loss.
        #[test]
        fn the_minimisers_minimise(weights in prop::collection::vec(0.05..1.0_f64, 2..9), step in prop::collection::vec(-1.0..1.0_f64, 9)) {
            let total: f64 = weights.iter().sum();
            let eta: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
            let n = eta.len();
            let sampled = Sampled::new(n, 1, 4);
            let cases: [(Vec<f64>, Loss); 4] = [
                (eta.iter().map(|eta| eta.ln()).collect(), &|s, p| LossForm::Softmax.value(s, p)),
                (eta.iter().map(|&eta| minimiser(n, eta)).collect(), &|s, p| LossForm::Rg2.value(s, p)),
                (eta.iter().map(|&eta| minimiser(n, eta) + 3.0).collect(), &|s, p| LossForm::Rgx.value(s, p)),
                (eta.iter().map(|&eta| sampled.minimiser(eta)).collect(), &|s, p| sampled.value(s, p)),
            ];
            for (scores, loss) in cases {
                let moved: Vec<f64> = scores.iter().zip(&step).map(|(score, step)| score + 1e-3 * step).collect();
                prop_assert!(expected(loss, &scores, &eta) <= expected(loss, &moved, &eta) + 1e-12);
            }
        }
    }
}

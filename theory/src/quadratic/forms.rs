//! The softmax loss of one user and its quadratic forms, each with the constant that makes them meet at s = 0.

/// A function of a user's scores for all items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LossForm {
    /// The softmax loss itself.
    Softmax,
    /// `RG2 + c`: the expansion without its last term.
    Rg2,
    /// `RGx + c`: the expansion to second order, RG2 of scores less their mean.
    Rgx,
    /// The expansion with the largest curvature that softmax can have, `(I - 11'/n) / 2`: a bound everywhere (Böhning, 1992).
    Boehning,
}

impl LossForm {
    /// All forms.
    pub const ALL: [Self; 4] = [Self::Softmax, Self::Rg2, Self::Rgx, Self::Boehning];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Softmax => "softmax",
            Self::Rg2 => "rg2",
            Self::Rgx => "rgx",
            Self::Boehning => "boehning",
        }
    }

    /// The form's value, of scores `[n]` and the items that are positives.
    pub fn value(self, scores: &[f64], positives: &[usize]) -> f64 {
        let (items, liked) = (scores.len() as f64, positives.len() as f64);
        let sum: f64 = scores.iter().sum();
        let of_positives: f64 = positives.iter().map(|&item| scores[item]).sum();
        let linear = liked * (items.ln() + sum / items) - of_positives;
        let spread: f64 = scores.iter().map(|score| (score - sum / items).powi(2)).sum();
        match self {
            Self::Softmax => liked * log_sum_exp(scores) - of_positives,
            Self::Rg2 => rg2(scores, positives) + constant(items, liked),
            Self::Rgx => rg2(scores, positives) - liked / (2.0 * items * items) * sum * sum + constant(items, liked),
            Self::Boehning => linear + liked / 4.0 * spread,
        }
    }
}

/// `w sum_j (s_j - t_j)^2`
fn rg2(scores: &[f64], positives: &[usize]) -> f64 {
    let (items, liked) = (scores.len() as f64, positives.len() as f64);
    let mut targets = vec![-1.0; scores.len()];
    positives.iter().for_each(|&item| targets[item] = items / liked - 1.0);
    let squares: f64 = scores.iter().zip(&targets).map(|(score, target)| (score - target).powi(2)).sum();
    liked / (2.0 * items) * squares
}

/// `c = |P| log n - n / 2 + |P| / 2`
fn constant(items: f64, liked: f64) -> f64 {
    liked * items.ln() - items / 2.0 + liked / 2.0
}

pub(super) fn log_sum_exp(scores: &[f64]) -> f64 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + scores.iter().map(|score| (score - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LIKED, SCORES, assert_near};
    use proptest::prelude::*;

    /// LOSSES section 8: n = 8, three positives.
    #[test]
    fn the_example_of_the_reference() {
        assert_near(constant(8.0, 3.0), 3.738_324_63, 1e-8);
        assert_near(rg2(&SCORES, &LIKED), 2.126_875, 1e-12);
        let expected = [(LossForm::Softmax, 5.755_794_44), (LossForm::Rg2, 5.865_199_63), (LossForm::Rgx, 5.780_590_25)];
        expected.into_iter().for_each(|(form, value)| assert_near(form.value(&SCORES, &LIKED), value, 1e-8));
        assert_near(LossForm::Rgx.value(&SCORES, &LIKED) - constant(8.0, 3.0), 2.042_265_62, 1e-8);
    }

    /// THEORY section 6: ten items, a negative at 3, all else at 0.
    #[test]
    fn rg2_is_below_softmax_where_one_negative_leads() {
        let mut scores = [0.0; 10];
        scores[9] = 3.0;
        assert_near(LossForm::Softmax.value(&scores, &[0]), 3.370_241_04, 1e-8);
        assert_near(LossForm::Rg2.value(&scores, &[0]), 3.052_585_09, 1e-8);
        assert!(LossForm::Boehning.value(&scores, &[0]) >= LossForm::Softmax.value(&scores, &[0]));
    }

    fn gradient(form: LossForm, at: &[f64], positives: &[usize]) -> Vec<f64> {
        let moved = |item: usize, by: f64| {
            let mut scores = at.to_vec();
            scores[item] += by;
            form.value(&scores, positives)
        };
        (0..at.len()).map(|item| (moved(item, 1e-5) - moved(item, -1e-5)) / 2e-5).collect()
    }

    #[test]
    fn gradients_of_the_reference() {
        let rg2 = [-0.2875, 0.45, -0.4375, 0.2625, 0.6375, -0.5875, 0.15, 0.525];
        let rgx = [-0.3765625, 0.3609375, -0.5265625, 0.1734375, 0.5484375, -0.6765625, 0.0609375, 0.4359375];
        for (form, expected) in [(LossForm::Rg2, rg2), (LossForm::Rgx, rgx)] {
            gradient(form, &SCORES, &LIKED).iter().zip(expected).for_each(|(&found, expected)| assert_near(found, expected, 1e-8));
        }
    }

    #[test]
    fn all_forms_meet_at_0_and_so_do_their_gradients() {
        for items in [3, 8, 40] {
            let zeros = vec![0.0; items];
            for positives in [&[0][..], &[0, 2]] {
                let value = LossForm::Softmax.value(&zeros, positives);
                let slope = gradient(LossForm::Softmax, &zeros, positives);
                for form in LossForm::ALL {
                    assert_near(form.value(&zeros, positives), value, 1e-12);
                    gradient(form, &zeros, positives).iter().zip(&slope).for_each(|(&one, &other)| assert_near(one, other, 1e-8));
                }
            }
        }
    }

    /// Second derivatives at 0, `|P| (I - 11'/n) / n` of softmax and RGx; RG2 lacks the second term.
    #[test]
    fn rgx_has_the_curvature_of_softmax_at_0() {
        let second = |form: LossForm, one: usize, other: usize| {
            let at = |a: f64, b: f64| {
                let mut scores = [0.0; 8];
                scores[one] += a;
                scores[other] += b;
                form.value(&scores, &LIKED)
            };
            let h = 1e-3;
            (at(h, h) - at(h, -h) - at(-h, h) + at(-h, -h)) / (4.0 * h * h)
        };
        for (one, other, expected, rg2) in [(1, 1, 3.0 / 8.0 * 7.0 / 8.0, 3.0 / 8.0), (1, 4, -3.0 / 64.0, 0.0), (0, 2, -3.0 / 64.0, 0.0)] {
            assert_near(second(LossForm::Softmax, one, other), expected, 1e-6);
            assert_near(second(LossForm::Rgx, one, other), expected, 1e-8);
            assert_near(second(LossForm::Rg2, one, other), rg2, 1e-8);
        }
    }

    /// RGx leaves a remainder of third order: eight times smaller at half the scores, nearly.
    #[test]
    fn the_remainder_of_rgx_is_of_third_order() {
        let remainder = |scale: f64| {
            let scores = SCORES.map(|score| scale * score);
            (LossForm::Softmax.value(&scores, &LIKED) - LossForm::Rgx.value(&scores, &LIKED)).abs()
        };
        assert_near(remainder(0.1) / remainder(0.05), 8.097, 5e-4);
    }

    #[test]
    fn rgx_does_not_see_a_shift_and_rg2_does() {
        let shifted = SCORES.map(|score| score + 0.7);
        assert_near(LossForm::Rgx.value(&shifted, &LIKED), LossForm::Rgx.value(&SCORES, &LIKED), 1e-12);
        assert!((LossForm::Rg2.value(&shifted, &LIKED) - LossForm::Rg2.value(&SCORES, &LIKED)).abs() > 0.1);
    }

    proptest! {
        /// The Bregman divergence of the negative entropy from the softmax to one click; and it bounds the click's NDCG.
        #[test]
        fn softmax_is_a_divergence_and_bounds_ndcg(scores in prop::collection::vec(-4.0..4.0_f64, 2..12)) {
            let sum = log_sum_exp(&scores);
            let pi: Vec<f64> = scores.iter().map(|score| (score - sum).exp()).collect();
            let entropy: f64 = pi.iter().map(|p| p * p.ln()).sum();
            let slope: f64 = pi.iter().zip(0..).map(|(p, item)| (p.ln() + 1.0) * (f64::from(u8::from(item == 0)) - p)).sum();
            let loss = LossForm::Softmax.value(&scores, &[0]);
            prop_assert!((loss - (-entropy - slope)).abs() < 1e-9);
            let rank = scores.iter().filter(|&&score| score >= scores[0]).count() as f64;
            prop_assert!((1.0 + rank).log2().ln() <= loss + 1e-12);
        }
    }
}

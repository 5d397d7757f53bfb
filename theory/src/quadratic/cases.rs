//! The statements on random scores and distributions.

use super::{LossForm, Sampled, curvature, forms::log_sum_exp, minimiser};
use crate::{Statement, normal::normal_from};

/// Random cases of each statement: so many scores, of at least the least and at most the most cases.
const SCORES: usize = 1_000_000;
const LEAST: usize = 100;
const MOST: usize = 10_000;
/// The most that rounding may add.
const ROUNDING: f64 = 1e-9;

/// RGx, the whole expansion, beside RG2, which lacks its last term.
const EXPANSION: &str = "Equations 13 to 17";

/// One user's scores, positives first, and the softmax of the scores.
struct QuadraticFormCase {
    scores: Vec<f64>,
    positives: Vec<usize>,
    pi: Vec<f64>,
}

impl QuadraticFormCase {
    /// Normal scores of a random size, and 1 to 3 positives.
    fn draw(items: usize, uniform: &mut impl FnMut() -> f64) -> Self {
        let size = 4.0 * uniform();
        let scores: Vec<f64> = (0..items).map(|_| size * normal_from(uniform())).collect();
        let positives = (0..1 + (uniform() * 3_usize.min(items - 1) as f64) as usize).collect();
        let sum = log_sum_exp(&scores);
        Self { pi: scores.iter().map(|score| (score - sum).exp()).collect(), scores, positives }
    }

    fn value(&self, form: LossForm) -> f64 {
        form.value(&self.scores, &self.positives)
    }

    /// The value where all scores are moved by so much.
    fn moved(&self, form: LossForm, by: f64) -> f64 {
        let scores: Vec<f64> = self.scores.iter().map(|score| score + by).collect();
        form.value(&scores, &self.positives)
    }

    /// What takes the scores to mean 0.
    fn to_mean_zero(&self) -> f64 {
        -self.scores.iter().sum::<f64>() / self.scores.len() as f64
    }

    fn in_order(&self, less: LossForm, more: LossForm) -> bool {
        self.value(less) <= self.value(more) + ROUNDING
    }
}

/// Whether the forms bound the softmax loss, where the paper's condition holds, and whether minimisers keep the order of relevance; of
/// random scores of so many items. `uniform` gives numbers of `[0, 1)`.
pub fn statements(items: usize, uniform: &mut impl FnMut() -> f64) -> Vec<Statement> {
    let cases: Vec<QuadraticFormCase> = (0..(SCORES / items).clamp(LEAST, MOST)).map(|_| QuadraticFormCase::draw(items, uniform)).collect();
    let all = |holds: &dyn Fn(&QuadraticFormCase) -> bool| cases.iter().map(holds).collect::<Vec<bool>>();
    let limit = 1.0 / items as f64 + ROUNDING;
    vec![
        Statement::of(
            "RG2 + c is at least the softmax loss",
            "Proposition 7",
            all(&|case| case.in_order(LossForm::Softmax, LossForm::Rg2)),
        ),
        Statement::of("the curvature is at most 1/n", "Proposition 7, its proof", all(&|case| curvature(&case.pi).largest <= limit)),
        Statement::of("it is where 2 π (1 - π) <= 1/n for all items", "Gershgorin", gershgorin(&cases, limit)),
        Statement::of("RGx + c is at most RG2 + c", EXPANSION, all(&|case| case.in_order(LossForm::Rgx, LossForm::Rg2))),
        Statement::of(
            "Böhning's form is at least the softmax loss",
            "Böhning, 1992",
            all(&|case| case.in_order(LossForm::Softmax, LossForm::Boehning)),
        ),
        Statement::of(
            "RGx is RG2 where a user's scores have mean 0",
            EXPANSION,
            all(&|case| near(case.moved(LossForm::Rgx, case.to_mean_zero()), case.moved(LossForm::Rg2, case.to_mean_zero()))),
        ),
        Statement::of(
            "RGx stays as it is where all of a user's scores move alike",
            EXPANSION,
            all(&|case| near(case.moved(LossForm::Rgx, case.to_mean_zero()), case.value(LossForm::Rgx))),
        ),
        Statement::of(
            "RG2 is least of scores that move alike where their mean is 0",
            EXPANSION,
            all(&|case| case.moved(LossForm::Rg2, case.to_mean_zero()) <= case.value(LossForm::Rg2) + ROUNDING),
        ),
        Statement::of(
            "the minimiser of RG2 has the order of relevance",
            "Theorems 10 to 12",
            all(&|case| keeps_order(&case.pi, |eta| minimiser(items, eta))),
        ),
        Statement::of(
            "the minimiser of sampled RG2 has it",
            "Theorems 10 to 12",
            all(&|case| keeps_order(&case.pi, |eta| Sampled::new(items, 1, 10).minimiser(eta))),
        ),
    ]
}

fn gershgorin(cases: &[QuadraticFormCase], limit: f64) -> Vec<bool> {
    let curvatures = cases.iter().map(|case| curvature(&case.pi));
    curvatures.filter(|found| found.gershgorin <= limit).map(|found| found.largest <= limit).collect()
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= ROUNDING * one.abs().max(1.0)
}

/// Whether more relevant items have higher scores.
fn keeps_order(eta: &[f64], minimiser: impl Fn(f64) -> f64) -> bool {
    let mut sorted = eta.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    sorted.windows(2).all(|pair| minimiser(pair[0]) <= minimiser(pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fractions;

    #[test]
    fn proposition_7_fails_and_the_rest_holds() {
        for items in [3, 10, 50] {
            let statements = statements(items, &mut fractions(1));
            let fails: Vec<bool> = statements.iter().map(|statement| !statement.holds()).collect();
            assert_eq!(fails, [true, true, false, false, false, false, false, false, false, false], "{items}: {statements:?}");
            assert!(statements[2].cases > 0 && statements[2].cases < statements[0].cases);
        }
    }

    /// No curvature of softmax is above one half, which is 1/n.
    #[test]
    fn with_two_items_proposition_7_holds() {
        assert!(statements(2, &mut fractions(1)).iter().all(Statement::holds));
    }

    #[test]
    fn a_wrong_order_is_seen() {
        assert!(keeps_order(&[0.5, 0.2, 0.3], |eta| eta) && !keeps_order(&[0.5, 0.2, 0.3], |eta| -eta));
    }
}

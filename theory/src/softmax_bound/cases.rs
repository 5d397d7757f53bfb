//! The bound on many random lists.

use super::{
    List,
    loss::{Denominator, kth_largest},
};
use crate::{Statement, normal::normal_from};

/// Random lists that [`statements`] draws; about three in four have a positive among their first K.
const LISTS: u32 = 20_000;
/// Negatives that a quantile is estimated from.
const SAMPLE: usize = 3;
/// The most that rounding may add.
const ROUNDING: f64 = 1e-9;
const SOURCE: &str = "Theorem 3.1";

/// A list and the temperatures of its loss.
#[derive(Clone, Debug)]
struct SoftmaxBoundCase {
    list: List,
    weight_temperature: f64,
    /// The K-th largest of the positives and a few negatives.
    estimate: f64,
}

const TEMPERATURE: f64 = 0.5;

/// Whether the loss is at least the bound: as the theorem has it, with the release's sum over negatives, and with an estimated quantile.
/// `uniform` gives numbers of `[0, 1)`.
pub fn statements(uniform: &mut impl FnMut() -> f64) -> Vec<Statement> {
    let cases: Vec<(SoftmaxBoundCase, f64)> =
        (0..LISTS).map(|_| draw(uniform)).filter_map(|case| Some((case.list.bound()?, case))).map(|(bound, case)| (case, bound)).collect();
    let hold = |quantile: &dyn Fn(&SoftmaxBoundCase) -> f64, denominator: Denominator| {
        let above = |(case, bound): &(SoftmaxBoundCase, f64)| {
            case.list.loss(quantile(case), TEMPERATURE, case.weight_temperature, denominator) >= bound - ROUNDING
        };
        cases.iter().map(above).collect::<Vec<bool>>()
    };
    let exact = |case: &SoftmaxBoundCase| case.list.quantile();
    vec![
        Statement::of("SL@K bounds -log DCG@K, all items in the sum, exact quantile", SOURCE, hold(&exact, Denominator::All)),
        Statement::of("the same with the released sum over negatives", SOURCE, hold(&exact, Denominator::Negatives)),
        Statement::of("the same with the quantile of positives and 3 negatives", SOURCE, hold(&|case| case.estimate, Denominator::All)),
    ]
}

/// 6 to 19 normal scores, 1 to 5 positives, any cutoff below the number of items.
fn draw(uniform: &mut impl FnMut() -> f64) -> SoftmaxBoundCase {
    let items = below(uniform, 14) + 6;
    let deviation = [0.1, 0.5, 2.0][below(uniform, 3)];
    let scores: Vec<f64> = (0..items).map(|_| deviation * normal_from(uniform())).collect();
    let positives: Vec<usize> = (0..below(uniform, 5) + 1).collect();
    let list = List { scores, positives, cutoff: below(uniform, items - 1) + 1 };
    let weight_temperature = [0.1, 1.0][below(uniform, 2)];
    let estimate = estimate(&list, uniform);
    SoftmaxBoundCase { list, weight_temperature, estimate }
}

fn estimate(list: &List, uniform: &mut impl FnMut() -> f64) -> f64 {
    let negatives: Vec<usize> = list.negatives().collect();
    let drawn: Vec<usize> = (0..SAMPLE).map(|_| negatives[below(uniform, negatives.len())]).collect();
    let known: Vec<f64> = list.positives.iter().chain(&drawn).map(|&item| list.scores[item]).collect();
    let place = list.cutoff.min(known.len());
    kth_largest(known, place)
}

fn below(uniform: &mut impl FnMut() -> f64, bound: usize) -> usize {
    (uniform() * bound as f64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fractions;
    use proptest::prelude::*;

    #[test]
    fn the_theorem_holds_and_the_release_does_not_inherit_it() {
        let statements = statements(&mut fractions(5));
        assert!(statements[0].cases > 14_500 && statements[0].holds(), "{:?}", statements[0]);
        assert!(statements[1].violations > 1_000, "{:?}", statements[1]);
        assert!(statements.iter().all(|statement| statement.cases == statements[0].cases));
    }

    /// No weights of the quantile's error can undo the bound where all weights are at least half: estimates are not above.
    #[test]
    fn positives_far_above_the_negatives_break_the_released_form() {
        let scores = vec![2.0, 1.9, -2.0, -2.1, -2.2, -2.3];
        let list = List { scores, positives: vec![0, 1], cutoff: 2 };
        assert!(list.loss(list.quantile(), TEMPERATURE, 1.0, Denominator::Negatives) < list.bound().unwrap());
        assert!(list.loss(list.quantile(), TEMPERATURE, 1.0, Denominator::All) >= list.bound().unwrap());
    }

    proptest! {
        #[test]
        fn any_temperatures_will_do(
            scores in prop::collection::vec(-3.0..3.0, 3..40), positives in 1usize..6, cut in 0.0..1.0, t in 0.05..3.0, weight_t in 0.05..9.0,
        ) {
            let cutoff = 1 + (cut * (scores.len() - 1) as f64) as usize;
            let list = List { positives: (0..positives.min(scores.len() - 1)).collect(), scores, cutoff };
            if let Some(bound) = list.bound() {
                let loss = list.loss(list.quantile(), t, weight_t, Denominator::All);
                prop_assert!(loss >= bound - 1e-9, "{} below {}", loss, bound);
            }
        }
    }
}

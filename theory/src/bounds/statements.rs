//! The paper's statements about these probabilities, held against them.

use super::{Bound, Form, Loss, Metric, Sampling};
use crate::Statement;

/// The most that sums of probabilities in another order may differ by.
const ROUNDING: f64 = 1e-9;

/// Theorem 7 is the appendix's copy of it.
const ORDER: &str = "Theorem 3, of NDCG without replacement; and beyond it";

type Kind = (Loss, Form);
const BPR: Kind = (Loss::Bpr, Form::Survival);
const BCE: Kind = (Loss::Bce, Form::Survival);
const CCE: Kind = (Loss::Cce, Form::Survival);
const TIGHT: Kind = (Loss::Cce, Form::Tight);

/// The statements, of the probabilities of a grid.
pub fn statements(bounds: &[Bound]) -> Vec<Statement> {
    vec![
        Statement::of("CCE bounds with at most the probability of BPR", ORDER, in_order(bounds, CCE, BPR)),
        Statement::of("the same of CCE with its tight probability", ORDER, in_order(bounds, TIGHT, BPR)),
        Statement::of("BPR bounds with at most the probability of BCE", ORDER, in_order(bounds, BPR, BCE)),
        printed(bounds),
        reachable(bounds),
        rising(bounds),
    ]
}

fn of(bounds: &[Bound], kind: Kind) -> impl Iterator<Item = &Bound> {
    bounds.iter().filter(move |bound| (bound.loss, bound.form) == kind)
}

/// The cells of the one kind against the same cells of the other.
fn in_order(bounds: &[Bound], less: Kind, more: Kind) -> impl Iterator<Item = bool> {
    of(bounds, less).zip(of(bounds, more)).map(|(less, more)| less.probability <= more.probability + ROUNDING)
}

fn printed(bounds: &[Bound]) -> Statement {
    let kinds = Loss::ALL.into_iter().map(|loss| ((loss, Form::Printed), (loss, Form::Survival)));
    let cells = kinds.flat_map(|(printed, survival)| of(bounds, printed).zip(of(bounds, survival)));
    let equal = cells.map(|(printed, survival)| (printed.probability - survival.probability).abs() <= ROUNDING);
    Statement::of("1 - CDF(threshold) is the probability of reaching the threshold", "Theorems 2 to 10", equal)
}

fn reachable(bounds: &[Bound]) -> Statement {
    let cells = of(bounds, CCE).filter(|bound| bound.metric == Metric::ReciprocalRank && bound.sampling == Sampling::WithoutReplacement);
    Statement::of(
        "without replacement, CCE bounds -log RR with a probability above 0",
        "Theorem 10",
        cells.map(|bound| bound.probability > 0.0),
    )
}

fn rising(bounds: &[Bound]) -> Statement {
    let cells: Vec<&Bound> = of(bounds, BPR).filter(|bound| bound.metric == Metric::Ndcg).collect();
    let next =
        |pair: &&[&Bound]| pair[0].rank < pair[1].rank && pair[0].negatives == pair[1].negatives && pair[0].sampling == pair[1].sampling;
    let steps = cells.windows(2).filter(next).map(|pair| pair[0].probability <= pair[1].probability + ROUNDING);
    Statement::of("the probability that BPR bounds -log NDCG rises with the rank", "read into Figure 6", steps)
}

#[cfg(test)]
mod tests {
    use super::super::Grid;
    use super::*;
    use proptest::prelude::*;

    fn of_claim<'a>(statements: &'a [Statement], words: &str) -> &'a Statement {
        statements.iter().find(|statement| statement.claim.contains(words)).unwrap()
    }

    #[test]
    fn the_grid_of_the_reference_decides() {
        let ranks = vec![1, 2, 3, 5, 10, 50, 100, 500];
        let grid = Grid { ranks, negatives: vec![1, 10, 100, 500], population: 1_000, nonnegative: 400 };
        let statements = statements(&grid.bounds());
        assert!(statements[..3].iter().all(|statement| statement.holds() && statement.cases == 128));
        let vacuous = of_claim(&statements, "above 0");
        assert_eq!((vacuous.cases, vacuous.violations), (32, 32));
        assert!(of_claim(&statements, "reaching").violations > 0);
        // At K = 100, from rank 3 to 5: 0.190 to 0.052.
        assert!(of_claim(&statements, "rises").violations > 0);
    }

    proptest! {
        /// Theorem 3, for the thresholds and for the counts.
        #[test]
        fn the_order_holds_everywhere(population in 1u64..600, rank in 0.0..=1.0, negatives in 0.0..=1.0, nonnegative in 0.0..=1.0) {
            let count = |share: f64, of: u64| 1 + (share * (of - 1) as f64) as u64;
            let (ranks, negatives) = (vec![count(rank, population + 1)], vec![count(negatives, population)]);
            let grid = Grid { ranks, negatives, population, nonnegative: count(nonnegative, population) };
            grid.check().unwrap();
            prop_assert!(statements(&grid.bounds())[..3].iter().all(Statement::holds));
        }
    }
}

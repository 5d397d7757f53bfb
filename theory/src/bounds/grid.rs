//! Probabilities over a grid of ranks and numbers of negatives.

use super::{Form, Loss, Metric, Sampling, tail::at_least, threshold::needed};
use crate::{Result, error::within};

/// The probabilities that are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Ranks of the positive among it and all negatives, from 1.
    pub ranks: Vec<u64>,
    /// Numbers of sampled negatives.
    pub negatives: Vec<u64>,
    /// All negatives of the user.
    pub population: u64,
    /// Negatives that score at least 0, for BCE: at least `rank - 1` of them where the positive itself does, as the theorems assume.
    pub nonnegative: u64,
}

/// The probability that a loss bounds a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The metric whose `-log` is bounded.
    pub metric: Metric,
    /// The loss that bounds the metric.
    pub loss: Loss,
    /// The form of the probability.
    pub form: Form,
    /// How negatives are drawn.
    pub sampling: Sampling,
    /// The positive's rank.
    pub rank: u64,
    /// Sampled negatives.
    pub negatives: u64,
    /// All negatives.
    pub population: u64,
    /// Negatives of all that count: scored at least as high as the positive, or for BCE at least 0.
    pub above: u64,
    /// How many of the sampled negatives have to count.
    pub needed: u64,
    /// `P(counted among the sampled >= needed)`
    pub probability: f64,
}

impl Grid {
    /// Whether there are such ranks and so many negatives.
    ///
    /// # Errors
    /// The first value that is out of range.
    pub fn check(&self) -> Result<()> {
        // Beyond, differences of log-factorials lose the digits that are shown.
        within("population", self.population, 1, 100_000_000, ", the negatives of a user")?;
        within("nonnegative", self.nonnegative, 0, self.population, ", the population")?;
        self.negatives.iter().try_for_each(|&negatives| within("negatives", negatives, 1, self.population, ", the population"))?;
        self.ranks.iter().try_for_each(|&rank| within("ranks", rank, 1, self.population + 1, ", the population and the positive"))
    }

    /// Every probability of the grid: by sampling, metric, loss, form, number of negatives and rank.
    ///
    /// # Panics
    /// When [`check`](Self::check) refuses the grid.
    pub fn bounds(&self) -> Vec<Bound> {
        let forms = || Loss::ALL.into_iter().flat_map(|loss| loss.forms().iter().map(move |&form| (loss, form)));
        let kinds = Sampling::ALL.into_iter().flat_map(|sampling| Metric::ALL.map(|metric| (sampling, metric)));
        let kinds = kinds.flat_map(|(sampling, metric)| forms().map(move |(loss, form)| (sampling, metric, loss, form)));
        let cells = || self.negatives.iter().flat_map(|&negatives| self.ranks.iter().map(move |&rank| (negatives, rank)));
        let all = kinds.flat_map(|kind| cells().map(move |cell| (kind, cell)));
        all.map(|((sampling, metric, loss, form), (negatives, rank))| self.bound(metric, loss, form, sampling, negatives, rank)).collect()
    }

    /// The probability that a loss bounds a metric at one rank, with so many sampled negatives.
    ///
    /// # Panics
    /// When there are no such rank, or not so many negatives.
    pub fn bound(&self, metric: Metric, loss: Loss, form: Form, sampling: Sampling, negatives: u64, rank: u64) -> Bound {
        let population = self.population;
        let above = if loss == Loss::Bce { self.nonnegative.max(rank - 1) } else { rank - 1 };
        let needed = needed(metric, loss, form, rank);
        let probability = at_least(needed, above, negatives, population, sampling);
        Bound { metric, loss, form, sampling, rank, negatives, population, above, needed, probability }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_near;

    fn grid() -> Grid {
        Grid { ranks: vec![1], negatives: vec![1], population: 1_000, nonnegative: 400 }
    }

    fn probability(metric: Metric, loss: Loss, form: Form, negatives: u64, rank: u64) -> f64 {
        grid().bound(metric, loss, form, Sampling::WithoutReplacement, negatives, rank).probability
    }

    /// NDCG of 1,000 negatives: rank, K, and BPR, CCE, CCE tight, BPR printed, CCE printed, by scipy.
    const NDCG: [(u64, u64, [f64; 5]); 32] = [
        (1, 1, [1.000_000, 0.000_000, 1.000_000, 0.000_000, 0.000_000]),
        (1, 10, [1.000_000, 0.000_000, 1.000_000, 0.000_000, 0.000_000]),
        (1, 100, [1.000_000, 0.000_000, 1.000_000, 0.000_000, 0.000_000]),
        (1, 500, [1.000_000, 0.000_000, 1.000_000, 0.000_000, 0.000_000]),
        (2, 1, [0.001_000, 0.000_000, 0.001_000, 0.001_000, 0.000_000]),
        (2, 10, [0.010_000, 0.000_000, 0.010_000, 0.010_000, 0.000_000]),
        (2, 100, [0.100_000, 0.000_000, 0.100_000, 0.100_000, 0.000_000]),
        (2, 500, [0.500_000, 0.000_000, 0.500_000, 0.500_000, 0.000_000]),
        (3, 1, [0.002_000, 0.000_000, 0.002_000, 0.000_000, 0.000_000]),
        (3, 10, [0.019_910, 0.000_090, 0.019_910, 0.000_090, 0.000_000]),
        (3, 100, [0.190_090, 0.009_910, 0.190_090, 0.009_910, 0.000_000]),
        (3, 500, [0.750_250, 0.249_750, 0.750_250, 0.249_750, 0.000_000]),
        (5, 1, [0.000_000, 0.000_000, 0.000_000, 0.000_000, 0.000_000]),
        (5, 10, [0.000_535, 0.000_003, 0.000_535, 0.000_535, 0.000_003]),
        (5, 100, [0.051_959, 0.003_608, 0.051_959, 0.051_959, 0.003_608]),
        (5, 500, [0.687_876, 0.312_124, 0.687_876, 0.687_876, 0.312_124]),
        (10, 1, [0.000_000, 0.000_000, 0.000_000, 0.000_000, 0.000_000]),
        (10, 10, [0.003_124, 0.000_001, 0.000_059, 0.003_124, 0.000_001]),
        (10, 100, [0.224_810, 0.008_005, 0.052_164, 0.224_810, 0.008_005]),
        (10, 500, [0.980_890, 0.747_084, 0.911_143, 0.980_890, 0.747_084]),
        (50, 1, [0.000_000, 0.000_000, 0.000_000, 0.000_000, 0.000_000]),
        (50, 10, [0.010_411, 0.000_002, 0.000_048, 0.010_411, 0.000_002]),
        (50, 100, [0.886_106, 0.364_414, 0.554_113, 0.886_106, 0.364_414]),
        (50, 500, [1.000_000, 1.000_000, 1.000_000, 1.000_000, 1.000_000]),
        (100, 1, [0.000_000, 0.000_000, 0.000_000, 0.000_000, 0.000_000]),
        (100, 10, [0.067_530, 0.000_007, 0.000_123, 0.067_530, 0.000_007]),
        (100, 100, [0.998_547, 0.889_197, 0.947_840, 0.998_547, 0.889_197]),
        (100, 500, [1.000_000, 1.000_000, 1.000_000, 1.000_000, 1.000_000]),
        (500, 1, [0.000_000, 0.000_000, 0.000_000, 0.000_000, 0.000_000]),
        (500, 10, [0.827_716, 0.010_265, 0.053_114, 0.827_716, 0.010_265]),
        (500, 100, [1.000_000, 1.000_000, 1.000_000, 1.000_000, 1.000_000]),
        (500, 500, [1.000_000, 1.000_000, 1.000_000, 1.000_000, 1.000_000]),
    ];

    #[test]
    fn ndcg_over_the_whole_grid() {
        let kinds = [
            (Loss::Bpr, Form::Survival),
            (Loss::Cce, Form::Survival),
            (Loss::Cce, Form::Tight),
            (Loss::Bpr, Form::Printed),
            (Loss::Cce, Form::Printed),
        ];
        for (rank, negatives, expected) in NDCG {
            for ((loss, form), expected) in kinds.into_iter().zip(expected) {
                assert_near(probability(Metric::Ndcg, loss, form, negatives, rank), expected, 1e-6);
            }
        }
    }

    /// At 100 negatives: both the threshold and the number above it grow with the rank.
    #[test]
    fn probabilities_fall_and_rise_with_the_rank() {
        let at = |rank| probability(Metric::Ndcg, Loss::Bpr, Form::Survival, 100, rank);
        assert!(at(3) > at(5) && at(5) < at(10) && at(10) < at(50));
        assert_near(at(3), 0.190_090, 1e-6);
        assert_near(at(5), 0.051_959, 1e-6);
    }

    #[test]
    fn reciprocal_rank() {
        let rr = |loss, form, negatives, rank| probability(Metric::ReciprocalRank, loss, form, negatives, rank);
        for (rank, negatives, expected) in [(10, 100, 0.008_005), (50, 100, 0.364_414), (100, 10, 0.000_007)] {
            assert_near(rr(Loss::Bpr, Form::Survival, negatives, rank), expected, 1e-6);
        }
        assert_near(rr(Loss::Cce, Form::Tight, 100, 10), 7.157e-10, 5e-13);
        assert_near(rr(Loss::Cce, Form::Tight, 100, 50), 1.989e-55, 5e-58);
    }

    /// Theorem 10 asks for as many high-scoring negatives as the rank, and there is one less.
    #[test]
    fn reciprocal_rank_is_never_surely_bounded_by_cce_as_stated() {
        for (rank, negatives) in [(1, 1), (1, 1_000), (10, 100), (50, 500), (1_001, 1_000)] {
            assert_eq!(probability(Metric::ReciprocalRank, Loss::Cce, Form::Survival, negatives, rank), 0.0);
        }
    }

    #[test]
    fn bce_counts_all_that_score_at_least_0() {
        assert_near(probability(Metric::Ndcg, Loss::Bce, Form::Survival, 10, 10), 0.954_429, 1e-6);
        assert_near(probability(Metric::ReciprocalRank, Loss::Bce, Form::Survival, 10, 10), 0.618_477, 1e-6);
        assert_eq!(grid().bound(Metric::Ndcg, Loss::Bce, Form::Survival, Sampling::WithReplacement, 10, 701).above, 700);
    }

    /// The case of a Monte Carlo study of 1,000 normal negatives, where the losses truly bound with .8995 (CCE) and 1.
    #[test]
    fn rank_51_of_20_negatives() {
        let kinds =
            [(Loss::Cce, Form::Survival, 0.000_261_92), (Loss::Cce, Form::Tight, 0.002_240_58), (Loss::Bpr, Form::Survival, 0.073_576_08)];
        for (loss, form, expected) in kinds {
            assert_near(probability(Metric::Ndcg, loss, form, 20, 51), expected, 1e-8);
        }
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        let refused = |grid: Grid| grid.check().unwrap_err().to_string();
        assert_eq!(grid().check(), Ok(()));
        assert_eq!(refused(Grid { negatives: vec![5, 1_001], ..grid() }), "--negatives 1001: expected 1 to 1000, the population");
        assert_eq!(refused(Grid { ranks: vec![0], ..grid() }), "--ranks 0: expected 1 to 1001, the population and the positive");
        assert_eq!(refused(Grid { population: 0, ..grid() }), "--population 0: expected 1 to 100000000, the negatives of a user");
        assert_eq!(refused(Grid { nonnegative: 1_001, ..grid() }), "--nonnegative 1001: expected 0 to 1000, the population");
    }

    #[test]
    fn the_grid_has_each_probability_once() {
        let grid = Grid { ranks: vec![1, 2, 3], negatives: vec![10, 100], ..grid() };
        let bounds = grid.bounds();
        assert_eq!(bounds.len(), 2 * 2 * 7 * 2 * 3);
        let keys = bounds.iter().map(|bound| (bound.metric, bound.loss, bound.form, bound.sampling, bound.rank, bound.negatives));
        assert_eq!(keys.collect::<std::collections::HashSet<_>>().len(), bounds.len());
    }
}

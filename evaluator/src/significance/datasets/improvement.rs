//! The probability of improvement: how surely a training of one method beats a training of another.
//!
//! ```text
//! P(X > Y) = mean over datasets d of  mean over splits s of d of  1 / (n m) sum_ij S(x_si, y_sj),   S(x, y) = 1 if x > y, 1/2 if x = y, else 0
//! ```
//! x_s1, …, x_sn are the means of the trainings of the one method on a split of the dataset, one for each seed, and y_s1, …, y_sm those of the other. The
//! interval is of a stratified bootstrap: each resample draws the seeds of either method anew within each split, with replacement, and the
//! ends are percentiles. It is about other seeds on these datasets. A method with one seed has no spread, and so a part of the interval is missing.
//! Agarwal et al., NeurIPS 2021, arXiv:2108.13264, Section 4.3.
//!
//! Where every training of the one beats every training of the other, draws of the same seeds are all alike, however few there are. The interval is then that of as many wins as
//! there are pairs of trainings without a training in common (Clopper and Pearson, Biometrika 1934); of a method that learns with one seed that is one pair on each split.

use crate::significance::{Interval, stream::stream};
use rand::Rng;
use rand_xoshiro::SplitMix64;
use statrs::distribution::{Beta, ContinuousCDF};

/// How surely a training of one method beats a training of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Improvement {
    /// `P(X > Y) + P(X = Y) / 2`, averaged over datasets.
    pub probability: f64,
    /// The bootstrap interval of `probability`; none where both methods have a single seed on every dataset.
    pub interval: Option<Interval>,
}

/// The settings of a bootstrap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampling {
    /// The probability that the interval holds what it is of.
    pub level: f64,
    /// How often seeds are drawn anew.
    pub resamples: u32,
    /// The seed of all draws; those of a resample depend on it and on the place of the resample alone.
    pub seed: u64,
}

/// The means of the trainings of a method: of each dataset its splits, and of each split a mean for each seed. None of these is empty.
type Trainings = [Vec<Vec<f64>>];

/// Compares two methods that were trained on the same splits of the same datasets. `at_once` says which of them fit at once, so that any training of theirs is the one that there is.
pub fn improvement(one: &Trainings, other: &Trainings, at_once: [bool; 2], resampling: Resampling) -> Improvement {
    let of_splits = |(one, other): (&Vec<Vec<f64>>, &Vec<Vec<f64>>)| -> Vec<Outcomes> {
        one.iter().zip(other).map(|(one, other)| Outcomes::new(one, other)).collect()
    };
    let outcomes: Vec<Vec<Outcomes>> = one.iter().zip(other).map(of_splits).collect();
    let average = |over: &mut dyn FnMut(&Outcomes) -> f64| {
        let of_dataset = |splits: &Vec<Outcomes>| splits.iter().map(&mut *over).sum::<f64>() / splits.len() as f64;
        outcomes.iter().map(of_dataset).sum::<f64>() / outcomes.len() as f64
    };
    let probability = average(&mut Outcomes::probability);
    if outcomes.iter().flatten().all(|outcomes| outcomes.scores.len() == 1) {
        return Improvement { probability, interval: None };
    }
    let resampled = |resample: u32| {
        let mut stream = stream(resampling.seed, resample);
        average(&mut |outcomes| outcomes.resampled(&mut stream))
    };
    let mut means: Vec<f64> = (0..resampling.resamples).map(resampled).collect();
    means.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - resampling.level) / 2.0;
    let interval = Interval { low: percentile(&means, tail), high: percentile(&means, 1.0 - tail) };
    let varies = means.first() < means.last();
    Improvement { probability, interval: Some(if varies { interval } else { exact(probability, pairs(&outcomes, at_once), tail) }) }
}

/// How many pairs of trainings without a training in common a probability rests on, in which each dataset, and each of its splits, has the same weight: as many equal ones have
/// the same variance.
fn pairs(outcomes: &[Vec<Outcomes>], at_once: [bool; 2]) -> f64 {
    let of_dataset = |splits: &Vec<Outcomes>| {
        let variance: f64 = splits.iter().map(|outcomes| 1.0 / outcomes.pairs(at_once) as f64).sum();
        variance / (splits.len() * splits.len()) as f64
    };
    (outcomes.len() * outcomes.len()) as f64 / outcomes.iter().map(of_dataset).sum::<f64>()
}

/// The interval of a share of so many independent pairs, which leaves out `tail` on either side.
fn exact(share: f64, pairs: f64, tail: f64) -> Interval {
    let (wins, losses) = (share * pairs, (1.0 - share) * pairs);
    let quantile = |wins: f64, losses: f64, below: f64| Beta::new(wins, losses).map_or(share, |beta| beta.inverse_cdf(below));
    Interval {
        low: if wins > 0.0 { quantile(wins, losses + 1.0, tail) } else { 0.0 },
        high: if losses > 0.0 { quantile(wins + 1.0, losses, 1.0 - tail) } else { 1.0 },
    }
}

/// S of every seed of the one method with every seed of the other, on one split.
struct Outcomes {
    scores: Vec<f64>,
    ones: usize,
    others: usize,
}

impl Outcomes {
    fn new(one: &[f64], other: &[f64]) -> Self {
        let score = |x: f64, y: f64| if x > y { 1.0 } else { f64::from(u8::from(x == y)) / 2.0 };
        let scores = one.iter().flat_map(|&x| other.iter().map(move |&y| score(x, y))).collect();
        Self { scores, ones: one.len(), others: other.len() }
    }

    /// How many pairs of trainings have no training in common that could be another one.
    fn pairs(&self, at_once: [bool; 2]) -> usize {
        match at_once {
            [true, false] => self.others,
            [false, true] => self.ones,
            _ => self.ones.min(self.others),
        }
    }

    fn probability(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len() as f64
    }

    /// The probability where the seeds of both methods are drawn anew.
    fn resampled(&self, stream: &mut SplitMix64) -> f64 {
        let (ones, others) = (draw(stream, self.ones), draw(stream, self.others));
        let of = |one: &usize| others.iter().map(|other| self.scores[one * self.others + other]).sum::<f64>();
        ones.iter().map(of).sum::<f64>() / self.scores.len() as f64
    }
}

/// As many places as there are, with replacement. No place is likelier than another by more than 2^-32.
fn draw(stream: &mut SplitMix64, places: usize) -> Vec<usize> {
    (0..places).map(|_| (((stream.next_u64() >> 32) * places as u64) >> 32) as usize).collect()
}

/// The value below which a share of the sorted values lies, linear between neighbours. NaN without values.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let below = place as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    /// `numpy.percentile([1, 2, 4, 8], [2.5, 50, 97.5])`
    #[test]
    fn percentiles_are_linear() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for (share, expected) in [(0.025, 1.075), (0.5, 3.0), (0.975, 7.7)] {
            assert!((super::percentile(&sorted, share) - expected).abs() < 1e-12);
        }
    }

    use super::*;

    const RESAMPLING: Resampling = Resampling { level: 0.95, resamples: 4_000, seed: 1 };

    fn of_one_split<const DATASETS: usize>(seeds: [&[f64]; DATASETS]) -> Vec<Vec<Vec<f64>>> {
        seeds.map(|seeds| vec![seeds.to_vec()]).to_vec()
    }

    /// Four folds won and another dataset lost: each dataset counts once.
    #[test]
    fn a_dataset_counts_once_however_often_it_is_split() {
        let (won, lost) = (vec![vec![0.3]; 4], vec![vec![0.1]]);
        let found = improvement(&[won, lost], &[vec![vec![0.2]; 4], vec![vec![0.2]]], [false; 2], RESAMPLING);
        assert_eq!(found, Improvement { probability: 0.5, interval: None });
    }

    /// Two seeds against two: 3 of 4 comparisons won on the first dataset, 1 and two ties on the second.
    #[test]
    fn worked_example() {
        let found =
            improvement(&of_one_split([&[0.3, 0.5], &[0.2, 0.2]]), &of_one_split([&[0.2, 0.4], &[0.2, 0.3]]), [false; 2], RESAMPLING);
        assert!((found.probability - (0.75 + 0.25) / 2.0).abs() < 1e-15, "{found:?}");
    }

    /// Of one dataset, `(0.3, 0.5)` against 0.4: a resample has 0, 1 or 2 times 0.5, so that P is 0, 1/2 and 1 at 1/4, 1/2 and 1/4.
    #[test]
    fn the_interval_is_of_resampled_seeds() {
        let (one, other) = (of_one_split([&[0.3, 0.5]]), of_one_split([&[0.4]]));
        let at = |level| improvement(&one, &other, [false; 2], Resampling { level, ..RESAMPLING }).interval.unwrap();
        assert_eq!(at(0.95), Interval { low: 0.0, high: 1.0 });
        assert_eq!(at(0.40), Interval { low: 0.5, high: 0.5 });
        let draws: usize = (0..4_000).map(|resample| draw(&mut stream(1, resample), 2)[0]).sum();
        assert!((draws as f64 - 2_000.0).abs() < 4.0 * 1_000.0_f64.sqrt(), "{draws}");
    }

    /// `scipy.stats.beta.ppf`: four wins of four are (0.39764, 1), two of four (0.06759, 0.93241).
    #[test]
    fn few_seeds_that_never_lose_may_lose_yet() {
        let won: [&[f64]; 2] = [&[0.3, 0.4], &[0.5, 0.6]];
        let of = |other: [&[f64]; 2]| improvement(&of_one_split(won), &of_one_split(other), [false; 2], RESAMPLING).interval.unwrap();
        let (all, half, none) = (of([&[0.1, 0.2], &[0.1, 0.2]]), of([&[0.1, 0.2], &[0.8, 0.9]]), of([&[0.8, 0.9], &[0.8, 0.9]]));
        for (found, expected) in [(all, [0.397_635_36, 1.0]), (half, [0.067_585_99, 0.932_414_01]), (none, [0.0, 0.602_364_64])] {
            assert!((found.low - expected[0]).abs() < 1e-6 && (found.high - expected[1]).abs() < 1e-6, "{found:?} {expected:?}");
        }
        // One training against four is one pair: 0.025. Two pairs on the one dataset and four on the other are as good as 4 / (1/2 + 1/4) = 16/3 equal ones.
        let low = |one: [&[f64]; 2], other: [&[f64]; 2]| {
            improvement(&of_one_split(one), &of_one_split(other), [false; 2], RESAMPLING).interval.unwrap().low
        };
        let single = improvement(&of_one_split([&[0.3]]), &of_one_split([&[0.1, 0.2, 0.1, 0.2]]), [false; 2], RESAMPLING).interval.unwrap();
        assert!((single.low - 0.025).abs() < 1e-9, "{single:?}");
        let fixed =
            improvement(&of_one_split([&[0.3]]), &of_one_split([&[0.1, 0.2, 0.1, 0.2]]), [true, false], RESAMPLING).interval.unwrap();
        assert!((fixed.low - 0.397_635_36).abs() < 1e-6, "{fixed:?}");
        let uneven = low([&[0.3, 0.4], &[0.5, 0.6, 0.5, 0.6]], [&[0.1, 0.2], &[0.1, 0.2, 0.1, 0.2]]);
        assert!((uneven - 0.025f64.powf(3.0 / 16.0)).abs() < 1e-9, "{uneven}");
    }

    #[test]
    fn single_seeds_have_no_interval() {
        let found = improvement(&of_one_split([&[0.3], &[0.2]]), &of_one_split([&[0.2], &[0.2]]), [false; 2], RESAMPLING);
        assert_eq!(found, Improvement { probability: 0.75, interval: None });
    }

    #[test]
    fn the_other_side_is_the_rest() {
        let (one, other) = (of_one_split([&[0.3, 0.5, 0.4], &[0.2, 0.1]]), of_one_split([&[0.35, 0.45], &[0.2]]));
        let found =
            improvement(&one, &other, [false; 2], RESAMPLING).probability + improvement(&other, &one, [false; 2], RESAMPLING).probability;
        assert!((found - 1.0).abs() < 1e-15);
    }
}

//! What a user's top-K quantile is estimated by.
//!
//! ```text
//! sample        the K-th largest score of the train items and the draws together
//! unbiased      K <= P_u: the K-th largest score of the P_u train items
//!               K >  P_u: the (K - P_u) / n upper quantile of the scores of the draws
//! regression    b <- b - learning_rate (K / n - share of the draws with s >= b)
//! ```
//! All three are the paper's: `sample` is what its results were found by (Algorithm E.1), `unbiased` is the rule of appendix D.2, under
//! which all train items are taken to stand above all others, and `regression` descends the loss of appendix D.3,
//! `(1 - p) (s - b)+ + p (b - s)+` for p = K / n. The upper p quantile of N draws is their ceil(p N)-th largest; below 1 / N, where the paper says that
//! draws cannot tell, it is the largest. The paper divides by the n items of the catalogue, and not by the n - P_u that draws come from, as is done here.
//!
//! `sample` and `unbiased` look at N draws from the items that the user does not have, as many as the sampler draws, and where there are no more of these
//! at the whole catalogue, which needs no estimate: they are the K-th largest score then. `regression` draws from all items, N for each of its
//! steps, and begins where the last update has ended, at first at 0; where nothing is drawn each step looks at all items. The paper prints
//! neither a rate nor a number of steps, and says that this one is difficult to control.
//! Yang et al., "Breaking the Top-K Barrier", KDD 2025, arXiv:2508.05673, appendix D; Koenker, "Quantile Regression", 2005.

use super::check_above_zero;
use serde::{Deserialize, Serialize};

/// `quantile_estimator` of losses with quantiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuantileEstimator {
    /// The K-th largest score of train items and draws.
    Sample(SampleQuantile),
    /// The K-th largest score of the train items, or a quantile of the draws.
    Unbiased(UnbiasedQuantile),
    /// Steps down the loss of quantile regression.
    Regression(QuantileRegression),
}

/// `sample` as an estimator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleQuantile {}

/// `unbiased` as an estimator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnbiasedQuantile {}

/// `regression` as an estimator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuantileRegression {
    /// Length of a step for a share of 1 that is missing, in units of the score.
    pub learning_rate: f64,
    /// Steps of an update, each with draws of its own.
    #[serde(default = "one_step")]
    pub steps: u32,
}

fn one_step() -> u32 {
    1
}

/// More steps of an update are taken for a slip: their draws would not fit in memory.
const MOST_STEPS: u32 = 10_000;

impl Default for QuantileEstimator {
    fn default() -> Self {
        Self::Sample(SampleQuantile {})
    }
}

/// The scores of a user's list.
pub struct UserScores<'a> {
    /// The train items', then the draws'; for `regression` the draws' of all steps; those of all items where these take their place.
    pub scores: &'a mut [f32],
    /// Draws of a step of `regression`; `None` where all items are looked at.
    pub draws: Option<usize>,
    /// Train items.
    pub positives: usize,
    /// Items of the catalogue.
    pub items: usize,
}

impl QuantileEstimator {
    /// Whether the estimator is the one that a trial is named without.
    pub(super) fn is_sample(&self) -> bool {
        matches!(self, Self::Sample(_))
    }

    /// Whether the values can be used.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self::Regression(QuantileRegression { learning_rate, steps }) = *self else { return Ok(()) };
        check_above_zero("learning_rate", learning_rate)?;
        match steps {
            1..=MOST_STEPS => Ok(()),
            _ => Err(format!("steps is {steps}: expected from 1 to {MOST_STEPS}")),
        }
    }

    /// A user's quantile after it was `before`.
    pub fn estimate(self, before: f32, user: UserScores, cutoff: usize) -> f32 {
        match self {
            Self::Regression(regression) => {
                let steps = user.scores.chunks(user.draws.unwrap_or(user.items)).cycle();
                regression.descend(before, steps, cutoff as f64 / user.items as f64)
            }
            Self::Unbiased(_) if user.scores.len() < user.items => unbiased(user, cutoff),
            Self::Sample(_) | Self::Unbiased(_) => kth_largest(user.scores, cutoff),
        }
    }
}

/// The rule of appendix D.2 on the scores of a user's train items and of the draws after them.
fn unbiased(user: UserScores, cutoff: usize) -> f32 {
    let (own, drawn) = user.scores.split_at_mut(user.positives);
    match cutoff.checked_sub(own.len()) {
        None | Some(0) => kth_largest(own, cutoff),
        Some(below) => kth_largest(drawn, (below * drawn.len()).div_ceil(user.items)),
    }
}

impl QuantileRegression {
    /// Steps by the scores of each, for the upper quantile of a share.
    fn descend<'a>(self, before: f32, scores: impl Iterator<Item = &'a [f32]>, share: f64) -> f32 {
        scores.take(self.steps as usize).fold(before, |quantile, scores| {
            let above = scores.iter().filter(|&&score| score >= quantile).count() as f64 / scores.len() as f64;
            quantile - (self.learning_rate * (share - above)) as f32
        })
    }
}

/// The `k`-th largest score, counted from 1, in linear time; the smallest where there are fewer than `k`. Reorders `scores`.
///
/// # Panics
/// When there are no scores or `k` is 0.
pub fn kth_largest(scores: &mut [f32], k: usize) -> f32 {
    let at = k.min(scores.len()) - 1;
    *scores.select_nth_unstable_by(at, |a, b| b.total_cmp(a)).1
}

#[cfg(test)]
mod tests {
    use super::super::testing::EXAMPLE_B;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_kth_largest_is_that_of_a_full_sort(scores in prop::collection::vec(-5f32..5.0, 1..60), k in 1usize..80) {
            let mut sorted = scores.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let expected = sorted.get(k - 1).or(sorted.last()).copied();
            prop_assert_eq!(Some(kth_largest(&mut scores.clone(), k)), expected);
        }
    }

    #[test]
    fn the_third_of_the_worked_list_and_of_its_sample() {
        let all = [0.9, 0.2, 0.5, -0.3, 0.7, 0.1, -0.6, 0.4];
        assert_eq!(kth_largest(&mut all.clone(), 3), 0.5);
        let (positives, drawn) = ([0.9, 0.5, 0.1], [-0.3, 0.7, -0.6]);
        assert_eq!(kth_largest(&mut [positives, drawn].concat(), 3), 0.5);
    }

    const UNBIASED: QuantileEstimator = QuantileEstimator::Unbiased(UnbiasedQuantile {});

    fn estimate(estimator: QuantileEstimator, before: f32, own: &[f64], drawn: &[f64], cutoff: usize) -> f32 {
        let mut scores: Vec<f32> = own.iter().chain(drawn).map(|&score| score as f32).collect();
        let user = UserScores { scores: &mut scores, draws: Some(drawn.len().min(8)), positives: own.len(), items: 8 };
        estimator.estimate(before, user, cutoff)
    }

    /// Items 0, 2 and 5 of the reference's eight are the user's; the second value of a row is NumPy's `quantile(-s, p, method="inverted_cdf")`.
    #[test]
    fn the_unbiased_rule_on_the_worked_list() {
        let own = [0, 2, 5].map(|item: usize| EXAMPLE_B[item]);
        let four = [-0.3, 0.7, -0.6, 0.4];
        for (cutoff, expected) in [(1, 0.9), (2, 0.5), (3, 0.1), (4, 0.7), (5, 0.7), (6, 0.4), (7, 0.4), (8, -0.3)] {
            assert_eq!(estimate(UNBIASED, 0.0, &own, &four, cutoff), expected, "{cutoff}");
        }
    }

    #[test]
    fn of_the_whole_catalogue_it_is_exact() {
        let own = [0, 2, 5].map(|item: usize| EXAMPLE_B[item]);
        let others = [1, 3, 4, 6, 7].map(|item: usize| EXAMPLE_B[item]);
        for estimator in [QuantileEstimator::default(), UNBIASED] {
            assert_eq!(estimate(estimator, 0.0, &own, &others, 3), 0.5);
        }
    }

    /// By hand, for K = 3 of 8: six, then five, then four scores are at least the quantile.
    #[test]
    fn three_steps_of_regression() {
        let at = |before: f32, steps: usize, lists: usize| {
            let regression = QuantileEstimator::Regression(QuantileRegression { learning_rate: 0.4, steps: steps as u32 });
            estimate(regression, before, &[], &EXAMPLE_B.repeat(lists), 3)
        };
        for (steps, expected) in [(1, 0.15), (2, 0.25), (3, 0.3)] {
            assert!((at(0.0, steps, steps) - expected).abs() < 1e-6, "{steps}: {}", at(0.0, steps, steps));
            assert_eq!(at(0.0, steps, steps), at(0.0, steps, 1), "a list of all items serves all steps");
        }
        assert_eq!(at(0.45, 1, 1), 0.45, "three of eight are above");
    }

    #[test]
    fn values_that_are_none_are_named() {
        let message =
            |learning_rate, steps| QuantileEstimator::Regression(QuantileRegression { learning_rate, steps }).check().unwrap_err();
        assert!(message(0.0, 1).starts_with("learning_rate is 0:"));
        assert!(message(0.1, 0).starts_with("steps is 0:"));
    }

    proptest! {
        /// A step of regression is one down the gradient of equation D.4, by central differences where no score is near.
        #[test]
        fn regression_descends_the_loss_of_the_paper(scores in prop::collection::vec(-1.0f64..1.0, 8), before in -1.0f64..1.0, cutoff in 1usize..8) {
            prop_assume!(scores.iter().all(|score| (score - before).abs() > 1e-3));
            let share = cutoff as f64 / 8.0;
            let loss = |quantile: f64| {
                let of = |score: &f64| (1.0 - share) * (score - quantile).max(0.0) + share * (quantile - score).max(0.0);
                scores.iter().map(of).sum::<f64>() / 8.0
            };
            let slope = (loss(before + 1e-4) - loss(before - 1e-4)) / 2e-4;
            let regression = QuantileEstimator::Regression(QuantileRegression { learning_rate: 0.5, steps: 1 });
            let after = f64::from(estimate(regression, before as f32, &[], &scores, cutoff));
            prop_assert!((after - (before - 0.5 * slope)).abs() < 1e-6, "{after} {before} {slope}");
        }
    }
}

//! How well a top-K quantile of scores is estimated from a sample.
//!
//! ```text
//! P(|estimate - quantile| > e) <= 4 exp(-2 N d^2)     d = min(F(quantile + e) - p, p - F(quantile - e)), p = 1 - K / n
//! ```
//! for N independent draws from the scores of n items, F being their distribution. The inequality of Dvoretzky, Kiefer and Wolfowitz with
//! Massart's one-sided constant gives half of it. As d is at most 1 - p = K / n, the bound says nothing unless N is of the order of
//! (n / K)^2. It is no statement on the union of a user's positives and N negatives, which softmax-at-k uses: that is no sample of F.
//!
//! Yang et al., "Breaking the Top-K Barrier", KDD 2025, arXiv:2508.05673, Theorem 3.2.

use crate::normal::{normal, share_below};
use std::f64::consts::LN_2;

/// The paper's bound on the probability of an error beyond the distance that `delta` stands for.
pub fn two_sided(samples: f64, delta: f64) -> f64 {
    4.0 * (-2.0 * samples * delta * delta).exp()
}

/// The bound of [`two_sided`] with the one-sided constant on each side.
pub fn one_sided(samples: f64, delta: f64) -> f64 {
    two_sided(samples, delta) / 2.0
}

/// The largest `delta` that any scores of so many items can have at this cutoff, and so the least that the bounds can be.
pub fn largest_delta(items: u64, cutoff: u64) -> f64 {
    cutoff as f64 / items as f64
}

/// Samples below which [`two_sided`] is at least 1 at the largest delta: `ln 4 / (2 (K / n)^2)`.
pub fn samples_to_say_anything(items: u64, cutoff: u64) -> f64 {
    LN_2 / largest_delta(items, cutoff).powi(2)
}

/// The top-K quantile of scores that are standard normal, and the `delta` of an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalScores {
    /// The score that K of n items exceed on average.
    pub quantile: f64,
    /// The `delta` of the error that was asked for.
    pub delta: f64,
}

impl NormalScores {
    /// Finds the quantile that K of n items are above, and the `delta` of an error.
    pub fn new(items: u64, cutoff: u64, error: f64) -> Self {
        let p = 1.0 - cutoff as f64 / items as f64;
        let quantile = normal(p);
        Self { quantile, delta: (share_below(quantile + error) - p).min(p - share_below(quantile - error)) }
    }
}

/// Which of `samples` independent draws, counted from the largest, is the lower (1 - K / n)-quantile of theirs: `floor(N K / n) + 1`.
pub fn place_in_sample(samples: u64, items: u64, cutoff: u64) -> u64 {
    let place = u128::from(samples) * u128::from(cutoff) / u128::from(items);
    (place as u64 + 1).min(samples)
}

/// Errors of some estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Estimates.
    pub count: u64,
    /// Mean of estimate less quantile.
    pub mean: f64,
    /// Standard deviation of estimate less quantile.
    pub deviation: f64,
    /// Share of exact ones.
    pub exact: f64,
    /// Share of those above the quantile.
    pub above: f64,
    /// Share of those further away than the error that was asked for.
    pub beyond: f64,
}

/// Sums up errors, estimate less quantile; none of no estimates.
pub fn errors(errors: &[f64], beyond: f64) -> Option<Errors> {
    let count = errors.len() as f64;
    if errors.is_empty() {
        return None;
    }
    let mean = errors.iter().sum::<f64>() / count;
    let share = |is: &dyn Fn(f64) -> bool| errors.iter().filter(|&&error| is(error)).count() as f64 / count;
    Some(Errors {
        count: errors.len() as u64,
        mean,
        deviation: (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / count).sqrt(),
        exact: share(&|error| error == 0.0),
        above: share(&|error| error > 0.0),
        beyond: share(&|error| error.abs() > beyond),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_near;
    use proptest::prelude::*;

    #[test]
    fn bounds_of_the_reference() {
        assert_near(two_sided(1_000.0, 0.05), 0.026_951_79, 1e-8);
        assert_near(one_sided(1_000.0, 0.05), 0.013_475_89, 1e-8);
        assert_near(two_sided(1_000.0, 0.02), 1.797_315_86, 1e-8);
        assert_near(two_sided(200.0, 0.05), 1.471_517_76, 1e-8);
    }

    #[test]
    fn top_20_of_8360_normal_scores() {
        let case = NormalScores::new(8_360, 20, 0.2);
        assert_near(case.quantile, 2.821_183_07, 1e-8);
        assert_near(case.delta, 0.001_133_4, 1e-8);
        assert_near(two_sided(1_000.0, case.delta), 3.99, 0.005);
    }

    #[test]
    fn nothing_is_said_below_so_many_samples() {
        let samples = samples_to_say_anything(8_360, 20);
        assert_near(two_sided(samples, largest_delta(8_360, 20)), 1.0, 1e-12);
        assert_near(samples, 121_109.447_8, 1e-3);
    }

    proptest! {
        #[test]
        fn no_error_has_a_larger_delta(items in 2u64..100_000, share in 0.0..1.0, error in 0.0..5.0) {
            let cutoff = 1 + (share * (items - 2) as f64) as u64;
            prop_assert!(NormalScores::new(items, cutoff, error).delta <= largest_delta(items, cutoff) + 1e-12);
        }

        /// The lower quantile: the least draw of which at least a share 1 - K / n is not above.
        #[test]
        fn the_place_is_that_of_the_lower_quantile(samples in 1u64..300, items in 1u64..300, share in 0.0..1.0) {
            let cutoff = 1 + (share * (items - 1) as f64) as u64;
            // Draw x of 1, 2, ..., N has x draws at or below it: x n >= N (n - K).
            let lower = (1..=samples).find(|draw| draw * items >= samples * (items - cutoff)).unwrap();
            prop_assert_eq!(samples + 1 - place_in_sample(samples, items, cutoff), lower);
        }
    }

    #[test]
    fn errors_are_summed_up() {
        let found = errors(&[0.0, -1.0, 0.5, 0.0], 0.5).unwrap();
        assert_eq!((found.count, found.exact, found.above, found.beyond), (4, 0.5, 0.25, 0.25));
        assert_near(found.mean, -0.125, 1e-15);
        assert_near(found.deviation, 0.544_862_4, 1e-7);
        assert_eq!(errors(&[], 0.5), None);
    }
}

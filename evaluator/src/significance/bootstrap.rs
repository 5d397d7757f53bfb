//! The bootstrap: how the mean difference would vary over other users.
//!
//! Each resample draws as many users as there are, with replacement; a method's mean is taken over the drawn users, all methods over the
//! same ones. The interval runs between the percentiles of the resampled mean differences (linear between order statistics). A resample's
//! draws depend on (seed, resample) alone.

use super::{Interval, stream::stream};
use rand::Rng;
use rayon::prelude::*;

/// Percentile intervals of the mean difference of pairs of methods, at the given level. `methods` hold one value per user each, the same
/// users in the same order. One user has no spread: its interval is the difference itself.
pub fn bootstrap(methods: &[&[f64]], pairs: &[(usize, usize)], level: f64, resamples: u32, seed: u64) -> Vec<Interval> {
    let means: Vec<Vec<f64>> = (0..resamples).into_par_iter().map(|resample| resampled_means(methods, seed, resample)).collect();
    let interval = |&(a, b): &(usize, usize)| {
        let mut differences: Vec<f64> = means.iter().map(|means| means[a] - means[b]).collect();
        differences.sort_unstable_by(f64::total_cmp);
        Interval { low: percentile(&differences, (1.0 - level) / 2.0), high: percentile(&differences, (1.0 + level) / 2.0) }
    };
    pairs.par_iter().map(interval).collect()
}

/// Every method's mean over the users of one resample.
fn resampled_means(methods: &[&[f64]], seed: u64, resample: u32) -> Vec<f64> {
    let users = methods.first().map_or(0, |values| values.len());
    let counts = draw(users, seed, resample);
    methods.iter().map(|values| weighted_sum(&counts, values) / users.max(1) as f64).collect()
}

/// How often each user is drawn. An index is a 32-bit number scaled to the number of users, two from each word: no user's probability is off
/// by more than 2^-32.
fn draw(users: usize, seed: u64, resample: u32) -> Vec<i32> {
    let mut stream = stream(seed, resample);
    let mut counts = vec![0; users];
    let index = |word: u64| (((word & 0xffff_ffff) * users as u64) >> 32) as usize;
    for _ in 0..users / 2 {
        let word = stream.next_u64();
        counts[index(word)] += 1;
        counts[index(word >> 32)] += 1;
    }
    if users % 2 == 1 {
        counts[index(stream.next_u64())] += 1;
    }
    counts
}

/// `sum counts * values`, in eight sums side by side.
fn weighted_sum(counts: &[i32], values: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (counts, values) = (counts.chunks(8), values.chunks(8));
    for (counts, values) in counts.zip(values) {
        for ((sum, &count), value) in sums.iter_mut().zip(counts).zip(values) {
            *sum += f64::from(count) * value;
        }
    }
    sums.iter().sum()
}

/// The value below which a share of the sorted values lies, linear between neighbours. NaN without values.
pub(super) fn percentile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let below = place as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::{
        interval,
        tests::{A, B, differences, in_threads, users},
    };

    /// The reference gives (.011, .046), rounded.
    #[test]
    fn worked_example() {
        let interval = bootstrap(&[&A, &B], &[(0, 1)], 0.95, 10_000, 1)[0];
        assert!((interval.low - 0.011).abs() < 0.001 && (interval.high - 0.046).abs() < 0.001, "{interval:?}");
    }

    #[test]
    fn many_users_agree_with_the_t_interval() {
        let (a, b) = (users(1000, 1), users(1000, 2));
        let t = interval(&a.iter().zip(&b).map(|(a, b)| a - b).collect::<Vec<_>>(), 0.9);
        let ours = bootstrap(&[&a, &b], &[(0, 1)], 0.9, 10_000, 1)[0];
        let width = t.high - t.low;
        assert!((ours.low - t.low).abs() < 0.03 * width && (ours.high - t.high).abs() < 0.03 * width, "{ours:?} {t:?}");
    }

    #[test]
    fn draws_as_many_users_as_there_are() {
        for users in [0, 1, 2, 7, 100] {
            assert_eq!(draw(users, 1, 3).iter().sum::<i32>(), users as i32);
        }
    }

    /// `numpy.percentile([1, 2, 4, 8], [2.5, 50, 97.5])`
    #[test]
    fn percentiles_are_linear() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert!((percentile(&sorted, 0.025) - 1.075).abs() < 1e-12);
        assert!((percentile(&sorted, 0.5) - 3.0).abs() < 1e-12);
        assert!((percentile(&sorted, 0.975) - 7.7).abs() < 1e-12);
    }

    #[test]
    fn sums_are_weighted() {
        assert_eq!(weighted_sum(&[1, 0, 2, 0, 0, 0, 0, 0, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]), 34.0);
    }

    #[test]
    fn threads_and_other_methods_change_nothing() {
        let run = || bootstrap(&[&A, &B, &differences().values], &[(0, 1), (0, 2)], 0.95, 500, 1);
        let one = in_threads(1, run);
        assert_eq!(one, in_threads(2, run));
        assert_eq!(one[0], bootstrap(&[&A, &B], &[(0, 1)], 0.95, 500, 1)[0]);
    }
}

//! How much memory the tests of a dataset's methods take.

use super::Significance;

/// Bytes of a row of comparisons, its texts included.
const ROW: u64 = 512;
/// Bytes of a resample's counts of one user, of all resamples that are made at a time by two threads.
const COUNTS: u64 = 2 * 2 * 64 * 4;

/// Bytes at the most of the values of all trials and of their tests, which are done metric by metric: the values by user, those of one metric as
/// they are resampled, each method's mean over its trials, the resampled means, and the comparisons.
pub fn tests_memory(significance: &Significance, metrics: usize, users: usize, methods: usize, trials: usize) -> u64 {
    let (metrics, users, methods, trials) = (metrics as u64, users as u64, methods as u64, trials as u64);
    let comparisons = significance.family.adjusted_for(methods as usize) as u64 * significance.tests.len() as u64 * metrics;
    let values = users * trials * metrics * 8;
    let resampled = users * trials.next_multiple_of(48) * 4 + u64::from(significance.bootstrap_resamples) * (trials * 4 + methods * 20);
    values + resampled + users * (methods * 8 + COUNTS) + comparisons * ROW
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 480 MB of values, 63.36 MB and 40 MB resampled, 24 MB of means, 30.72 MB of counts, 39,600 rows. Measured: 667 MiB
    /// (`benches/examples/many_methods.rs`).
    #[test]
    fn a_hundred_methods_of_five_seeds() {
        let bytes = tests_memory(&Significance::default(), 4, 30_000, 100, 500);
        assert_eq!(bytes, 480_000_000 + 63_360_000 + 40_000_000 + 24_000_000 + 30_720_000 + 20_275_200);
    }
}

//! Whether a difference between methods is real: tests over users, intervals, effect sizes, corrections, letters.
//!
//! All methods of a dataset are evaluated on the same users, so tests are paired by user; the unpaired Mann-Whitney test is there because
//! papers use it. A user's value is the mean over the method's seeds. The tests condition on the trained models: they say whether the
//! difference would hold for other users, not for other seeds.
//!
//! | test | statistic | effect size | interval of the difference |
//! |---|---|---|---|
//! | [`paired_t`] | t | Cohen's d_z with Hedges' correction | Student's t |
//! | [`wilcoxon`] | the smaller signed-rank sum | matched rank-biserial correlation | bootstrap percentiles |
//! | [`randomization`] | mean difference | Cohen's d_z with Hedges' correction | bootstrap percentiles |
//! | [`mann_whitney`] | U of the first method | Cliff's delta | bootstrap percentiles |
//!
//! Every test is two-sided, and an effect is positive where the first method is better. Intervals are of the mean difference over users,
//! at the level `1 - alpha`, and are not adjusted for the number of comparisons.

pub mod bootstrap;
mod compare;
mod correction;
pub mod datasets;
mod differences;
mod effect_size;
mod interval;
mod letters;
pub mod mann_whitney;
pub mod paired_t;
pub mod randomization;
mod ranks;
mod stream;
mod trials;
pub mod wilcoxon;

pub use compare::{Comparison, MethodValues, compare_methods};
pub use correction::adjust;
pub use differences::Differences;
pub use interval::{Interval, interval};
pub use letters::letters;
pub use trials::compare;

/// What a test says of a pair of methods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The test's own statistic.
    pub statistic: f64,
    /// Two-sided.
    pub p_value: f64,
    /// The size of the difference in the test's own terms; positive where the first method is better.
    pub effect_size: f64,
}

#[cfg(test)]
mod tests {
    use super::Differences;
    use rand::{Rng, SeedableRng};
    use rand_xoshiro::SplitMix64;

    /// The worked example of all tests: ten users under two methods.
    pub(crate) const A: [f64; 10] = [0.31, 0.42, 0.18, 0.55, 0.27, 0.39, 0.48, 0.22, 0.60, 0.35];
    pub(crate) const B: [f64; 10] = [0.28, 0.40, 0.19, 0.49, 0.25, 0.33, 0.47, 0.20, 0.52, 0.36];

    pub(crate) fn differences() -> Differences {
        Differences::new(&A, &B)
    }

    /// Values in [0, 1) for so many users.
    pub(crate) fn users(users: usize, seed: u64) -> Vec<f64> {
        let mut words = SplitMix64::seed_from_u64(seed);
        (0..users).map(|_| (words.next_u64() >> 11) as f64 / (1u64 << 53) as f64).collect()
    }

    pub(crate) fn in_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
    }
}

//! Whether a difference between methods is real: tests over users and seeds, intervals, corrections, verdicts.
//!
//! A method is its distribution over trainings: what is compared are the means that new users and new seeds would give. All methods of a
//! dataset are evaluated on the same users, so tests are paired by user; the unpaired Mann-Whitney test is there because papers use it.
//! [`compare`](crate::findings::compare) goes from the values of trials ([`MethodValues`]) over the variance of their replicates ([`Spreads`]) to comparisons and
//! verdicts.
//!
//! | test | over | statistic | effect size | interval of the difference |
//! |---|---|---|---|---|
//! | t ([`Crossed`]) | users and seeds | t | Cohen's d_z with Hedges' correction | by the variance of what is counted |
//! | [`bootstrap`] | users and seeds | mean difference | Cohen's d_z with Hedges' correction | bootstrap |
//! | [`wilcoxon`] | users | the smaller signed-rank sum | matched rank-biserial correlation | |
//! | [`randomization`] | users | mean difference | Cohen's d_z with Hedges' correction | |
//! | [`mann_whitney`] | users | U of the first method | Cliff's delta | |
//!
//! [`judge`] tests claims of methods, by [`Contrast`]; [`PrintedMean`] sets a mean beside a paper's number.
//!
//! Every test is two-sided, and an effect is positive where the first method has the higher values. Intervals are adjusted as p-values are, so that none
//! contradicts the verdict beside it.

mod behrens_fisher;
pub mod bootstrap;
pub(crate) mod compare;
mod comparison;
mod contrast;
mod convergence;
mod correction;
mod crossed;
pub mod datasets;
pub(crate) mod differences;
mod effect_size;
mod expected_best;
mod family;
mod interval;
mod joint;
mod kind;
mod letters;
pub mod mann_whitney;
mod margin;
mod memory;
pub(crate) mod method;
mod moderation;
mod paired_t;
mod pairs;
pub mod power;
mod printed;
pub mod randomization;
mod ranks;
mod resample;
mod settings;
mod simultaneous;
mod spread;
mod stream;
mod students_t;
mod verdict;
pub mod wilcoxon;

pub use comparison::{Comparison, MethodComponents};
pub use contrast::{Contrast, Estimate, Judged, judge};
pub use convergence::{Course, MethodCourses, SHARE_OF_BEST, convergence};
pub use correction::{Correction, adjust};
pub use crossed::Crossed;
pub use differences::Differences;
pub use expected_best::{ExpectedBest, expected_best};
pub use family::Family;
pub use interval::{Interval, interval};
pub use letters::letters;
pub use margin::Margin;
pub use memory::tests_memory;
pub use method::{MethodValues, Replication};
pub use moderation::Prior;
pub use printed::{Agreement, BesidePrinted, PrintedMean};
pub use settings::{Over, Significance};
pub use spread::{MethodSpread, Spread, Spreads, VarianceOfMean, over_users};
pub use verdict::Verdict;

use kind::{TestKind, tests};
use serde::{Deserialize, Serialize};

tests! {
    /// Student's t on the differences, paired by user, with the variance of what `over` names.
    PairedT in paired_t,
    /// The bootstrap of the mean difference: users and seeds are resampled independently.
    Bootstrap in bootstrap,
    /// Wilcoxon's signed ranks, over users.
    Wilcoxon in wilcoxon,
    /// Random sign flips of the differences, over users.
    Randomization in randomization,
    /// Mann-Whitney's U, over users, unpaired, as paper 000 used it.
    MannWhitney in mann_whitney,
}

impl Test {
    /// The name in sweep files and tables.
    pub fn name(self) -> &'static str {
        self.kind().name()
    }

    /// What readers call it, by the sources of variance that it has counted.
    pub fn words(self, counted: Over) -> &'static str {
        self.kind().words(counted)
    }

    /// Whether the test is of the mean difference and can count seeds; the others are over users alone.
    pub fn counts_seeds(self) -> bool {
        self.kind().counts_seeds()
    }

    /// The seeds from which on the test should decide: with fewer it may call methods different that are alike more often than its level says.
    pub fn fewest_seeds(self) -> usize {
        self.kind().fewest_seeds()
    }

    /// The users from which on the test should decide, where with fewer it calls methods different that are alike more often than its level says.
    pub fn fewest_users(self) -> Option<usize> {
        self.kind().fewest_users()
    }

    /// Whether the test looks at the differences of the same user or seed; the others compare two samples.
    pub fn is_paired(self) -> bool {
        self.kind().is_paired()
    }

    /// Whether the test can tell by the seeds alone, of values that have no users.
    pub(crate) fn tells_by_seeds_alone(self) -> bool {
        self.kind().tells_by_seeds_alone()
    }
}

/// What a test says of a pair of methods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The test's own statistic.
    pub statistic: f64,
    /// The two-sided p-value.
    pub p_value: f64,
    /// The size of the difference in the test's own terms; positive where the first method has the higher values.
    pub effect_size: f64,
}

#[cfg(test)]
pub(crate) mod tests {
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

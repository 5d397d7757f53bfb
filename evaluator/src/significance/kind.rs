//! What a test of two methods is to the comparisons of a dataset. Each test says it in its own file.

use super::{Correction, Interval, Tested, compare::Compared, correction::adjust_pairs, power::Needed, resample::Resampled};
use crate::significance::{Over, Significance};

/// A test of the difference between two methods.
pub(crate) trait TestKind: Sync {
    /// The name in sweep files and tables.
    fn name(&self) -> &'static str;

    /// What readers call it, by the sources of variance that it has counted.
    fn words(&self, counted: Over) -> &'static str;

    /// Whether it is of the mean difference and can count seeds; the others are over users alone.
    fn counts_seeds(&self) -> bool {
        false
    }

    /// The seeds from which on it should decide: with fewer it may call methods different that are alike more often than its level says.
    fn fewest_seeds(&self) -> usize {
        2
    }

    /// The users from which on it should decide, where with fewer it calls methods different that are alike more often than its level says.
    fn fewest_users(&self) -> Option<usize> {
        None
    }

    /// Whether it looks at the differences of the same user or seed; the others compare two samples.
    fn is_paired(&self) -> bool {
        true
    }

    /// Whether it can tell by the seeds alone, of values that have no users.
    fn tells_by_seeds_alone(&self) -> bool {
        self.counts_seeds()
    }

    /// Whether it looks at resampled means, where p-values and intervals are adjusted by a joint distribution or not.
    fn resamples(&self, _is_joint: bool) -> bool {
        false
    }

    /// The key of the resamples that its p-values are no finer than one in, and their number; `None` where it does not count resamples.
    fn finest_p_value(&self, _settings: &Significance) -> Option<(&'static str, u32)> {
        None
    }

    /// What it finds of each pair.
    fn found(&self, compared: &Compared, resampled: Option<&Resampled>) -> Found;
}

/// What a test finds of every pair, before the verdicts.
pub(crate) struct Found {
    pub(super) tested: Vec<Tested>,
    pub(super) p_adjusted: Vec<f64>,
    pub(super) correction: Correction,
    /// What a test of the mean finds of each difference; `None` for other tests.
    pub(super) mean: Option<Vec<OfMean>>,
}

/// What a test of the mean says of a pair.
#[derive(Clone, Copy)]
pub(super) struct OfMean {
    /// The interval, adjusted as the p-values are.
    pub(super) interval: Interval,
    pub(super) standard_error: f64,
    /// What is counted of the pair.
    pub(super) counted: Over,
    pub(super) p_equivalence: Option<f64>,
    pub(super) needed: Needed,
}

impl Found {
    /// What a test over users finds, which has no joint resampling: its p-values are adjusted without one, those against the best among all pairs.
    pub(super) fn over_users(compared: &Compared, tested: Vec<Tested>) -> Self {
        let correction = compared.settings.correction.without_resamples();
        let p_values: Vec<f64> = tested.iter().map(|tested| tested.p_value).collect();
        let pairs: Vec<usize> = (0..p_values.len()).collect();
        let p_adjusted = adjust_pairs(correction, &pairs, &compared.kinds, &p_values, compared.settings.alpha).p_values;
        Self { tested, p_adjusted, correction, mean: None }
    }
}

/// Makes the enum of all tests. A line is a test: its words, and its name in kebab-case, which is that of sweep files, and its file.
macro_rules! tests {
    ($($(#[$words:meta])* $test:ident in $file:ident,)+) => {
        /// A test of the difference between two methods.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Test {
            $($(#[$words])* $test,)+
        }

        impl Test {
            /// All tests.
            pub const ALL: [Self; [$(Self::$test),+].len()] = [$(Self::$test),+];

            pub(crate) fn kind(self) -> &'static dyn TestKind {
                match self {
                    $(Self::$test => &$file::$test,)+
                }
            }
        }
    };
}

pub(super) use tests;

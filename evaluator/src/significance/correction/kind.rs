//! What a correction says of itself.

use super::Correction;

/// A correction for the number of comparisons in a family.
pub(super) trait CorrectionKind: Sync {
    /// The name in sweep files and tables.
    fn name(&self) -> &'static str;

    /// What is done, in words: `adjusted after Holm`.
    fn words(&self) -> &'static str;

    /// Adjusted p-values, in the order given.
    fn adjust(&self, p_values: &[f64]) -> Vec<f64>;

    /// The level of each interval of so many comparisons, of which so many are significant, at least one.
    fn level(&self, alpha: f64, comparisons: usize, significant: usize) -> f64;

    /// By how much the smallest of so many p-values is multiplied.
    fn multiplies(&self, _comparisons: usize) -> usize {
        1
    }

    /// Whether tests that resample all comparisons together are adjusted by their joint distribution.
    fn is_joint(&self) -> bool {
        false
    }

    /// What other tests are adjusted by; `own` is this correction.
    fn without_resamples(&self, own: Correction) -> Correction {
        own
    }
}

/// Makes the enum of all corrections. A line is a correction: its words, and its name in kebab-case, which is that of sweep files, and its file.
macro_rules! corrections {
    ($($(#[$words:meta])* $correction:ident in $file:ident,)+) => {
        /// Adjustment for many comparisons.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Correction {
            $($(#[$words])* $correction,)+
        }

        impl Correction {
            /// All corrections.
            pub const ALL: [Self; [$(Self::$correction),+].len()] = [$(Self::$correction),+];

            fn kind(self) -> &'static dyn CorrectionKind {
                match self {
                    $(Self::$correction => &$file::$correction,)+
                }
            }
        }
    };
}

pub(super) use corrections;

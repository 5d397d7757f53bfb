//! The `significance` block: which differences are called real.

use super::{Correction, Family, Margin, Test};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Tests between methods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Significance {
    /// The tests to run; the first decides verdicts and letters.
    pub tests: Vec<Test>,
    /// What a verdict should hold for: other users, other seeds, or both.
    pub over: Over,
    /// Which pairs of methods are compared.
    pub family: Family,
    /// How p-values and intervals are adjusted for the number of comparisons in a (dataset, metric, cutoff) family.
    pub correction: Correction,
    /// The level below which an adjusted p-value is called significant.
    pub alpha: f64,
    /// Differences within it do not matter: where an interval lies inside, methods are equivalent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<Margin>,
    /// Random signs of the randomization test; p-values are no finer than one in so many.
    pub resamples: u32,
    /// Resamples of the bootstrap and of the joint distribution behind `romano-wolf`; their p-values are no finer than one in so many.
    pub bootstrap_resamples: u32,
    /// Seed of the resamples.
    pub seed: u64,
}

/// Which sources of variance a test counts: what its verdict should hold for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Other users and other trainings of the same methods.
    UsersAndSeeds,
    /// Other users, of these very trained models.
    Users,
    /// Other trainings of the same methods, for these very users.
    Seeds,
}

/// With fewer resamples, no p-value falls below the usual levels after correction.
const FEWEST_RESAMPLES: u32 = 1000;

impl Over {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::UsersAndSeeds, Self::Users, Self::Seeds];

    /// The name in sweep files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::UsersAndSeeds => "users-and-seeds",
            Self::Users => "users",
            Self::Seeds => "seeds",
        }
    }
}

impl Significance {
    /// Refuses numbers out of range and settings that contradict each other, with the key at fault.
    ///
    /// # Errors
    /// [`Error::Setting`] with the key, its value and what was expected.
    pub fn validate(&self) -> Result<()> {
        let refuse = |key, value: String, expected| Err(Error::Setting { key, value, expected });
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return refuse("alpha", self.alpha.to_string(), "a number between 0 and 1, such as 0.05");
        }
        if self.resamples < FEWEST_RESAMPLES {
            return refuse("resamples", self.resamples.to_string(), "1000 or more, such as 100000");
        }
        if self.bootstrap_resamples < FEWEST_RESAMPLES {
            return refuse("bootstrap_resamples", self.bootstrap_resamples.to_string(), "1000 or more, such as 10000");
        }
        self.consistent()
    }

    fn consistent(&self) -> Result<()> {
        let refuse = |key, value: &str, expected| Err(Error::Setting { key, value: value.to_owned(), expected });
        let deciding = self.tests.first().copied().filter(|test| !test.counts_seeds());
        match deciding {
            Some(test) if self.over != Over::Users => {
                let expected = "paired-t or bootstrap first, as the others are over users alone; or `over: users`";
                return refuse("tests", &format!("{} first, with `over: {}`", test.name(), self.over.name()), expected);
            }
            Some(test) if self.margin.is_some() => {
                return refuse(
                    "margin",
                    &format!("set, and {} decides", test.name()),
                    "paired-t or bootstrap first in `tests`, which have intervals of the mean",
                );
            }
            _ => {}
        }
        if self.family == Family::AgainstBest && !self.correction.is_joint() {
            return refuse(
                "correction",
                self.correction.name(),
                "romano-wolf with `family: against-best`, as the best is found in the same data",
            );
        }
        Ok(())
    }

    /// The resamples that a family of so many comparisons needs before any of them can be significant, and the key that sets them; `None` where
    /// those asked for suffice.
    pub fn resamples_needed(&self, comparisons: usize) -> Option<(&'static str, u64)> {
        let is_joint = |test: &Test| self.correction.is_joint() && test.counts_seeds() && comparisons > 1;
        let multiplied = |test: &Test| if is_joint(test) { 1 } else { self.correction.multiplies(comparisons) };
        // 1 / (resamples + 1), times the number of comparisons where it is multiplied, has to fall below alpha.
        let needed = |test: &Test| (multiplied(test) as f64 / self.alpha).ceil() as u64;
        let finest = |test: &Test| match is_joint(test) {
            true => Some(("bootstrap_resamples", self.bootstrap_resamples)),
            false => test.kind().finest_p_value(self),
        };
        let resampled = self.tests.iter().filter_map(|test| Some((finest(test)?, needed(test))));
        resampled.filter(|((_, resamples), needed)| u64::from(*resamples) < *needed).map(|((key, _), needed)| (key, needed)).next()
    }
}

impl Default for Significance {
    fn default() -> Self {
        Self {
            tests: vec![Test::PairedT, Test::Bootstrap],
            over: Over::UsersAndSeeds,
            family: Family::AllPairs,
            correction: Correction::RomanoWolf,
            alpha: 0.05,
            margin: None,
            resamples: 100_000,
            bootstrap_resamples: 10_000,
            seed: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(significance: &Significance) -> String {
        significance.validate().unwrap_err().to_string()
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let default = Significance::default();
        assert!(default.validate().is_ok());
        let alpha = Significance { alpha: 1.5, ..default.clone() };
        assert_eq!(message(&alpha), "`alpha` is 1.5: expected a number between 0 and 1, such as 0.05");
        let resamples = Significance { resamples: 999, ..default.clone() };
        assert_eq!(message(&resamples), "`resamples` is 999: expected 1000 or more, such as 100000");
        let resamples = Significance { bootstrap_resamples: 0, ..default };
        assert_eq!(message(&resamples), "`bootstrap_resamples` is 0: expected 1000 or more, such as 10000");
    }

    #[test]
    fn a_test_over_users_does_not_decide_over_seeds() {
        let ranks = Significance { tests: vec![Test::Wilcoxon, Test::PairedT], ..Significance::default() };
        assert!(
            message(&ranks).starts_with("`tests` is wilcoxon first, with `over: users-and-seeds`: expected paired-t or bootstrap first")
        );
        let users = Significance { over: Over::Users, ..ranks };
        assert!(users.validate().is_ok());
        let margin = Significance { margin: Some(Margin::Relative(0.01)), ..users };
        assert!(message(&margin).starts_with("`margin` is set, and wilcoxon decides"));
        let best = Significance { family: Family::AgainstBest, correction: Correction::Holm, ..Significance::default() };
        assert!(message(&best).starts_with("`correction` is holm: expected romano-wolf"));
    }

    /// 101 methods have 5,050 pairs: with 100,000 signs the smallest p-value is 1e-5, and 5,050 times that is above 0.05.
    #[test]
    fn resamples_that_cannot_decide_a_family_are_found() {
        let holm = |tests: &[Test]| Significance { tests: tests.to_vec(), correction: Correction::Holm, ..Significance::default() };
        assert_eq!(holm(&[Test::PairedT, Test::Randomization]).resamples_needed(5_050), Some(("resamples", 101_000)));
        assert_eq!(holm(&[Test::PairedT, Test::Randomization]).resamples_needed(5_000), None);
        assert_eq!(holm(&[Test::Bootstrap]).resamples_needed(501), Some(("bootstrap_resamples", 10_020)));
        assert_eq!(holm(&[Test::PairedT]).resamples_needed(5_050), None);
        let joint = Significance { correction: Correction::RomanoWolf, ..holm(&[Test::Bootstrap, Test::Randomization]) };
        assert_eq!(joint.resamples_needed(5_000), None);
        assert_eq!(joint.resamples_needed(5_050), Some(("resamples", 101_000)));
    }

    /// 1,000 resamples leave 1 / 1,001, which is above 0.0005; Student's t of one pair is not resampled.
    #[test]
    fn a_level_below_what_resamples_reach_is_found() {
        let fine = |test: Test, correction: Correction| Significance {
            tests: vec![test],
            correction,
            alpha: 0.0005,
            bootstrap_resamples: 1_000,
            ..Significance::default()
        };
        let needed = Some(("bootstrap_resamples", 2_000));
        for correction in [Correction::None, Correction::BenjaminiHochberg, Correction::RomanoWolf] {
            assert_eq!(fine(Test::Bootstrap, correction).resamples_needed(3), needed);
        }
        assert_eq!(fine(Test::PairedT, Correction::RomanoWolf).resamples_needed(3), needed);
        assert_eq!(fine(Test::PairedT, Correction::RomanoWolf).resamples_needed(1), None);
        assert_eq!(fine(Test::PairedT, Correction::None).resamples_needed(3), None);
    }

    #[test]
    fn names_are_those_of_the_sweep_file() {
        for test in Test::ALL {
            assert_eq!(serde_json::to_value(test).unwrap(), test.name());
        }
        for correction in Correction::ALL {
            assert_eq!(serde_json::to_value(correction).unwrap(), correction.name());
        }
        for over in Over::ALL {
            assert_eq!(serde_json::to_value(over).unwrap(), over.name());
        }
    }
}

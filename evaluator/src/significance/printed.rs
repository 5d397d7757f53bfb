//! Whether a method's mean is the number that a paper prints.
//!
//! A printed number is the mean of so many trainings by others, rounded. Were it of the same method, its seeds would spread as ours do:
//!
//! ```text
//! difference = mean - printed
//! on the same test users:   V = s~² (1/n + 1/r) + unit²/12             n seeds of ours, r trainings behind the number
//! on users of another draw: V = V + 2 s²_users / U                     theirs are taken to spread as ours do
//! ```
//! `unit` is that of the last printed digit. Where nothing but rounding lies between the two, a method that fits at once on the same test users, the interval is
//! `difference ± unit/2`, and sure. The difference is judged as that of two methods is: a number is reproduced where its interval
//! lies within the margin (two one-sided tests), contradicted where it is apart from zero and not within, and undecided otherwise. Numbers are
//! judged one by one, each at the level `alpha`.

use super::{Crossed, Interval, MethodSpread, Spread, VarianceOfMean};

/// A number of a paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedMean {
    /// The number.
    pub value: f64,
    /// One unit of the number's last digit: 0.0001 for 0.0527.
    pub unit: f64,
    /// Trainings that it is the mean of.
    pub runs: u32,
    /// Whether the number's test users and their test items are ours.
    pub same_users: bool,
}

/// What is said of a printed number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agreement {
    /// The difference is within the margin.
    Reproduced,
    /// There is a difference, and it is not known to be within the margin.
    Contradicted,
    /// It is not shown that there is a difference, nor that it is within the margin.
    Undecided,
}

impl Agreement {
    /// All agreements.
    pub const ALL: [Self; 3] = [Self::Reproduced, Self::Contradicted, Self::Undecided];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Contradicted => "contradicted",
            Self::Undecided => "undecided",
        }
    }
}

/// A method's mean beside a printed number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BesidePrinted {
    /// The method's mean less the printed number.
    pub difference: f64,
    /// The interval of the difference at the level `1 - alpha`; none where the spread of seeds is not known.
    pub interval: Option<Interval>,
    /// The two-sided p-value that there is no difference; 1 where the spread is not known.
    pub p_value: f64,
    /// The p-value that the difference is not within the margin, by two one-sided tests.
    pub p_equivalence: f64,
    /// What is said.
    pub agreement: Agreement,
}

impl PrintedMean {
    /// Holds a method's mean against the number. `users` is the variance of the mean over users; `margin` is in units of the metric.
    pub fn beside(&self, mean: f64, users: VarianceOfMean, spread: &MethodSpread, margin: f64, alpha: f64) -> BesidePrinted {
        let difference = mean - self.value;
        if spread.source == Spread::Unknown {
            return BesidePrinted { difference, interval: None, p_value: 1.0, p_equivalence: 1.0, agreement: Agreement::Undecided };
        }
        let (interval, p_value, p_equivalence) = if spread.source == Spread::None && self.same_users {
            self.rounded(difference, margin)
        } else {
            let variance = self.variance(users, spread);
            (variance.interval(difference, alpha), variance.p_value(difference), variance.p_equivalence(difference, margin))
        };
        let agreement = match interval {
            Interval { low, high } if low > -margin && high < margin => Agreement::Reproduced,
            _ if p_value < alpha => Agreement::Contradicted,
            _ => Agreement::Undecided,
        };
        BesidePrinted { difference, interval: Some(interval), p_value, p_equivalence, agreement }
    }

    /// The interval of a difference that is rounding or real, and what is sure of it.
    fn rounded(&self, difference: f64, margin: f64) -> (Interval, f64, f64) {
        // Numbers with so many digits are not what they are written as by more than this.
        let half = self.unit / 2.0 + 4.0 * f64::EPSILON * self.value.abs();
        let interval = Interval { low: difference - half, high: difference + half };
        let is_within = interval.low > -margin && interval.high < margin;
        (interval, f64::from(u8::from(difference.abs() <= half)), f64::from(u8::from(!is_within)))
    }

    fn variance(&self, users: VarianceOfMean, spread: &MethodSpread) -> Crossed {
        let rounding = self.unit * self.unit / 12.0;
        let replicates = if spread.source == Spread::None {
            0.0
        } else {
            spread.variance * (1.0 / spread.replicates as f64 + 1.0 / f64::from(self.runs))
        };
        let same =
            Crossed { users: rounding, users_degrees: f64::INFINITY, replicates, replicates_degrees: spread.degrees, interaction: 0.0 };
        if self.same_users {
            return same;
        }
        let interaction = 2.0 * (spread.interaction / spread.replicates as f64).min(users.variance);
        Crossed { users: 2.0 * users.variance + rounding, users_degrees: users.degrees(), interaction, ..same }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPREAD: MethodSpread =
        MethodSpread { replicates: 3, source: Spread::Own, raw: Some(4e-7), variance: 4e-7, degrees: 5.0, interaction: 1e-7, scale: 0.04 };
    const USERS: VarianceOfMean = VarianceOfMean { variance: 1e-6, users: 939 };
    const EXACT: PrintedMean = PrintedMean { value: 0.0527, unit: 0.0, runs: 1, same_users: true };

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    /// SciPy: `2 * t.sf(0.0012 / sqrt(4e-7 * (1/3 + 1)), 5)`, `t.ppf(0.975, 5) * sqrt(4e-7 * (1/3 + 1))`.
    #[test]
    fn on_the_same_users_seeds_alone_are_counted() {
        let found = EXACT.beside(0.0539, USERS, &SPREAD, 0.004, 0.05);
        near(found.p_value, P_VALUE);
        let interval = found.interval.unwrap();
        near(interval.high - 0.0012, HALF);
        near(0.0012 - interval.low, HALF);
        assert_eq!(found.agreement, Agreement::Reproduced);
        assert_eq!(EXACT.beside(0.0539, USERS, &SPREAD, 0.001, 0.05).agreement, Agreement::Undecided);
        assert_eq!(EXACT.beside(0.0599, USERS, &SPREAD, 0.004, 0.05).agreement, Agreement::Contradicted);
    }

    const P_VALUE: f64 = 0.161_269_835_533_73;
    const HALF: f64 = 0.001_877_287_543_054_728_8;

    /// A mean of ten trainings is known better than one of a single training: `sqrt(4e-7 * (1/3 + 1/10))`.
    #[test]
    fn more_trainings_behind_the_number_make_it_surer() {
        let ten = PrintedMean { runs: 10, ..EXACT }.beside(0.0539, USERS, &SPREAD, 0.004, 0.05);
        near(ten.interval.unwrap().high - 0.0012, HALF * (13.0f64 / 40.0).sqrt());
    }

    #[test]
    fn users_of_another_draw_are_counted_twice() {
        let other = PrintedMean { same_users: false, ..EXACT };
        let variance = other.variance(USERS, &SPREAD);
        near(variance.users, 2e-6);
        near(variance.interaction, 2e-7 / 3.0);
        assert!(other.beside(0.0539, USERS, &SPREAD, 0.004, 0.05).p_value > P_VALUE);
    }

    /// A model that fits at once has no seeds: all that is between it and the same number is rounding, by half of the last digit.
    #[test]
    fn without_seeds_rounding_is_all_there_is() {
        let fixed =
            MethodSpread { replicates: 1, source: Spread::None, raw: None, variance: 0.0, degrees: 0.0, interaction: 0.0, scale: 0.04 };
        let printed = PrintedMean { unit: 1e-4, ..EXACT };
        let within = printed.beside(0.05274, USERS, &fixed, 1e-4, 0.05);
        assert_eq!((within.agreement, within.p_value > 0.05), (Agreement::Reproduced, true));
        assert_eq!(printed.beside(0.0530, USERS, &fixed, 1e-4, 0.05).agreement, Agreement::Contradicted);
        assert_eq!(printed.beside(0.0530, USERS, &fixed, 1e-3, 0.05).agreement, Agreement::Reproduced);
        // 0.204898 is rounded to 0.20, and not to 0.21.
        let short = PrintedMean { value: 0.21, unit: 0.01, ..EXACT };
        let other = short.beside(0.204_898, USERS, &fixed, 0.0063, 0.05);
        assert_eq!((other.agreement, other.p_value, other.p_equivalence), (Agreement::Contradicted, 0.0, 1.0));
        let interval = other.interval.unwrap();
        near(interval.low, -0.005_102 - 0.005);
        near(interval.high, -0.005_102 + 0.005);
        assert_eq!(short.beside(0.205, USERS, &fixed, 0.0063, 0.05).p_value, 1.0);
    }

    #[test]
    fn one_seed_beside_no_other_decides_nothing() {
        let unknown = MethodSpread { source: Spread::Unknown, variance: 0.0, degrees: 0.0, ..SPREAD };
        let found = EXACT.beside(0.09, USERS, &unknown, 0.001, 0.05);
        assert_eq!((found.agreement, found.interval, found.p_value), (Agreement::Undecided, None, 1.0));
    }
}

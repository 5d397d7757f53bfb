//! Shares of a whole number, exactly.

use crate::{Error, Result};

/// A decimal ratio as a fraction of integers, so that 0.29 of 100 is 29.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    numerator: u64,
    denominator: u64,
}

impl Ratio {
    /// A share that leaves something. The ratio is as it is written: the shortest decimal that reads back as `value`.
    pub(crate) fn new(key: &'static str, value: f64) -> Result<Self> {
        if !(0.0..1.0).contains(&value) {
            return Err(refused(key, value, "a number of at least 0 and below 1"));
        }
        Self::fraction(key, value)
    }

    /// A share that may be all.
    pub(crate) fn up_to_one(key: &'static str, value: f64) -> Result<Self> {
        match value {
            1.0 => Ok(Self { numerator: 1, denominator: 1 }),
            0.0..1.0 => Self::fraction(key, value),
            _ => Err(refused(key, value, "a number from 0 to 1")),
        }
    }

    fn fraction(key: &'static str, value: f64) -> Result<Self> {
        let text = value.abs().to_string();
        let digits = text.strip_prefix("0.").unwrap_or("0");
        if digits.len() > 18 {
            return Err(refused(key, value, "at most 18 decimals"));
        }
        let denominator = 10u64.pow(digits.len() as u32);
        Ok(Self { numerator: digits.parse().expect("at most 18 digits"), denominator })
    }

    /// The share of `count`, rounded down.
    pub(crate) fn of(self, count: usize) -> usize {
        (count as u128 * u128::from(self.numerator) / u128::from(self.denominator)) as usize
    }

    /// The share of `count`, rounded up.
    pub(crate) fn rounded_up(self, count: usize) -> usize {
        (count as u128 * u128::from(self.numerator)).div_ceil(u128::from(self.denominator)) as usize
    }

    /// Whether this share and another one leave something.
    pub(crate) fn leaves_some_beside(self, other: Self) -> bool {
        let [own, others] = [(self, other), (other, self)].map(|(one, other)| u128::from(one.numerator) * u128::from(other.denominator));
        own + others < u128::from(self.denominator) * u128::from(other.denominator)
    }

    pub(crate) fn is_zero(self) -> bool {
        self.numerator == 0
    }
}

fn refused(key: &'static str, value: f64, expected: &str) -> Error {
    Error::setting(key, format!("{value} is no share (expected {expected})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_decimal() {
        let share = |value: f64, count: usize| Ratio::new("split.test", value).unwrap().of(count);
        assert_eq!((share(0.29, 100), share(0.57, 100), share(0.2, 9), share(0.1, 9), share(0.0, 5)), (29, 57, 1, 0, 0));
        assert_eq!(share(0.7, 10_000_000_000_000_000), 7_000_000_000_000_000);
    }

    /// In floating point 0.07 * 100 is 7.000000000000001, and 3 * 0.1 is 0.30000000000000004.
    #[test]
    fn shares_are_rounded_up_exactly() {
        let share = |value: f64, count: usize| Ratio::up_to_one("noise.ratio", value).unwrap().rounded_up(count);
        assert_eq!([3, 10, 25, 30, 0].map(|count| share(0.1, count)), [1, 1, 3, 3, 0]);
        assert_eq!((share(0.07, 100), share(0.05, 20), share(0.2, 15), share(1.0, 9), share(0.0, 9), share(1e-9, 9)), (7, 1, 3, 9, 0, 1));
    }

    /// In floating point 0.7 + 0.2 + 0.1 is below 1.
    #[test]
    fn two_shares_leave_something_exactly() {
        let leaves = |one: f64, other: f64| Ratio::new("a", one).unwrap().leaves_some_beside(Ratio::new("b", other).unwrap());
        assert!(leaves(0.1, 0.1) && leaves(0.999, 0.0009) && leaves(0.0, 0.0));
        assert!(!leaves(0.9, 0.1) && !leaves(0.25, 0.75) && !leaves(0.999, 0.5));
    }

    #[test]
    fn all_is_no_more_than_one() {
        for value in [1.5, -0.1, f64::NAN, f64::NEG_INFINITY] {
            let message = Ratio::up_to_one("noise.ratio", value).unwrap_err().to_string();
            assert_eq!(message, format!("`noise.ratio`: {value} is no share (expected a number from 0 to 1)"));
        }
        assert!(Ratio::up_to_one("noise.ratio", 1e-19).is_err());
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for value in [1.0, -0.1, f64::NAN, f64::INFINITY, 20.0] {
            let message = Ratio::new("split.test", value).unwrap_err().to_string();
            assert!(message.starts_with("`split.test`: ") && message.contains("below 1"), "{message}");
        }
        assert!(Ratio::new("split.test", 1e-19).is_err());
        assert!(Ratio::new("split.test", -0.0).unwrap().is_zero());
    }
}

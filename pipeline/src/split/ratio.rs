//! Shares of a whole number, exactly.

use crate::{Error, Result};

/// A decimal ratio as a fraction of integers, so that 0.29 of 100 is 29.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    numerator: u64,
    denominator: u64,
}

impl Ratio {
    /// The ratio as it is written: the shortest decimal that reads back as `value`.
    pub(crate) fn new(key: &'static str, value: f64) -> Result<Self> {
        let refuse = |expected: &str| Err(Error::setting(key, format!("{value} is no share (expected {expected})")));
        if !(0.0..1.0).contains(&value) {
            return refuse("a number of at least 0 and below 1");
        }
        let text = value.abs().to_string();
        let digits = text.strip_prefix("0.").unwrap_or("0");
        if digits.len() > 18 {
            return refuse("at most 18 decimals");
        }
        let denominator = 10u64.pow(digits.len() as u32);
        Ok(Self { numerator: digits.parse().expect("at most 18 digits"), denominator })
    }

    /// The share of `count`, rounded down.
    pub(crate) fn of(self, count: usize) -> usize {
        (count as u128 * u128::from(self.numerator) / u128::from(self.denominator)) as usize
    }

    pub(crate) fn is_zero(self) -> bool {
        self.numerator == 0
    }
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

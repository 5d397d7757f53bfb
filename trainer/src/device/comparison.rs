//! How closely two computations of the same numbers agree.

use serde::Serialize;

/// What a check of a device compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Both sides, in words.
    pub what: String,
    /// Numbers that were compared.
    pub cases: u64,
    /// The largest difference, as a share of the largest expected number; infinite where numbers are missing or are none.
    pub largest_difference: f64,
    /// The largest that another order of the same sums explains; 0 where bits have to be the same.
    pub allowed: f64,
}

impl Comparison {
    /// Of the numbers that are expected with those that were found.
    pub fn of(what: impl Into<String>, expected: &[f32], found: &[f32], allowed: f64) -> Self {
        let scale = expected.iter().fold(0.0, |largest: f64, &value| largest.max(f64::from(value).abs()));
        let difference = |(&expected, &found): (&f32, &f32)| match (f64::from(expected) - f64::from(found)).abs() {
            _ if expected.to_bits() == found.to_bits() => 0.0,
            difference if difference.is_finite() && scale > 0.0 => difference / scale,
            difference if difference.is_finite() => difference,
            _ => f64::INFINITY,
        };
        let largest = expected.iter().zip(found).map(difference).fold(0.0, f64::max);
        let largest_difference = if expected.len() == found.len() { largest } else { f64::INFINITY };
        Self { what: what.into(), cases: expected.len() as u64, largest_difference, allowed }
    }

    /// Whether the difference is one that is explained. A comparison of nothing never is.
    pub fn holds(&self) -> bool {
        self.cases > 0 && self.largest_difference <= self.allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(expected: &[f32], found: &[f32]) -> Comparison {
        Comparison::of("x", expected, found, 0.01)
    }

    #[test]
    fn differences_are_shares_of_the_largest_number() {
        assert_eq!(of(&[1.0, -4.0], &[1.25, -4.0]).largest_difference, 0.0625);
        assert_eq!(of(&[0.0, 0.0], &[0.5, 0.0]).largest_difference, 0.5, "of zeros the difference itself");
        assert_eq!(of(&[f32::NEG_INFINITY, 1.0], &[f32::NEG_INFINITY, 1.0]).largest_difference, 0.0);
    }

    #[test]
    fn what_is_missing_or_no_number_does_not_agree() {
        assert!(of(&[100.0, 1.0], &[100.5, 1.0]).holds());
        assert!(!of(&[100.0, 1.0], &[102.0, 1.0]).holds());
        assert!(!of(&[1.0, 2.0], &[1.0]).holds());
        assert!(!of(&[1.0, 2.0], &[1.0, f32::NAN]).holds());
        assert!(!of(&[1.0, f32::NAN], &[1.0, 2.0]).holds());
        assert!(!of(&[], &[]).holds(), "nothing was compared");
    }
}

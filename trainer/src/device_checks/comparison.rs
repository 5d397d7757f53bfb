//! What a check of a device finds.

use serde::Serialize;
use std::{error::Error, iter::successors};

/// How far what a device computes is from what the CPU does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What was computed.
    pub what: String,
    /// How many numbers were compared.
    pub cases: usize,
    /// The largest difference of two, over the larger of 1 and the CPU's; NaN where one of them alone is no number.
    pub largest_difference: f64,
    /// The most that rounding explains; 0 where the bits must agree.
    pub allowed: f64,
}

impl Comparison {
    /// Compares numbers of the device with those of the CPU.
    ///
    /// # Panics
    /// When they are not as many.
    pub fn new(what: impl Into<String>, device: &[f32], cpu: &[f32], allowed: f64) -> Self {
        assert_eq!(device.len(), cpu.len(), "numbers are compared one by one");
        let difference = |(&found, &expected): (&f32, &f32)| {
            let (found, expected) = (f64::from(found), f64::from(expected));
            if found == expected { 0.0 } else { (found - expected).abs() / expected.abs().max(1.0) }
        };
        // `max` would pass over NaN.
        let larger = |largest: f64, next: f64| if largest.is_nan() || next <= largest { largest } else { next };
        let largest = device.iter().zip(cpu).map(difference).fold(0.0, larger);
        Self { what: what.into(), cases: cpu.len(), largest_difference: largest, allowed }
    }

    /// Compares ids, which must be the same: the difference is how many are not.
    ///
    /// # Panics
    /// When they are not as many.
    pub fn of_ids(what: impl Into<String>, device: &[u32], cpu: &[u32]) -> Self {
        assert_eq!(device.len(), cpu.len(), "ids are compared one by one");
        let wrong = device.iter().zip(cpu).filter(|(found, expected)| found != expected).count();
        Self { what: what.into(), cases: cpu.len(), largest_difference: wrong as f64, allowed: 0.0 }
    }

    /// What the device could not compute, and why: it never agrees.
    pub fn failed(what: &str, error: &(dyn Error + 'static)) -> Self {
        let reasons = successors(Some(error), |&error| error.source());
        let what = reasons.fold(what.to_owned(), |what, reason| format!("{what}: {reason}"));
        Self { what, cases: 0, largest_difference: f64::NAN, allowed: 0.0 }
    }

    /// Whether rounding explains the difference.
    pub fn agrees(&self) -> bool {
        self.largest_difference <= self.allowed // not for NaN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_never_agrees() {
        let compare = |device: &[f32]| Comparison::new("x", device, &[1.0, 200.0], 0.01);
        assert!(compare(&[1.0, 201.0]).agrees() && !compare(&[1.02, 200.0]).agrees());
        assert_eq!(compare(&[1.0, 201.0]).largest_difference, 1.0 / 200.0);
        assert!(!compare(&[f32::NAN, 200.0]).agrees() && !compare(&[1.0, f32::NAN]).agrees());
        assert!(Comparison::new("x", &[f32::NEG_INFINITY], &[f32::NEG_INFINITY], 0.0).agrees());
        assert!(!Comparison::of_ids("x", &[1, 2], &[1, 3]).agrees());
    }

    #[test]
    fn what_failed_tells_every_reason() {
        let error = crate::Error::from(candle_core::Error::Msg("no such kernel".to_owned()));
        let failed = Comparison::failed("a training", &error);
        assert!(!failed.agrees());
        assert_eq!(failed.what, "a training: a tensor operation failed: no such kernel");
    }
}

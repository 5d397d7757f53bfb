//! Whether scores can be NaN or infinite at all: where no sum can overflow, none has to be looked at for it.

use rayon::prelude::*;

/// Far enough below the largest `f32` for all roundings on the way to a score.
const SAFE: f64 = 1e38;

/// Whether scores can be NaN or infinite when none of their sums, before rounding, is further from zero than this.
pub(super) fn to_check(bound: f64) -> bool {
    bound.is_nan() || bound >= SAFE
}

/// The largest distance from zero, infinite or NaN when one is.
pub(super) fn largest(values: &[f32]) -> f64 {
    let bits = values.par_chunks(1 << 16).map(largest_bits).max();
    f64::from(f32::from_bits(bits.unwrap_or(0)))
}

/// Without the sign, floats are ordered like their bits; infinity and then NaN come last.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn largest_bits(values: &[f32]) -> u32 {
    values.iter().fold(0, |largest, value| largest.max(value.abs().to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_is_without_sign_and_what_is_not_finite_wins() {
        let mut values = vec![0.5; 100_000];
        values[70_001] = -3.0;
        assert_eq!(largest(&values), 3.0);
        values[99_999] = f32::NEG_INFINITY;
        assert!(to_check(largest(&values)));
        values[5] = f32::NAN;
        assert!(largest(&values).is_nan() && to_check(largest(&values)));
        assert_eq!(largest(&[]), 0.0);
        assert!(!to_check(1e37));
    }
}

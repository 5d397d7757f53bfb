//! Exponential, logarithm, hyperbolic tangent and normal distribution without branches, which LLVM turns into vector code.

use std::f32::consts::LOG2_E;

/// Below this, `exp` is 0: the last normal power of two.
const SMALLEST: f32 = -87.33654;
/// Adding it rounds to the nearest integer, which the low bits of the sum then hold.
const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23
/// The first bits of ln 2: its products with exponents are exact.
const LN_2_HIGH: f32 = 355.0 / 512.0;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// `exp(x)` for `x <= 0`, with a relative error below 2e-7; 0 below -87.33; NaN for NaN.
#[inline(always)]
pub fn exp_of_negative(x: f32) -> f32 {
    let clamped = if x < SMALLEST { SMALLEST } else { x };
    let shifted = clamped * LOG2_E + ROUND;
    let exponent = shifted - ROUND;
    let rest = clamped - exponent * LN_2_HIGH - exponent * LN_2_LOW; // |rest| <= ln(2) / 2
    let mut sum = 1.987_569_1e-4;
    for coefficient in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        sum = sum * rest + coefficient; // Cephes' expf
    }
    let fraction = sum * (rest * rest) + rest + 1.0;
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23); // 2^exponent
    if x < SMALLEST { 0.0 } else { fraction * power }
}

/// `log(1 + y)` for `0 <= y <= 1`, with a relative error below 3e-7; NaN for NaN.
#[inline(always)]
pub fn log_of_one_plus(y: f32) -> f32 {
    let z = y / (2.0 + y); // log(1 + y) = 2 artanh(z), z <= 1/3
    let square = z * z;
    let mut sum = 1.0 / 13.0;
    for divisor in [11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = sum * square + 1.0 / divisor;
    }
    2.0 * z * sum
}

/// `tanh(x)`, within 2e-7 of the exact one; NaN for NaN.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let small = exp_of_negative(-2.0 * x.abs());
    ((1.0 - small) / (1.0 + small)).copysign(x)
}

/// `1 / (1 + exp(-x))`, with a relative error below 4e-7; 0 below -87.33; NaN for NaN.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    softplus(x).1
}

/// `softplus(x)` and its derivative, `sigmoid(x)`.
#[inline(always)]
pub fn softplus(x: f32) -> (f32, f32) {
    let small = exp_of_negative(-x.abs());
    let large = if x < 0.0 { 0.0 } else { x };
    let sigmoid = if x < 0.0 { small } else { 1.0 } / (1.0 + small);
    (large + log_of_one_plus(small), sigmoid)
}

/// The distribution function of the standard normal distribution at `x`, within 3e-7 of the exact one, and `exp(-x^2 / 2)`, which the density is a multiple
/// of; NaN for NaN. Abramowitz and Stegun 1964, 7.1.26.
#[inline(always)]
pub fn normal(x: f32) -> (f32, f32) {
    let small = exp_of_negative(-0.5 * x * x);
    let t = 1.0 / (1.0 + 0.327_591_1 * std::f32::consts::FRAC_1_SQRT_2 * x.abs());
    let mut sum = 1.061_405_4;
    for coefficient in [-1.453_152, 1.421_413_8, -0.284_496_74, 0.254_829_6] {
        sum = sum * t + coefficient;
    }
    let tail = 0.5 * sum * t * small;
    (if x < 0.0 { tail } else { 1.0 - tail }, small)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(from: f32, to: f32) -> impl Iterator<Item = f32> {
        (0..=200_000).map(move |at| from + (to - from) * (at as f32 / 200_000.0))
    }

    #[test]
    fn exp_is_within_2e_7_of_the_exact_one() {
        for x in grid(-87.3, 0.0) {
            let exact = f64::from(x).exp();
            assert!((f64::from(exp_of_negative(x)) / exact - 1.0).abs() < 2e-7, "exp({x})");
        }
        assert_eq!([0.0, -88.0, -1e30, f32::NEG_INFINITY].map(exp_of_negative), [1.0, 0.0, 0.0, 0.0]);
        assert!(exp_of_negative(f32::NAN).is_nan());
    }

    #[test]
    fn log_is_within_3e_7_of_the_exact_one() {
        for y in grid(0.0, 1.0).skip(1).chain(grid(1e-30, 1e-6)) {
            let exact = f64::from(y).ln_1p();
            assert!((f64::from(log_of_one_plus(y)) / exact - 1.0).abs() < 3e-7, "log(1 + {y})");
        }
        assert_eq!(log_of_one_plus(0.0), 0.0);
    }

    #[test]
    fn tanh_is_within_2e_7_of_the_exact_one() {
        for x in grid(-12.0, 12.0).chain(grid(-1e-3, 1e-3)) {
            let exact = f64::from(x).tanh();
            assert!((f64::from(tanh(x)) - exact).abs() < 2e-7, "tanh({x})");
        }
        assert_eq!([0.0, 1e30, -1e30, f32::INFINITY].map(tanh), [0.0, 1.0, -1.0, 1.0]);
        assert!(tanh(f32::NAN).is_nan());
    }

    #[test]
    fn sigmoid_is_within_4e_7_of_the_exact_one() {
        for x in grid(-80.0, 20.0) {
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            assert!((f64::from(sigmoid(x)) / exact - 1.0).abs() < 4e-7, "sigmoid({x})");
        }
        assert_eq!([-88.0, -1e30, f32::NEG_INFINITY, 1e30, f32::INFINITY].map(sigmoid), [0.0, 0.0, 0.0, 1.0, 1.0]);
        assert!(sigmoid(f32::NAN).is_nan());
    }

    /// The exact one is the integral of the density, by Simpson's rule.
    #[test]
    fn normal_is_within_3e_7_of_the_exact_one() {
        let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        let (step, mut exact) = (1e-3, 0.5);
        for at in 0..12_000 {
            let x = f64::from(at) * step;
            for (x, exact) in [(x, exact), (-x, 1.0 - exact)] {
                let (found, small) = normal(x as f32);
                assert!((f64::from(found) - exact).abs() < 3e-7, "{x}: {found} {exact}");
                assert!((f64::from(small) - (-0.5 * x * x).exp()).abs() < 5e-7, "{x}");
            }
            exact += step / 6.0 * (density(x) + 4.0 * density(x + 0.5 * step) + density(x + step));
        }
        assert_eq!([0.0, 1e20, f32::INFINITY, -1e20].map(normal), [(0.5, 1.0), (1.0, 0.0), (1.0, 0.0), (0.0, 0.0)]);
        assert!(normal(f32::NAN).0.is_nan());
    }

    #[test]
    fn softplus_far_from_zero_and_of_nan() {
        assert_eq!(softplus(1e30), (1e30, 1.0));
        assert_eq!(softplus(-1e30), (0.0, 0.0));
        assert_eq!(softplus(0.0).1, 0.5);
        assert!(softplus(f32::NAN).0.is_nan() && softplus(f32::NAN).1.is_nan());
    }
}

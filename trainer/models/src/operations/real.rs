//! Floats of either length, with the functions that models need.

use candle_core::WithDType;
use embeddings::product::Number;

/// `f32` in trainings, `f64` in tests of derivatives.
pub(crate) trait Real: WithDType + Number {
    /// `1 / (1 + exp(-x))`
    fn sigmoid(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// `e` to the power of x.
    fn exp(self) -> Self;
    /// The distribution function of the standard normal distribution.
    fn normal(self) -> Self;
}

impl Real for f32 {
    fn sigmoid(self) -> Self {
        1.0 / (1.0 + (-self).exp())
    }

    /// To a few of the last bits of 1, and several times faster than the function of that name.
    fn tanh(self) -> Self {
        2.0 * Real::sigmoid(2.0 * self) - 1.0
    }

    fn exp(self) -> Self {
        Self::exp(self)
    }

    fn normal(self) -> Self {
        0.5 + 0.5 * libm::erff(self * std::f32::consts::FRAC_1_SQRT_2)
    }
}

impl Real for f64 {
    fn sigmoid(self) -> Self {
        1.0 / (1.0 + (-self).exp())
    }

    fn tanh(self) -> Self {
        Self::tanh(self)
    }

    fn exp(self) -> Self {
        Self::exp(self)
    }

    fn normal(self) -> Self {
        0.5 + 0.5 * libm::erf(self * std::f64::consts::FRAC_1_SQRT_2)
    }
}

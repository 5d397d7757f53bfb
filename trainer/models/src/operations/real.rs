//! Floats of either length, with the functions that models need.

use candle_core::WithDType;
use embeddings::product::Number;
use pulp::{Arch, Simd, WithSimd};
use vectors::elementary;

/// `f32` in trainings, whose functions have no branches; `f64` in tests of derivatives.
pub(crate) trait Real: WithDType + Number {
    /// `1 / (1 + exp(-x))`
    fn sigmoid(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// `e` to the power of x, which is at most 0.
    fn exp_of_negative(self) -> Self;
    /// The distribution function of the standard normal distribution, and `exp(-x^2 / 2)`.
    fn normal(self) -> (Self, Self);
}

impl Real for f32 {
    #[inline(always)]
    fn sigmoid(self) -> Self {
        elementary::sigmoid(self)
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        elementary::tanh(self)
    }

    #[inline(always)]
    fn exp_of_negative(self) -> Self {
        elementary::exp_of_negative(self)
    }

    #[inline(always)]
    fn normal(self) -> (Self, Self) {
        elementary::normal(self)
    }
}

impl Real for f64 {
    fn sigmoid(self) -> Self {
        1.0 / (1.0 + (-self).exp())
    }

    fn tanh(self) -> Self {
        Self::tanh(self)
    }

    fn exp_of_negative(self) -> Self {
        self.exp()
    }

    fn normal(self) -> (Self, Self) {
        (0.5 + 0.5 * libm::erf(self * std::f64::consts::FRAC_1_SQRT_2), (-0.5 * self * self).exp())
    }
}

/// The product of two vectors, added up in as many sums as a cache line has single numbers.
#[inline(always)]
pub(crate) fn dot<T: WithDType>(one: &[T], other: &[T]) -> T {
    const LANES: usize = 16;
    let ((ones, rest), (others, other_rest)) = (one.as_chunks::<LANES>(), other.as_chunks::<LANES>());
    let mut sums = [T::zero(); LANES];
    for (one, other) in ones.iter().zip(others) {
        for lane in 0..LANES {
            sums[lane] += one[lane] * other[lane];
        }
    }
    let last = rest.iter().zip(other_rest).fold(T::zero(), |sum, (&one, &other)| sum + one * other);
    sums.into_iter().fold(last, |sum, of_lane| sum + of_lane)
}

/// A loop over numbers without branches.
pub(crate) trait Loop {
    /// Runs it. It has to be `#[inline(always)]`, with all that it calls: code of its own would be for the vectors that every machine has.
    fn run(self);
}

/// Runs a loop by the widest vectors that the machine has; the bits are the same by all.
pub(crate) fn vectorized(work: impl Loop) {
    struct Wide<L>(L);
    impl<L: Loop> WithSimd for Wide<L> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _simd: S) {
            self.0.run();
        }
    }
    Arch::new().dispatch(Wide(work));
}

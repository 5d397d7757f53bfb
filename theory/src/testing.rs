//! Random numbers, scores and comparisons for several tests.

use streams::{Purpose, Stream};

/// Uniform numbers of `[0, 1)`.
pub(crate) fn fractions(seed: u64) -> impl FnMut() -> f64 {
    let mut stream = Stream::new(seed, Purpose::Parameters, 0, 0, 0);
    move || stream.fraction()
}

/// Eight scores of a user's items; [`LIKED`] are the positives.
pub(crate) const SCORES: [f64; 8] = [0.9, 0.2, 0.5, -0.3, 0.7, 0.1, -0.6, 0.4];
/// The positives among [`SCORES`].
pub(crate) const LIKED: [usize; 3] = [0, 2, 5];

/// Fails unless two numbers differ by at most `tolerance`.
pub(crate) fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
}

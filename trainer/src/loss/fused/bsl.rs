//! A multiple of softmax over a row.

use super::softmax::{Softmax, softmax};

/// Values of [`bsl`](crate::loss::bsl()).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bsl {
    /// The softmax of the negatives' temperature.
    pub softmax: Softmax,
    /// The negatives' temperature over the positive's.
    pub factor: f32,
}

/// The loss and its derivative by the positive; `negatives` become the derivatives by them.
pub(super) fn bsl(settings: &Bsl, positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let (loss, derivative) = softmax(&settings.softmax, positive, negatives, settings.factor);
    (settings.factor * loss, derivative)
}

//! Losses that are sums of softplus.

use super::{elementary::softplus, lanes::replace_and_sum};
use multiversion::multiversion;

/// See [`bce`](crate::loss::bce).
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn bce(positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let (loss, derivative) = softplus(-positive);
    let sum = replace_and_sum(negatives, |score| {
        let (loss, derivative) = softplus(score);
        (derivative, loss)
    });
    ((f64::from(loss) + sum) as f32, -derivative)
}

/// See [`bpr`](crate::loss::bpr).
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn bpr(positive: f32, negatives: &mut [f32]) -> (f32, f32) {
    let loss = replace_and_sum(negatives, |score| {
        let (loss, derivative) = softplus(score - positive);
        (derivative, loss)
    });
    let pull = replace_and_sum(negatives, |derivative| (derivative, derivative));
    (loss as f32, -pull as f32)
}

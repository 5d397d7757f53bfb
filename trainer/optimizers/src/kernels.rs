//! The arithmetic of a step on the values of one row: one formula, of which every optimizer is a choice of constants.
//!
//! ```text
//! g = dL/dp + weight_decay p
//! m = first_decay m + first_gain g          v = second_decay v + second_gain g^2
//! p = shrinkage p - rate m / (second_scale sqrt(v) + epsilon)
//! ```
#![allow(unsafe_code)] // SAFETY: written by `multiversion` alone: it calls a clone only after it has found the clone's instructions.

use super::catch_up::{Decay, Leap};
use multiversion::multiversion;

/// The constants of one step, of values p with a gradient of g and with moments m and v.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// What is added to the gradient for each unit of the value.
    pub weight_decay: f32,
    /// What is left of the value before it moves: 1 less decoupled weight decay.
    pub shrinkage: f32,
    /// What is left of the first moment: beta_1 of Adam, the momentum of SGD.
    pub first_decay: f32,
    /// What the gradient is multiplied by in the first moment: 1 - beta_1 of Adam.
    pub first_gain: f32,
    /// What is left of the second moment: beta_2 of Adam.
    pub second_decay: f32,
    /// What the squared gradient is multiplied by in the second moment: 1 - beta_2 of Adam.
    pub second_gain: f32,
    /// What the root of the second moment is multiplied by: 1 / sqrt(1 - beta_2^t) of Adam, its correction.
    pub second_scale: f32,
    /// The learning rate, over 1 - beta_1^t of Adam.
    pub rate: f32,
    /// What is added to the root of the second moment.
    pub epsilon: f32,
}

/// A row with its moments.
pub(super) struct Row<'a> {
    pub(super) values: &'a mut [f32],
    pub(super) first: &'a mut [f32],
    pub(super) second: &'a mut [f32],
}

/// A step with a gradient.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn moved(row: Row, gradient: &[f32], step: Step) {
    for (((value, first), second), &gradient) in row.values.iter_mut().zip(row.first).zip(row.second).zip(gradient) {
        update(value, first, second, gradient, step);
    }
}

/// A step without gradient.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn still(row: Row, step: Step) {
    for ((value, first), second) in row.values.iter_mut().zip(row.first).zip(row.second) {
        update(value, first, second, 0.0, step);
    }
}

#[inline(always)]
fn update(value: &mut f32, first: &mut f32, second: &mut f32, gradient: f32, step: Step) {
    let gradient = step.weight_decay * *value + gradient;
    *first = step.first_decay * *first + step.first_gain * gradient;
    *second = step.second_decay * *second + step.second_gain * gradient * gradient;
    *value = step.shrinkage * *value - step.rate * *first / (second.sqrt() * step.second_scale + step.epsilon);
}

/// A step with a gradient for a row whose values are up to date and stand in `now`, and whose moments still lack the decay.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn moved_from(now: &[f32], row: Row, gradient: &[f32], decay: Decay, step: Step) {
    let step = Step { first_decay: decay.first, second_decay: decay.second, ..step };
    for ((((value, &now), first), second), &gradient) in row.values.iter_mut().zip(now).zip(row.first).zip(row.second).zip(gradient) {
        *value = now;
        update(value, first, second, gradient, step);
    }
}

/// The values of a row after a leap.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn leapt(target: &mut [f32], values: &[f32], first: &[f32], second: &[f32], leap: Leap, epsilon: f32) {
    for (((target, &value), &first), &second) in target.iter_mut().zip(values).zip(first).zip(second) {
        *target = value - length(first, second, leap, epsilon);
    }
}

/// A row after a leap, in place.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(super) fn leap(row: Row, leap: Leap, decay: Decay, epsilon: f32) {
    for ((value, first), second) in row.values.iter_mut().zip(row.first).zip(row.second) {
        *value -= length(*first, *second, leap, epsilon);
        *first *= decay.first;
        *second *= decay.second;
    }
}

/// How far a value moves: the series of [`catch_up`](super::catch_up).
#[inline(always)]
fn length(first: f32, second: f32, leap: Leap, epsilon: f32) -> f32 {
    let inverse = 1.0 / (leap.scale * second.sqrt() + epsilon);
    let w = 1.0 - epsilon * inverse;
    let [a, b, c, d, e] = leap.terms;
    first * leap.weight * inverse * (1.0 + w * w * (a + w * (b + w * (c + w * (d + w * e)))))
}

//! Adam.
//!
//! ```text
//! g = dL/dp + weight_decay p
//! m = beta1 m + (1 - beta1) g          v = beta2 v + (1 - beta2) g^2
//! p = p - learning_rate m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
//! ```
//! `adam` moves every row in every step, as PyTorch's dense Adam does: a row without gradient still moves by its momentum and its
//! weight decay. `lazy-adam` leaves such rows alone: neither parameters nor moments change, and only t goes on; under
//! `light-gcn`, and for items under the sampler `all`, every row has a gradient in every step and the two are the same. Weight decay is the
//! coupled one (part of the gradient), not AdamW's. Kingma and Ba, ICLR 2015.
#![allow(unsafe_code)] // SAFETY: written by `multiversion` alone: it calls a clone only after it has found the clone's instructions.

use crate::gradient::RowGradients;
use multiversion::multiversion;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows of one parallel task.
const BLOCK: usize = 256;

/// The values of `adam` and of `lazy-adam` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adam {
    /// Length of a step, above 0.
    pub learning_rate: f64,
    /// Weight of the squared norm in the gradient.
    #[serde(default)]
    pub weight_decay: f64,
    /// Decay of the first moment.
    #[serde(default = "first_decay")]
    pub beta1: f64,
    /// Decay of the second moment.
    #[serde(default = "second_decay")]
    pub beta2: f64,
    /// Added to the root of the second moment.
    #[serde(default = "epsilon")]
    pub epsilon: f64,
}

fn first_decay() -> f64 {
    0.9
}

fn second_decay() -> f64 {
    0.999
}

fn epsilon() -> f64 {
    1e-8
}

/// First and second moments of a table's gradient.
pub(crate) struct Moments {
    pub(crate) first: Vec<f32>,
    pub(crate) second: Vec<f32>,
}

impl Moments {
    pub(crate) fn new(length: usize) -> Self {
        Self { first: vec![0.0; length], second: vec![0.0; length] }
    }
}

/// The constants of one step.
#[derive(Clone, Copy)]
struct Step {
    weight_decay: f32,
    first_decay: f32,
    first_gain: f32,
    second_decay: f32,
    second_gain: f32,
    second_scale: f32,
    rate: f32,
    epsilon: f32,
}

impl Adam {
    /// Whether the values can be used.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check(&self) -> Result<(), String> {
        let within = |key: &str, value: f64, range: std::ops::Range<f64>| match range.contains(&value) {
            true => Ok(()),
            false => Err(format!("{key} is {value}, expected at least {} and below {}", range.start, range.end)),
        };
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return Err(format!("learning_rate is {}, expected a number above 0", self.learning_rate));
        }
        within("weight_decay", self.weight_decay, 0.0..f64::INFINITY)?;
        within("beta1", self.beta1, 0.0..1.0)?;
        within("beta2", self.beta2, 0.0..1.0)?;
        match self.epsilon as f32 > 0.0 && self.epsilon.is_finite() {
            true => Ok(()),
            false => Err(format!("epsilon is {}, expected a number above 0: a row without gradient would divide by it", self.epsilon)),
        }
    }

    fn constants(&self, step: u64) -> Step {
        let power = |decay: f64| decay.powf(step as f64);
        Step {
            weight_decay: self.weight_decay as f32,
            first_decay: self.beta1 as f32,
            first_gain: (1.0 - self.beta1) as f32,
            second_decay: self.beta2 as f32,
            second_gain: (1.0 - self.beta2) as f32,
            second_scale: (1.0 / (1.0 - power(self.beta2)).sqrt()) as f32,
            rate: (self.learning_rate / (1.0 - power(self.beta1))) as f32,
            epsilon: self.epsilon as f32,
        }
    }

    /// One step of a whole table: rows without gradient move too. `step` counts from 1.
    pub(crate) fn dense(&self, step: u64, dim: usize, table: &mut [f32], moments: &mut Moments, gradients: &RowGradients) {
        self.rows(step, dim, table, moments, gradients, still);
    }

    /// One step of the rows that have a gradient.
    pub(crate) fn lazy(&self, step: u64, dim: usize, table: &mut [f32], moments: &mut Moments, gradients: &RowGradients) {
        self.rows(step, dim, table, moments, gradients, |_, _, _, _| ());
    }

    fn rows(
        &self,
        step: u64,
        dim: usize,
        table: &mut [f32],
        moments: &mut Moments,
        gradients: &RowGradients,
        untouched: impl Fn(&mut [f32], &mut [f32], &mut [f32], Step) + Sync,
    ) {
        let constants = self.constants(step);
        let parameters = table
            .par_chunks_mut(BLOCK * dim)
            .zip(moments.first.par_chunks_mut(BLOCK * dim))
            .zip(moments.second.par_chunks_mut(BLOCK * dim));
        let gradients = gradients.values().par_chunks(BLOCK * dim).zip(gradients.touched().par_chunks(BLOCK));
        parameters.zip(gradients).for_each(|(((table, first), second), (gradients, touched))| {
            for (at, &touched) in touched.iter().enumerate() {
                let row = at * dim..(at + 1) * dim;
                let (table, first, second) = (&mut table[row.clone()], &mut first[row.clone()], &mut second[row.clone()]);
                match touched {
                    true => moved(table, first, second, &gradients[row], constants),
                    false => untouched(table, first, second, constants),
                }
            }
        });
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn moved(table: &mut [f32], first: &mut [f32], second: &mut [f32], gradient: &[f32], step: Step) {
    for (((value, first), second), &gradient) in table.iter_mut().zip(first).zip(second).zip(gradient) {
        update(value, first, second, gradient, step);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn still(table: &mut [f32], first: &mut [f32], second: &mut [f32], step: Step) {
    for ((value, first), second) in table.iter_mut().zip(first).zip(second) {
        update(value, first, second, 0.0, step);
    }
}

#[inline(always)]
fn update(value: &mut f32, first: &mut f32, second: &mut f32, gradient: f32, step: Step) {
    let gradient = step.weight_decay * *value + gradient;
    *first = step.first_decay * *first + step.first_gain * gradient;
    *second = step.second_decay * *second + step.second_gain * gradient * gradient;
    *value -= step.rate * *first / (second.sqrt() * step.second_scale + step.epsilon);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADAM: Adam = Adam { learning_rate: 0.1, weight_decay: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

    /// Two rows of one value; the gradient touches row 0 in the first of three steps.
    fn three_steps(lazy: bool) -> (Vec<f32>, Moments) {
        let (mut table, mut moments) = (vec![1.0, -2.0], Moments::new(2));
        for step in 1..=3 {
            let mut gradients = RowGradients::new(2, 1);
            if step == 1 {
                gradients.add(0, &[0.5]);
            }
            match lazy {
                true => ADAM.lazy(step, 1, &mut table, &mut moments, &gradients),
                false => ADAM.dense(step, 1, &mut table, &mut moments, &gradients),
            }
        }
        (table, moments)
    }

    /// The formula in f64, one value at a time.
    fn expected(mut value: f64, gradients: [f64; 3]) -> f64 {
        let (mut first, mut second) = (0.0, 0.0);
        for (t, gradient) in (1..).zip(gradients) {
            let gradient = gradient + 0.01 * value;
            first = 0.9 * first + 0.1 * gradient;
            second = 0.999 * second + 0.001 * gradient * gradient;
            let (first_hat, second_hat) = (first / (1.0 - 0.9f64.powi(t)), second / (1.0 - 0.999f64.powi(t)));
            value -= 0.1 * first_hat / (second_hat.sqrt() + 1e-8);
        }
        value
    }

    #[test]
    fn dense_steps_follow_the_formula_in_every_row() {
        let (table, _) = three_steps(false);
        for (value, expected) in table.iter().zip([expected(1.0, [0.5, 0.0, 0.0]), expected(-2.0, [0.0; 3])]) {
            assert!((f64::from(*value) - expected).abs() < 1e-6, "{value} {expected}");
        }
    }

    #[test]
    fn the_first_step_has_the_length_of_the_learning_rate() {
        let (mut table, mut moments, mut gradients) = (vec![1.0], Moments::new(1), RowGradients::new(1, 1));
        gradients.add(0, &[1e-3]);
        Adam { weight_decay: 0.0, ..ADAM }.dense(1, 1, &mut table, &mut moments, &gradients);
        assert!((table[0] - 0.9).abs() < 1e-4, "{}", table[0]);
    }

    #[test]
    fn lazy_steps_leave_rows_without_gradient_alone() {
        let (table, moments) = three_steps(true);
        assert_eq!((table[1], moments.first[1], moments.second[1]), (-2.0, 0.0, 0.0));
        assert!((f64::from(table[0]) - 0.9).abs() < 1e-6);
    }
}

//! What tests of models of sequences share: parameters and histories.

use super::encoder::{Dropout, Model};
use crate::testing::{STEP, matrix};
use candle_core::{Device, Tensor};

/// Two histories of the items of a table of five.
const HISTORIES: [&[u32]; 2] = [&[3, 0, 4, 2], &[1, 2, 0, 4, 3]];

/// The items' table `[5, 4]` and weights of such shapes, numbered from 0: `0.3 sin(1 + 7 k + 1.3 n)` for number n of the matrix k, and that
/// plus 1 for gains.
pub(in super::super) fn parameters(shapes: &[(bool, [usize; 2])]) -> Vec<Tensor> {
    let shapes = std::iter::once(&(false, [5, 4])).chain(shapes);
    let of = |(k, &(is_gain, shape)): (usize, &(bool, [usize; 2]))| {
        let first = if is_gain { 1.0 } else { 0.0 };
        matrix(shape, |number| first + 0.3 * (1.0 + 7.0 * k as f64 + 1.3 * number).sin())
    };
    shapes.enumerate().map(of).collect()
}

/// The vectors of histories, of the length of the longest, with zeros behind the ends of others.
fn vectors(table: &Tensor, histories: &[&[u32]], length: usize) -> Tensor {
    let padded = Tensor::cat(&[table, &Tensor::zeros((1, 4), table.dtype(), table.device()).unwrap()], 0).unwrap();
    let places = histories.iter().flat_map(|items| items.iter().copied().chain(std::iter::repeat_n(5, length - items.len())));
    let places = Tensor::from_iter(places, &Device::Cpu).unwrap();
    padded.index_select(&places, 0).unwrap()
}

/// The states after each item of both histories, in one pass: `[10, 4]`.
pub(in super::super) fn states(model: &impl Model, parameters: &[Tensor]) -> Vec<Vec<f64>> {
    let items = vectors(&parameters[0], &HISTORIES, 5);
    model.states(items, [2, 5], &parameters[1..], None).unwrap().to_vec2().unwrap()
}

/// A sum of the states of a step, weighed by numbers of no pattern, that do not count what stands behind a history's end.
pub(in super::super) fn derivatives(model: &impl Model, parameters: &[Tensor]) -> Tensor {
    let items = vectors(&parameters[0], &HISTORIES, 5);
    let states = model.states(items, [2, 5], &parameters[1..], Some(Dropout::new(3, &STEP, 0))).unwrap();
    let weights = matrix([10, 4], |number| if (16.0..20.0).contains(&number) { 0.0 } else { (0.3 + 1.3 * number).cos() });
    (states * weights).unwrap().sum_all().unwrap()
}

/// Asserts that a state is the one of its prefix by itself.
#[track_caller]
pub(in super::super) fn assert_causal(model: &impl Model, parameters: &[Tensor]) {
    let all = states(model, parameters);
    for (at, history) in HISTORIES.iter().enumerate() {
        for length in 1..=history.len() {
            let items = vectors(&parameters[0], &[&history[..length]], length);
            let alone: Vec<Vec<f64>> = model.states(items, [1, length], &parameters[1..], None).unwrap().to_vec2().unwrap();
            let (alone, within) = (&alone[length - 1], &all[5 * at + length - 1]);
            assert!(alone.iter().zip(within).all(|(alone, within)| (alone - within).abs() < 1e-12), "{alone:?} {within:?}");
        }
    }
}

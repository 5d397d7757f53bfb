//! What tests of models share: a small graph, and derivatives by differences.

use super::{
    autograd::{Autograd, Encoded, Forward},
    encoder::{Backward, Encoder, TrainStep, Wanted},
};
use crate::parameters::Parameters;
use candle_core::{DType, Device, Tensor, Var};
use dataset::Dataset;
use embeddings::{RowGradients, Tables};
use evaluator::Scorer;
use testing::dataset_of;
use vectors::Matrix;

/// Five users and five items.
pub(super) fn dataset() -> Dataset {
    dataset_of([5, 5], &[(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 3), (2, 4), (3, 3), (4, 2), (4, 4)])
}

/// The scores of all items for a user, by the ranking.
pub(super) fn scores(scorer: &Scorer, dataset: &Dataset, user: u32) -> Vec<f32> {
    let lists = evaluator::rank::top_k(scorer, &dataset.train, &[], &[user], dataset.items(), 1 << 20).unwrap();
    let mut list = lists.into_iter().next().unwrap();
    list.sort_unstable_by_key(|&(item, _)| item);
    list.into_iter().map(|(_, score)| score).collect()
}

/// A step of three users, two of them once and one twice, with a positive that comes twice.
pub(super) const STEP: TrainStep<'static> =
    TrainStep { epoch: 2, step: 3, users: &[2, 0, 3, 2], positives: &[0, 0, 4, 4], wanted: Wanted { users: None, items: None } };

/// `[rows, columns]` of `value(number)`, numbered row by row.
pub fn matrix([rows, columns]: [usize; 2], value: impl Fn(f64) -> f64) -> Tensor {
    let values: Vec<f64> = (0..rows * columns).map(|number| value(number as f64)).collect();
    Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap()
}

/// Users and items with vectors of two numbers: `sin(1 + 0.7 n)` for number n, the users' before the items'.
pub(super) fn tables() -> Vec<Tensor> {
    let value = |first: f64| move |number: f64| (1.0 + 0.7 * (first + number)).sin();
    vec![matrix([5, 2], value(0.0)), matrix([5, 2], value(10.0))]
}

/// Holds rows of the vectors, users before items, against expected ones: to six digits, as the edges' weights are floats.
#[track_caller]
pub(super) fn assert_rows(encoded: &Encoded, expected: &[(usize, &[f64])]) {
    let all: Vec<Vec<f64>> = Tensor::cat(&[&encoded.users, &encoded.items], 0).unwrap().to_vec2().unwrap();
    for (row, expected) in expected {
        assert_eq!(all[*row].len(), expected.len());
        assert!(all[*row].iter().zip(*expected).all(|(found, expected)| (found - expected).abs() < 1e-6), "row {row}: {:?}", all[*row]);
    }
}

/// Weights of such shapes, numbered from 0: `cos(s + 0.9 n)` for number n of the matrix s, and for that of a bias `0.1 cos(s + n)`.
pub(super) fn weights(shapes: &[(&str, [usize; 2])]) -> Vec<Tensor> {
    let of = |(salt, (name, shape)): (usize, &(&str, [usize; 2]))| match name.contains("bias") {
        true => matrix(*shape, |number| 0.1 * (salt as f64 + number).cos()),
        false => matrix(*shape, |number| (salt as f64 + 0.9 * number).cos()),
    };
    shapes.iter().enumerate().map(of).collect()
}

/// Tables that start a model, as f32.
fn parameters() -> Parameters {
    let values = |table: &Tensor| table.flatten_all().unwrap().to_vec1::<f64>().unwrap().into_iter().map(|value| value as f32).collect();
    let [users, items] = [0, 1].map(|side| Matrix { rows: 5, dim: 2, values: values(&tables()[side]) });
    Parameters::new(Tables { users, items }, Vec::new())
}

/// Holds a hand-written encoder of vectors of two numbers against candle's operations: its vectors in a step and as they are ranked, the model's
/// own loss, and the gradients of the tables where some rows of the vectors have one.
#[track_caller]
pub(super) fn assert_encoder(encoder: &mut dyn Encoder, formula: &impl Forward) {
    let (parameters, mut expected) = (parameters(), Autograd::new(formula, [5, 5, 2]));
    let close = |found: &[f32], expected: &[f32], what: &str| {
        let is_close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5);
        assert!(found.len() == expected.len() && is_close, "{what}: {found:?} where {expected:?} is expected");
    };
    let both = |[users, items]: [&Matrix; 2]| [&users.values[..], &items.values].concat();
    for encode in [
        |encoder: &mut dyn Encoder, parameters: &Parameters| encoder.encode(parameters),
        |encoder: &mut dyn Encoder, parameters: &Parameters| encoder.encode_step(parameters, &STEP),
    ] {
        encode(encoder, &parameters).unwrap();
        encode(&mut expected, &parameters).unwrap();
        close(&both(encoder.vectors(&parameters)), &both(expected.vectors(&parameters)), "vectors");
    }
    let gradients = || {
        let mut gradients = [RowGradients::new(5, 2), RowGradients::new(5, 2)];
        for (side, row, gradient) in [(0, 2, [0.5, -1.0]), (0, 3, [0.25, 2.0]), (1, 0, [-1.5, 0.5]), (1, 4, [1.0, 1.0])] {
            gradients[side].add(row, &gradient);
        }
        gradients
    };
    let backward = |encoder: &mut dyn Encoder| {
        let [mut users, mut items] = gradients();
        let Backward { tables: [users, items], auxiliary, .. } = encoder.backward([&mut users, &mut items]).unwrap();
        let whole = |gradients: &RowGradients| {
            let rows = gradients.values().chunks_exact(2).zip(gradients.touched());
            rows.flat_map(|(row, touched)| [row[0], row[1]].map(|value| if *touched { value } else { 0.0 })).collect::<Vec<f32>>()
        };
        ([whole(users), whole(items)].concat(), auxiliary)
    };
    let ((found, own), (formula, formula_own)) = (backward(encoder), backward(&mut expected));
    close(&found, &formula, "gradients");
    assert!((own - formula_own).abs() < 1e-5, "{own} {formula_own}");
}

/// Holds candle's derivatives of a sum of a step's vectors, weighed by numbers of no pattern, and of the model's own loss against central
/// differences, in f64.
#[track_caller]
pub(super) fn assert_gradients(model: &impl Forward, parameters: &[Tensor]) {
    let total = |parameters: &[Tensor]| {
        let Encoded { users, items, auxiliary } = model.forward(parameters, Some(&STEP)).unwrap();
        let sum = |vectors: &Tensor, salt: f64| {
            let weights = matrix(vectors.dims2().unwrap().into(), |number| (salt + 1.3 * number).cos());
            (vectors * weights).unwrap().sum_all().unwrap()
        };
        let total = (sum(&users, 0.3) + sum(&items, 0.9)).unwrap();
        auxiliary.map_or(Ok(total.clone()), |auxiliary| total + auxiliary).unwrap()
    };
    assert_derivatives(total, parameters);
}

/// Holds two operations on parameters of f64 against each other: values, and derivatives of a sum of them weighed by numbers of no pattern.
#[track_caller]
pub fn assert_same(
    found: impl Fn(&[Tensor]) -> candle_core::Result<Tensor>,
    expected: impl Fn(&[Tensor]) -> candle_core::Result<Tensor>,
    parameters: &[Tensor],
) {
    let run = |operation: &dyn Fn(&[Tensor]) -> candle_core::Result<Tensor>| values_and_derivatives(operation, parameters);
    for (at, (found, expected)) in run(&found).into_iter().zip(run(&expected)).enumerate() {
        let close = found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-10 * expected.abs().max(1.0));
        assert!(found.len() == expected.len() && close, "tensor {at}: {found:?} {expected:?}");
    }
}

/// Holds an operation and its derivatives in single precision against those in double precision, within 1e-5 of the largest number of each tensor.
#[track_caller]
pub fn assert_single_precision(operation: impl Fn(&[Tensor]) -> candle_core::Result<Tensor>, parameters: &[Tensor]) {
    let single: Vec<Tensor> = parameters.iter().map(|parameter| parameter.to_dtype(DType::F32).unwrap()).collect();
    let double: Vec<Tensor> = single.iter().map(|parameter| parameter.to_dtype(DType::F64).unwrap()).collect();
    let found = values_and_derivatives(&operation, &single).into_iter().zip(values_and_derivatives(&operation, &double));
    for (at, (found, expected)) in found.enumerate() {
        let largest = expected.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let close = found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() <= 1e-5 * largest);
        assert!(found.len() == expected.len() && largest > 0.0 && close, "tensor {at}: {found:?} {expected:?}");
    }
}

/// The values of an operation, and the derivatives of a sum of them by each parameter.
fn values_and_derivatives(operation: &dyn Fn(&[Tensor]) -> candle_core::Result<Tensor>, parameters: &[Tensor]) -> Vec<Vec<f64>> {
    let variables: Vec<Var> = parameters.iter().map(|parameter| Var::from_tensor(parameter).unwrap()).collect();
    let tensors: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
    let values = operation(&tensors).unwrap();
    let weights = matrix([1, values.elem_count()], |number| (0.3 + 1.3 * number).cos()).reshape(values.shape()).unwrap();
    let gradients = (&values * weights.to_dtype(values.dtype()).unwrap()).unwrap().sum_all().unwrap().backward().unwrap();
    let of = |variable: &Var| gradients.get(variable).map_or_else(|| variable.zeros_like().unwrap(), Tensor::clone);
    let all = std::iter::once(values).chain(variables.iter().map(of));
    all.map(|tensor| tensor.flatten_all().unwrap().to_dtype(DType::F64).unwrap().to_vec1().unwrap()).collect()
}

/// Holds candle's derivatives of `total`, `[]`, by parameters of f64 against central differences.
#[track_caller]
pub fn assert_derivatives(total: impl Fn(&[Tensor]) -> Tensor, parameters: &[Tensor]) {
    let variables: Vec<Var> = parameters.iter().map(|parameter| Var::from_tensor(parameter).unwrap()).collect();
    let tensors: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
    let gradients = total(&tensors).backward().unwrap();
    for (which, variable) in variables.iter().enumerate() {
        let found: Vec<f64> = gradients.get(variable).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        for (at, found) in found.into_iter().enumerate() {
            let moved = |by: f64| {
                let mut values: Vec<f64> = variable.flatten_all().unwrap().to_vec1().unwrap();
                values[at] += by;
                let mut parameters = parameters.to_vec();
                parameters[which] = Tensor::from_vec(values, variable.shape(), &Device::Cpu).unwrap();
                total(&parameters).to_scalar::<f64>().unwrap()
            };
            let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((found - difference).abs() < 1e-6 * difference.abs().max(1.0), "parameter {which}, {at}: {found} {difference}");
        }
    }
}

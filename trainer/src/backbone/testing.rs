//! What tests of models share: a small graph, and derivatives by differences.

use super::{
    autograd::{Encoded, Forward},
    encoder::{TrainStep, Wanted},
};
use candle_core::{Device, Tensor, Var};
use dataset::{Dataset, Interactions};
use evaluator::Scorer;

/// Five users and five items.
pub(super) fn dataset() -> Dataset {
    dataset_of([5, 5], &[(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 3), (2, 4), (3, 3), (4, 2), (4, 4)])
}

/// So many users and items with these train pairs.
pub(super) fn dataset_of([users, items]: [usize; 2], pairs: &[(u32, u32)]) -> Dataset {
    let ids = |letter: &str, count: usize| (0..count).map(|at| format!("{letter}{at}")).collect::<Vec<_>>();
    Dataset {
        name: "small".into(),
        fingerprint: "small".into(),
        user_ids: ids("u", users),
        item_ids: ids("i", items),
        train: Interactions::from_pairs(users, pairs.iter().copied()),
        validation: Interactions::empty(users),
        test: Interactions::empty(users),
        steps: vec![],
        settings: serde_json::Value::Null,
    }
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
pub(super) fn matrix([rows, columns]: [usize; 2], value: impl Fn(f64) -> f64) -> Tensor {
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

/// Holds candle's derivatives of `total`, `[]`, by parameters of f64 against central differences.
#[track_caller]
pub(super) fn assert_derivatives(total: impl Fn(&[Tensor]) -> Tensor, parameters: &[Tensor]) {
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

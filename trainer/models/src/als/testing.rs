//! What tests of models by least squares share.

use super::super::kind::Iterative;
use super::{Alternating, LeastSquares, SolvedSide};
use crate::Epochs;
use dataset::Dataset;
use embeddings::Tables;
use streams::{Purpose, Stream};
use testing::dataset_of;

/// The train pairs of the worked example: four users, six items.
pub(in super::super) const WORKED: [(u32, u32); 9] = [(0, 0), (0, 1), (1, 1), (1, 2), (1, 3), (2, 3), (2, 4), (3, 0), (3, 5)];

/// Its items' vectors.
const ITEMS: [f32; 12] = [0.2, -0.1, 0.1, 0.1, -0.2, 0.2, 0.3, 0.0, 0.1, -0.2, 0.0, 0.3];

/// A dataset of so many train pairs, without a pattern; some users and items have none.
pub(in super::super) fn random([users, items]: [u32; 2], count: usize) -> Dataset {
    let mut stream = Stream::new(5, Purpose::LossState, 0, 0, 0);
    let pairs: Vec<(u32, u32)> = (0..count).map(|_| (stream.below(users - 1), stream.below(items).min(stream.below(items)))).collect();
    dataset_of([users as usize, items as usize], &pairs)
}

/// The scores of all pairs.
pub(in super::super) fn products(tables: &Tables) -> Vec<f64> {
    let rows = |user: usize| (0..tables.items.rows).map(move |item| (user, item));
    let product = |(user, item): (usize, usize)| {
        tables.users.row(user).iter().zip(tables.items.row(item)).map(|(&p, &q)| f64::from(p) * f64::from(q)).sum()
    };
    (0..tables.users.rows).flat_map(rows).map(product).collect()
}

/// Trains so many epochs; the loss of the last.
pub(in super::super) fn train(training: &mut dyn Epochs, epochs: u32) -> f64 {
    (1..=epochs).map(|epoch| training.epoch(epoch).unwrap()).last().unwrap()
}

/// The squared norm.
pub(in super::super) fn norm(row: &[f32]) -> f64 {
    row.iter().map(|&value| f64::from(value).powi(2)).sum()
}

pub(in super::super) fn largest_difference(one: &[f64], other: &[f64]) -> f64 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
}

#[track_caller]
pub(in super::super) fn assert_close(one: &[f64], other: &[f64], tolerance: f64) {
    let difference = largest_difference(one, other);
    assert!(difference < tolerance, "{difference}");
}

/// Holds an epoch from the worked example's items against both sides' rows, to six digits as they are floats, and the objectives of its halves.
#[track_caller]
pub(in super::super) fn assert_sweep<'d, M: LeastSquares>(
    start: impl Fn(&'d Dataset) -> Alternating<'d, M>,
    users: &[f64],
    items: &[f64],
    objectives: [f64; 2],
) {
    let dataset = Box::leak(Box::new(dataset_of([4, 6], &WORKED)));
    let mut training = start(dataset);
    training.tables.items.values.copy_from_slice(&ITEMS);
    let values = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>();
    let first = training.half_sweep(SolvedSide::Users).unwrap();
    assert_close(&values(&training.tables.users.values), users, 2e-6);
    let second = training.half_sweep(SolvedSide::Items).unwrap();
    assert_close(&values(&training.tables.items.values), items, 2e-6);
    assert_close(&[first, second], &objectives, 1e-6);
}

/// Holds that no half sweep raises the objective, but by what floats lose.
#[track_caller]
pub(in super::super) fn assert_falls<'d, M: LeastSquares>(start: impl Fn(&'d Dataset) -> Alternating<'d, M>) {
    let dataset = Box::leak(Box::new(random([60, 50], 900)));
    let mut training = start(dataset);
    let mut last = f64::INFINITY;
    for half in 0..60 {
        let objective = training.half_sweep(if half % 2 == 0 { SolvedSide::Users } else { SolvedSide::Items }).unwrap();
        assert!(objective <= last + 1e-6 * objective.abs(), "half sweep {half}: {objective} after {last}");
        last = objective;
    }
}

/// Holds two epochs by one thread against those by three.
#[track_caller]
pub(in super::super) fn assert_same_bits<'d, M: LeastSquares>(start: impl Fn(&'d Dataset) -> Alternating<'d, M> + Sync) {
    let dataset: &'d Dataset = Box::leak(Box::new(random([700, 300], 6_000)));
    let by_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut training = start(dataset);
            (train(&mut training, 2), training.tables.users.values, training.tables.items.values)
        })
    };
    assert_eq!(by_threads(1), by_threads(3));
}

/// Holds two epochs against one and another from its state.
#[track_caller]
pub(in super::super) fn assert_resumes(model: &dyn Iterative) {
    let dataset = random([60, 50], 900);
    let values = |training: &mut Box<dyn Epochs + '_>| -> Vec<Vec<f32>> {
        training.state().into_iter().map(|(_, values)| values.to_vec()).collect()
    };
    let mut whole = model.start(&dataset, 4).unwrap();
    whole.epoch(1).unwrap();
    let state = values(&mut whole);
    let loss = whole.epoch(2).unwrap();
    let mut resumed = model.start(&dataset, 5).unwrap();
    resumed.state().into_iter().zip(&state).for_each(|((_, values), state)| values.copy_from_slice(state));
    assert_eq!((resumed.epoch(2).unwrap(), values(&mut resumed)), (loss, values(&mut whole)));
}

//! What every pool that looks at the model promises.

use super::super::{DnsMn, Pool, Prepared, Row, Sampler};
use dataset::Interactions;
use embeddings::Vectors;
use streams::{Purpose, Stream};
use testing::assert_drawn_from;
use vectors::Matrix;

/// One user and some items, from a stream.
pub(super) fn vectors(items: usize, dim: usize) -> (Matrix, Matrix) {
    let mut stream = Stream::new(11, Purpose::Parameters, 0, 0, 0);
    let mut table = |rows: usize| Matrix { rows, dim, values: (0..rows * dim).map(|_| 2.0 * stream.fraction() as f32 - 1.0).collect() };
    (table(1), table(items))
}

/// A sampler of the pool alone.
pub(super) fn sampler(pool: &Pool, negatives: u32) -> Sampler {
    Sampler::DnsMn(DnsMn { candidates: Some(negatives), negatives, sum: true, pool: pool.clone() })
}

/// Frequencies and log-probabilities of a user's draws are those of the distribution.
#[track_caller]
pub(super) fn assert_distribution(pool: &Pool, vectors: Vectors, own: &[u32], distribution: &[f64]) {
    let train = Interactions::from_pairs(1, own.iter().map(|&item| (0, item)));
    let mut prepared = Prepared::new(&sampler(pool, 10), &train, vectors.items.rows).unwrap();
    prepared.refresh(vectors, 7, 1);
    let mut found = vec![0.0; vectors.items.rows];
    let (mut ids, mut log_probabilities) = ([0; 10], [0.0; 10]);
    for row in 0..6_000 {
        prepared.draw(&mut Stream::new(7, Purpose::Negatives, 1, 1, row), Row::alone(0), &mut ids, Some(&mut log_probabilities));
        ids.iter().for_each(|&id| found[id as usize] += 1.0);
        for (&id, &log_probability) in ids.iter().zip(&log_probabilities) {
            let expected = distribution[id as usize].ln();
            assert!((f64::from(log_probability) - expected).abs() < 1e-4, "item {id}: {log_probability}, {expected}");
        }
    }
    assert_drawn_from(&found, distribution, 1.0);
}

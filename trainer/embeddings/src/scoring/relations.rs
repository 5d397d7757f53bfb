//! Similarities among the rows of one table, and the gradient back: of items with items, and of users with users.
//!
//! [`Neighbours`] compares each positive of a batch with its own negatives, [`Pairs`] all rows of a batch with each other. Their gradients
//! are added to those that the table has already. No result depends on the number of threads.

use super::{
    kernels::{combine, dots, weighted_sum},
    similarity::{Prepared, finish_gradient, finish_scores},
    touched::Touched,
};
use crate::{
    RowGradients,
    product::{View, multiply},
};
use rayon::prelude::*;
use vectors::{Matrix, Similarity};

/// Rows of one parallel task.
const ROWS: usize = 32;

/// Rows of a table, each with a list of other rows of it; buffers are reused from step to step.
pub struct Neighbours {
    similarity: Similarity,
    /// The anchors, then their lists, row after row.
    ids: Vec<u32>,
    touched: Touched,
    /// The distinct rows.
    prepared: Prepared,
    gradients: Vec<f32>,
}

impl Neighbours {
    /// Prepares to compare rows by this similarity.
    pub fn new(similarity: Similarity) -> Self {
        Self { similarity, ids: Vec::new(), touched: Touched::default(), prepared: Prepared::default(), gradients: Vec::new() }
    }

    /// Similarities `[B, N]` of the first of each row of `ids [B, 1 + N]` with the rest.
    pub fn score(&mut self, table: &Matrix, ids: &[u32], batch: usize) -> Vec<f32> {
        let (dim, count) = (table.dim, ids.len() / batch - 1);
        let rows = || ids.chunks_exact(1 + count);
        self.ids.clear();
        self.ids.extend(rows().map(|row| row[0]).chain(rows().flat_map(|row| &row[1..]).copied()));
        self.touched.find(&self.ids);
        self.prepared.chosen_rows(table, &self.touched.rows, self.similarity);
        let (vectors, (anchors, others)) = (self.prepared.vectors(&[]), self.touched.locals.split_at(batch));
        let mut scores = vec![0.0; others.len()];
        let rows = scores.par_chunks_exact_mut(count).zip(others.par_chunks_exact(count)).zip(anchors);
        rows.with_min_len(ROWS).for_each(|((scores, others), &anchor)| {
            let anchor = anchor as usize;
            dots(&vectors[anchor * dim..][..dim], vectors, others, scores);
            finish_scores(self.similarity, &self.prepared, anchor, &self.prepared, others.iter().map(|&other| other as usize), scores);
        });
        scores
    }

    /// Adds the gradient from the derivatives `[B, N]` of the loss by the similarities that were made last.
    pub fn backward(&mut self, weights: &[f32], gradients: &mut RowGradients) {
        let batch = self.ids.len() - weights.len();
        let (dim, count) = (gradients.dim(), weights.len() / batch);
        let Self { similarity, touched, prepared, gradients: buffer, .. } = self;
        let (vectors, (anchors, others)) = (prepared.vectors(&[]), touched.locals.split_at(batch));
        buffer.resize(touched.rows.len() * dim, 0.0);
        buffer.par_chunks_exact_mut(dim).enumerate().with_min_len(ROWS).for_each(|(k, gradient)| {
            let places = touched.places(k);
            let (as_anchor, as_other) = places.split_at(places.partition_point(|&place| (place as usize) < batch));
            let mut total = 0.0;
            gradient.fill(0.0);
            for &row in as_anchor {
                let list = row as usize * count..(row as usize + 1) * count;
                weighted_sum(vectors, &others[list.clone()], &weights[list.clone()], gradient);
                total += weights[list].iter().sum::<f32>();
            }
            let at = |place: u32| place as usize - batch;
            combine(vectors, as_other, |place| (anchors[at(place) / count], weights[at(place)]), gradient);
            total += as_other.iter().map(|&place| weights[at(place)]).sum::<f32>();
            finish_gradient(*similarity, &vectors[k * dim..][..dim], prepared, k, total, gradient);
        });
        for (&row, gradient) in touched.rows.iter().zip(buffer.chunks_exact(dim)) {
            gradients.add(row as usize, gradient);
        }
    }
}

/// Rows of a table, all with each other; buffers are reused from step to step.
pub struct Pairs {
    similarity: Similarity,
    prepared: Prepared,
    gradients: Vec<f32>,
}

impl Pairs {
    /// Prepares to compare rows by this similarity.
    pub fn new(similarity: Similarity) -> Self {
        Self { similarity, prepared: Prepared::default(), gradients: Vec::new() }
    }

    /// Similarities `[B, B]` of the rows `ids [B]`, of which several may be the same.
    pub fn score(&mut self, table: &Matrix, ids: &[u32]) -> Vec<f32> {
        let (dim, batch) = (table.dim, ids.len());
        self.prepared.chosen_rows(table, ids, self.similarity);
        let (prepared, vectors) = (&self.prepared, self.prepared.vectors(&[]));
        let all = View { values: vectors, row: 1, column: dim };
        let mut scores = vec![0.0; batch * batch];
        scores.par_chunks_mut(ROWS * batch).zip(vectors.par_chunks(ROWS * dim)).enumerate().for_each(|(block, (scores, some))| {
            multiply([scores.len() / batch, dim, batch], scores, false, View { values: some, row: dim, column: 1 }, all);
            for (at, scores) in scores.chunks_exact_mut(batch).enumerate() {
                finish_scores(self.similarity, prepared, block * ROWS + at, prepared, 0..batch, scores);
            }
        });
        scores
    }

    /// Adds the gradient from the derivatives `[B, B]` of the loss by the similarities of these `ids`, which were made last.
    pub fn backward(&mut self, ids: &[u32], weights: &[f32], gradients: &mut RowGradients) {
        let (dim, batch) = (gradients.dim(), ids.len());
        let Self { similarity, prepared, gradients: buffer } = self;
        let vectors = prepared.vectors(&[]);
        let all = View { values: vectors, row: dim, column: 1 };
        buffer.resize(batch * dim, 0.0);
        buffer.par_chunks_mut(ROWS * dim).enumerate().for_each(|(block, gradients)| {
            let (first, shape) = (block * ROWS, [gradients.len() / dim, batch, dim]);
            multiply(shape, gradients, false, View { values: &weights[first * batch..], row: batch, column: 1 }, all);
            multiply(shape, gradients, true, View { values: &weights[first..], row: 1, column: batch }, all);
            for (row, gradient) in (first..).zip(gradients.chunks_exact_mut(dim)) {
                let both = (0..batch).map(|other| weights[row * batch + other] + weights[other * batch + row]);
                let total = if *similarity == Similarity::NegativeSquaredDistance { both.sum() } else { 0.0 };
                finish_gradient(*similarity, &vectors[row * dim..][..dim], prepared, row, total, gradient);
            }
        });
        for (&id, gradient) in ids.iter().zip(buffer.chunks_exact(dim)) {
            gradients.add(id as usize, gradient);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SIMILARITIES, assert_close, plain_scores, value};
    use super::*;
    use candle_core::{Device, Result, Tensor, Var};
    use proptest::prelude::*;

    /// Rows of a table, each with a list of others, and a number for each place.
    #[derive(Clone, Debug)]
    struct Case {
        table: Matrix,
        anchors: Vec<u32>,
        others: Vec<u32>,
        weights: Vec<f32>,
    }

    fn cases(count: impl Fn(usize) -> usize + Copy) -> impl Strategy<Value = Case> {
        (2usize..60, prop_oneof![Just(3usize), Just(16), Just(64)], 1usize..80).prop_flat_map(move |(rows, dim, batch)| {
            let values = |length| prop::collection::vec(value(), length);
            let ids = |length| prop::collection::vec(0..rows as u32, length);
            let places = batch * count(batch);
            (values(rows * dim), ids(batch), ids(places), values(places)).prop_map(move |(values, anchors, others, weights)| Case {
                table: Matrix { rows, dim, values },
                anchors,
                others,
                weights,
            })
        })
    }

    /// Similarities, and gradients of `sum weights * similarities` by the table.
    fn plain(case: &Case, others: &[u32], similarity: Similarity) -> Result<[Vec<f32>; 2]> {
        let table = Var::from_slice(&case.table.values, (case.table.rows, case.table.dim), &Device::Cpu)?;
        let scores = plain_scores(&table, &table, &case.anchors, others, similarity)?;
        let gradients = (&scores * Tensor::from_slice(&case.weights, scores.shape(), &Device::Cpu)?)?.sum_all()?.backward()?;
        Ok([scores.flatten_all()?.to_vec1()?, gradients.get(&table).expect("it is used").flatten_all()?.to_vec1()?])
    }

    /// What the table's gradient is before: a number in its first row.
    fn before(table: &Matrix) -> RowGradients {
        let mut gradients = RowGradients::new(table.rows, table.dim);
        gradients.add(0, &vec![0.25; table.dim]);
        gradients
    }

    fn neighbours(case: &Case, similarity: Similarity) -> [Vec<f32>; 2] {
        let (mut neighbours, mut gradients) = (Neighbours::new(similarity), before(&case.table));
        let others = case.others.chunks(case.others.len() / case.anchors.len());
        let ids: Vec<u32> = case.anchors.iter().zip(others).flat_map(|(&anchor, others)| [&[anchor], others].concat()).collect();
        let scores = neighbours.score(&case.table, &ids, case.anchors.len());
        neighbours.backward(&case.weights, &mut gradients);
        [scores, gradients.fill().to_vec()]
    }

    fn pairs(case: &Case, similarity: Similarity) -> [Vec<f32>; 2] {
        let (mut pairs, mut gradients) = (Pairs::new(similarity), before(&case.table));
        let scores = pairs.score(&case.table, &case.anchors);
        pairs.backward(&case.anchors, &case.weights, &mut gradients);
        [scores, gradients.fill().to_vec()]
    }

    fn assert_equal(actual: &[Vec<f32>; 2], mut expected: [Vec<f32>; 2], dim: usize) {
        expected[1][..dim].iter_mut().for_each(|gradient| *gradient += 0.25);
        assert_close("similarities", &actual[0], &expected[0]);
        assert_close("gradients", &actual[1], &expected[1]);
    }

    fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn neighbours_are_those_of_plain_candle(case in cases(|batch| 1 + batch % 5)) {
            for similarity in SIMILARITIES {
                assert_equal(&neighbours(&case, similarity), plain(&case, &case.others, similarity).unwrap(), case.table.dim);
            }
        }

        #[test]
        fn pairs_are_those_of_plain_candle(case in cases(|batch| batch)) {
            for similarity in SIMILARITIES {
                let all = case.anchors.repeat(case.anchors.len());
                assert_equal(&pairs(&case, similarity), plain(&case, &all, similarity).unwrap(), case.table.dim);
            }
        }

        #[test]
        fn bits_do_not_depend_on_the_number_of_threads(case in cases(|batch| batch)) {
            for similarity in SIMILARITIES {
                let run = |threads| with_threads(threads, || (neighbours(&case, similarity), pairs(&case, similarity)));
                prop_assert_eq!(run(1), run(3));
            }
        }
    }
}

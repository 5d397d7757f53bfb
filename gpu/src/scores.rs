//! Scores of each row of a batch with its own items, and the gradient of the row's vector: `kernels/scores.cu`.

use crate::{
    Buffer, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, count},
    vectors::View,
};

/// Lanes of a score.
const GROUP: usize = 4;
/// Threads of a block that makes a row's gradient.
const THREADS: usize = 256;

/// The items of the rows of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// `[rows, width]`
    pub ids: &'a Buffer<u32>,
    /// Rows of the batch.
    pub rows: usize,
    /// Items of a row.
    pub width: usize,
}

impl Rows<'_> {
    fn check(&self, dim: [usize; 2], of_scores: usize) {
        assert_eq!(dim[0], dim[1], "users and items have vectors of one length");
        assert!(self.rows * self.width <= self.ids.len().min(of_scores), "{} rows of {}", self.rows, self.width);
    }
}

/// `scores [rows, width]` of the prepared rows of the batch's users with the items.
///
/// # Errors
/// Those of the device.
pub fn score(gpu: &Gpu, queries: View, items: View, rows: Rows, scores: &mut Buffer<f32>) -> Result<()> {
    rows.check([queries.dim, items.dim], scores.len());
    let arguments = [
        read(queries.vectors),
        read(queries.norms),
        read(items.vectors),
        read(items.norms),
        read(rows.ids),
        count(rows.rows),
        count(rows.width),
        count(items.dim),
        count(items.similarity as usize),
        write(scores),
    ];
    gpu.launch("score_items", Grid::threads(rows.rows * rows.width * GROUP), &arguments)
}

/// Gradients of the batch's prepared users from the derivatives by the scores, `weights [rows, width]`: `gradients [rows, dim]`, and
/// `totals [rows]`, the sums of the weights.
///
/// # Errors
/// Those of the device.
pub fn gather(
    gpu: &Gpu,
    items: View,
    rows: Rows,
    weights: &Buffer<f32>,
    gradients: &mut Buffer<f32>,
    totals: &mut Buffer<f32>,
) -> Result<()> {
    rows.check([items.dim; 2], weights.len());
    assert!(rows.rows * items.dim <= gradients.len() && rows.rows <= totals.len(), "gradients of {} rows", rows.rows);
    let arguments =
        [read(items.vectors), read(rows.ids), read(weights), count(rows.width), count(items.dim), write(gradients), write(totals)];
    gpu.launch("gather_gradients", Grid::blocks(rows.rows, THREADS), &arguments)
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::vectors::{Prepared, Similarity};
    use proptest::prelude::*;

    const SIMILARITIES: [Similarity; 3] = [Similarity::Dot, Similarity::Cosine, Similarity::NegativeSquaredDistance];

    fn score_of(similarity: Similarity, p: &[f64], q: &[f64]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        match similarity {
            Similarity::Dot => dot(p, q),
            Similarity::Cosine => dot(p, q) / (dot(p, p) * dot(q, q)).sqrt().max(1e-24),
            Similarity::NegativeSquaredDistance => -p.iter().zip(q).map(|(a, b)| (a - b).powi(2)).sum::<f64>(),
        }
    }

    fn wide(values: &[f32]) -> Vec<f64> {
        values.iter().map(|&value| f64::from(value)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// Scores, and the derivative of their weighted sum by each number of each query, by central differences of doubles.
        #[test]
        fn scores_and_gradients_are_those_of_the_similarity(
            similarity in prop::sample::select(&SIMILARITIES[..]),
            dim in prop::sample::select(vec![1usize, 3, 4, 12, 64, 67, 1_028]),
            (rows, width) in (1usize..4, 1usize..40),
            seed: u32,
        ) {
            let (gpu, items) = (Gpu::emulated(), 9);
            let value = |at: usize| ((at as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) >> 8) as f32 / (1 << 23) as f32 - 1.0;
            let table: Vec<f32> = (0..items * dim).map(value).collect();
            let users: Vec<f32> = (0..5 * dim).map(|at| value(at + 7_777)).collect();
            let chosen: Vec<u32> = (0..rows).map(|row| (row * 3 % 5) as u32).collect();
            let ids: Vec<u32> = (0..rows * width).map(|at| (at * 5 % items) as u32).collect();
            let weights: Vec<f32> = (0..rows * width).map(|at| value(at + 99)).collect();

            let (on_items, on_users) = (gpu.upload(&table).unwrap(), gpu.upload(&users).unwrap());
            let (on_ids, on_weights, on_chosen) = (gpu.upload(&ids).unwrap(), gpu.upload(&weights).unwrap(), gpu.upload(&chosen).unwrap());
            let mut prepared = Prepared::whole(&gpu, items, dim, similarity).unwrap();
            prepared.prepare(&gpu, &on_items).unwrap();
            let mut queries = Prepared::chosen(&gpu, rows, dim, similarity).unwrap();
            queries.choose(&gpu, &on_users, &on_chosen, rows).unwrap();
            let (prepared, queries) = (prepared.view(&on_items), queries.view(&on_users));
            let mut scores = gpu.zeros(rows * width).unwrap();
            let batch = Rows { ids: &on_ids, rows, width };
            score(&gpu, queries, prepared, batch, &mut scores).unwrap();
            let (mut gradients, mut totals) = (gpu.zeros(rows * dim).unwrap(), gpu.zeros(rows).unwrap());
            gather(&gpu, prepared, batch, &on_weights, &mut gradients, &mut totals).unwrap();
            queries.finish(&gpu, &mut gradients, &totals, None, rows).unwrap();

            let (scores, gradients) = (gpu.read(&scores).unwrap(), gpu.read(&gradients).unwrap());
            for row in 0..rows {
                let query = wide(&users[chosen[row] as usize * dim..][..dim]);
                let of_row = |query: &[f64]| -> Vec<f64> {
                    let own = &ids[row * width..][..width];
                    own.iter().map(|&id| score_of(similarity, query, &wide(&table[id as usize * dim..][..dim]))).collect()
                };
                for (found, expected) in scores[row * width..].iter().zip(of_row(&query)) {
                    prop_assert!((f64::from(*found) - expected).abs() < 1e-5 * (1.0 + dim as f64).sqrt(), "{found} {expected}");
                }
                for at in (0..dim).step_by(1 + dim / 5) {
                    let moved = |by: f64| {
                        let mut query = query.clone();
                        query[at] += by;
                        of_row(&query).iter().zip(&weights[row * width..]).map(|(score, &weight)| score * f64::from(weight)).sum::<f64>()
                    };
                    let (found, expected) = (f64::from(gradients[row * dim + at]), (moved(1e-5) - moved(-1e-5)) / 2e-5);
                    prop_assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{similarity:?} {dim}: {found} {expected}");
                }
            }
        }
    }
}

//! Each user with a list of items of its own, reduced to one number.

use super::{
    kernels::dots,
    sampled::Vectors,
    similarity::{Prepared, finish_scores},
};
use rayon::prelude::*;
use vectors::{Matrix, Similarity};

/// Users of one parallel task.
const BLOCK: usize = 64;

/// For each user `out = reduce(user, out, scores of its list)`; users whose list is empty keep what they had. `list(user, ids)` fills an empty list.
pub fn reduce_lists(
    vectors: Vectors,
    out: &mut [f32],
    list: impl Fn(usize, &mut Vec<u32>) + Sync,
    reduce: impl Fn(usize, f32, &mut [f32]) -> f32 + Sync,
) {
    let (mut queries, mut items) = (Prepared::default(), Prepared::default());
    queries.all_rows(vectors.users, vectors.similarity);
    items.all_rows(vectors.items, vectors.similarity);
    let dim = vectors.items.dim;
    out.par_chunks_mut(BLOCK).enumerate().for_each(|(block, out)| {
        let (mut ids, mut scores) = (Vec::new(), Vec::new());
        for (at, out) in out.iter_mut().enumerate() {
            let user = block * BLOCK + at;
            ids.clear();
            list(user, &mut ids);
            if ids.is_empty() {
                continue;
            }
            scores.resize(ids.len(), 0.0);
            dots(&queries.vectors(&vectors.users.values)[user * dim..][..dim], items.vectors(&vectors.items.values), &ids, &mut scores);
            finish_scores(vectors.similarity, &queries, user, &items, ids.iter().map(|&id| id as usize), &mut scores);
            *out = reduce(user, *out, &mut scores);
        }
    });
}

/// The mean of the unit vectors of the chosen rows, `[dim]`; zeros where none is chosen.
pub fn mean_vector(table: &Matrix, chosen: impl Fn(usize) -> bool) -> Vec<f64> {
    let mut units = Prepared::default();
    units.all_rows(table, Similarity::Cosine);
    let (mut sums, mut count) = (vec![0.0; table.dim], 0usize);
    let rows = units.vectors(&table.values).chunks_exact(table.dim).enumerate();
    for (_, row) in rows.filter(|(row, _)| chosen(*row)) {
        sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
        count += 1;
    }
    sums.iter_mut().for_each(|sum| *sum /= count.max(1) as f64);
    sums
}

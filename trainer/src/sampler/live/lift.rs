//! Every similarity as a plain dot product, of vectors that may be longer.
//!
//! ```text
//! dot       p                 q
//! cosine    p / |p|           q / |q|
//! distance  (2 p, 1, -|p|^2)  (q, -|q|^2, 1)
//! ```

use crate::scoring::dot;
use evaluator::{Matrix, Similarity};
use rayon::prelude::*;

/// Norms below this count as this, as they do in scoring.
const LEAST_NORM: f32 = 1e-12;

/// Numbers that a lifted vector has more, at most.
pub(super) const MORE: usize = 2;

/// The length of lifted vectors.
fn width(dim: usize, similarity: Similarity) -> usize {
    match similarity {
        Similarity::Dot | Similarity::Cosine => dim,
        Similarity::NegativeSquaredDistance => dim + MORE,
    }
}

/// All items.
pub(super) fn items(items: &Matrix, similarity: Similarity) -> Matrix {
    rows(items, similarity, |item, lifted| {
        lifted[..item.len()].copy_from_slice(item);
        lifted[item.len()..].copy_from_slice(&[-dot(item, item), 1.0]);
    })
}

/// All users.
pub(super) fn users(users: &Matrix, similarity: Similarity) -> Matrix {
    rows(users, similarity, |user, lifted| {
        lifted.iter_mut().zip(user).for_each(|(lifted, value)| *lifted = 2.0 * value);
        lifted[user.len()..].copy_from_slice(&[1.0, -dot(user, user)]);
    })
}

fn rows(table: &Matrix, similarity: Similarity, for_distance: impl Fn(&[f32], &mut [f32]) + Sync) -> Matrix {
    let width = width(table.dim, similarity);
    let mut lifted = Matrix { rows: table.rows, dim: width, values: vec![0.0; table.rows * width] };
    let pairs = lifted.values.par_chunks_exact_mut(width).zip(table.values.par_chunks_exact(table.dim));
    pairs.for_each(|(lifted, row)| match similarity {
        Similarity::Dot => lifted.copy_from_slice(row),
        Similarity::Cosine => unit(row, lifted),
        Similarity::NegativeSquaredDistance => for_distance(row, lifted),
    });
    lifted
}

fn unit(row: &[f32], unit: &mut [f32]) {
    let scale = 1.0 / dot(row, row).sqrt().max(LEAST_NORM);
    unit.iter_mut().zip(row).for_each(|(unit, value)| *unit = value * scale);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_lifted_vectors_are_the_similarities() {
        let table = Matrix { rows: 2, dim: 2, values: vec![3.0, 4.0, -1.0, 0.5] };
        let user = Matrix { rows: 1, dim: 2, values: vec![0.6, -0.8] };
        // 1.8 - 3.2; over the norms 1 and 5; -(2.4^2 + 4.8^2)
        for (similarity, expected) in [(Similarity::Dot, -1.4), (Similarity::Cosine, -0.28), (Similarity::NegativeSquaredDistance, -28.8)] {
            let found = dot(users(&user, similarity).row(0), items(&table, similarity).row(0));
            assert!((found - expected).abs() < 1e-5, "{similarity:?}: {found}");
        }
    }
}

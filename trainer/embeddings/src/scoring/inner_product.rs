//! Every similarity as a plain dot product, of vectors that may be longer.
//!
//! ```text
//! dot       p                 q
//! cosine    p / |p|           q / |q|
//! distance  (2 p, 1, -|p|^2)  (q, -|q|^2, 1)
//! ```

use super::{kernels::dot, similarity::unit_row};
use rayon::prelude::*;
use vectors::{Matrix, Similarity};

/// Numbers that such a vector has more, at most.
pub const MORE: usize = 2;

/// The length of such vectors.
fn width(dim: usize, similarity: Similarity) -> usize {
    match similarity {
        Similarity::Dot | Similarity::Cosine => dim,
        Similarity::NegativeSquaredDistance => dim + MORE,
    }
}

/// All items.
pub fn items(items: &Matrix, similarity: Similarity) -> Matrix {
    rows(items, similarity, |item, longer| {
        longer[..item.len()].copy_from_slice(item);
        longer[item.len()..].copy_from_slice(&[-dot(item, item), 1.0]);
    })
}

/// All users.
pub fn users(users: &Matrix, similarity: Similarity) -> Matrix {
    rows(users, similarity, |user, longer| {
        longer.iter_mut().zip(user).for_each(|(longer, value)| *longer = 2.0 * value);
        longer[user.len()..].copy_from_slice(&[1.0, -dot(user, user)]);
    })
}

fn rows(table: &Matrix, similarity: Similarity, for_distance: impl Fn(&[f32], &mut [f32]) + Sync) -> Matrix {
    let width = width(table.dim, similarity);
    let mut longer = Matrix { rows: table.rows, dim: width, values: vec![0.0; table.rows * width] };
    let pairs = longer.values.par_chunks_exact_mut(width).zip(table.values.par_chunks_exact(table.dim));
    pairs.for_each(|(longer, row)| match similarity {
        Similarity::Dot => longer.copy_from_slice(row),
        Similarity::Cosine => {
            unit_row(row, longer);
        }
        Similarity::NegativeSquaredDistance => for_distance(row, longer),
    });
    longer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_products_are_the_similarities() {
        let table = Matrix { rows: 2, dim: 2, values: vec![3.0, 4.0, -1.0, 0.5] };
        let user = Matrix { rows: 1, dim: 2, values: vec![0.6, -0.8] };
        // 1.8 - 3.2; over the norms 1 and 5; -(2.4^2 + 4.8^2)
        for (similarity, expected) in [(Similarity::Dot, -1.4), (Similarity::Cosine, -0.28), (Similarity::NegativeSquaredDistance, -28.8)] {
            let found = dot(users(&user, similarity).row(0), items(&table, similarity).row(0));
            assert!((found - expected).abs() < 1e-5, "{similarity:?}: {found}");
        }
    }
}

//! Vectors whose inner products order items as a similarity does.
//!
//! ```text
//! dot                        p, q
//! cosine                     p / |p|, q / |q|; a vector of zeros stays one
//! negative-squared-distance  (2 p, -1), (q, |q|²)      2 p . q - |q|² = |p|² - |p - q|²
//! ```

use evaluator::{Matrix, Similarity};

/// The folded vectors of users.
pub(super) fn folded_users(users: &Matrix, similarity: Similarity) -> Matrix {
    match similarity {
        Similarity::Dot => users.clone(),
        Similarity::Cosine => units(users),
        Similarity::NegativeSquaredDistance => longer(users, 2.0, |_| -1.0),
    }
}

/// The folded vectors of items.
pub(super) fn folded_items(items: &Matrix, similarity: Similarity) -> Matrix {
    match similarity {
        Similarity::Dot => items.clone(),
        Similarity::Cosine => units(items),
        Similarity::NegativeSquaredDistance => longer(items, 1.0, |row| squared_norm(row) as f32),
    }
}

fn squared_norm(row: &[f32]) -> f64 {
    row.iter().map(|&value| f64::from(value) * f64::from(value)).sum()
}

fn units(matrix: &Matrix) -> Matrix {
    let unit = |row: &[f32]| {
        let norm = squared_norm(row).sqrt();
        let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
        row.iter().map(move |&value| (f64::from(value) * scale) as f32).collect::<Vec<f32>>()
    };
    Matrix { values: matrix.values.chunks_exact(matrix.dim).flat_map(unit).collect(), ..*matrix }
}

/// Rows times a number, with one number more.
fn longer(matrix: &Matrix, scale: f32, last: impl Fn(&[f32]) -> f32) -> Matrix {
    let row = |row: &[f32]| row.iter().map(|value| scale * value).chain([last(row)]).collect::<Vec<f32>>();
    let values = matrix.values.chunks_exact(matrix.dim).flat_map(row).collect();
    Matrix { rows: matrix.rows, dim: matrix.dim + 1, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn products(similarity: Similarity) -> Vec<f32> {
        let users = Matrix { rows: 1, dim: 2, values: vec![3.0, 4.0] };
        let items = Matrix { rows: 3, dim: 2, values: vec![1.0, 0.0, 0.0, -2.0, 0.0, 0.0] };
        let (users, items) = (folded_users(&users, similarity), folded_items(&items, similarity));
        assert_eq!(users.dim, items.dim);
        (0..3).map(|item| users.row(0).iter().zip(items.row(item)).map(|(p, q)| p * q).sum()).collect()
    }

    /// By hand: 25 - |p - q|² is 25 - 20, 25 - 45 and 25 - 25.
    #[test]
    fn inner_products_are_the_similarity() {
        assert_eq!(products(Similarity::Dot), [3.0, -8.0, 0.0]);
        assert_eq!(products(Similarity::Cosine), [0.6, -0.8, 0.0]);
        assert_eq!(products(Similarity::NegativeSquaredDistance), [5.0, -20.0, 0.0]);
    }
}

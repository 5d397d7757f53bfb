//! Scores by a [`TanhLayer`].

use super::{super::bound, COLUMNS, PairScores};
use crate::scorer::TanhLayer;
use vectors::{Matrix, elementary::tanh};

impl PairScores for TanhLayer {
    fn users(&self) -> &Matrix {
        &self.users
    }

    fn items(&self) -> &Matrix {
        &self.items
    }

    /// One number of the layer.
    fn working(&self) -> usize {
        1
    }

    fn largest_sum(&self) -> f64 {
        let [user, item, weight] = [&self.users, &self.items, &self.weights].map(|side| bound::largest(&side.values));
        (user * item + user + item).max(self.weights.dim as f64 * weight)
    }

    #[inline(always)]
    fn score<'c>(&self, user: &[f32], column: &impl Fn(usize) -> &'c [f32], scores: &mut [f32], working: &mut [f32]) {
        let sums = &mut working[..COLUMNS][..scores.len()];
        let products = user.len() - self.weights.dim;
        scores.fill(0.0);
        for (at, &weight) in self.weights.values.iter().enumerate() {
            let own = user[products + at];
            sums.iter_mut().zip(column(products + at)).for_each(|(sum, value)| *sum = own + value);
            if products > 0 {
                super::add_scaled(sums, user[at], column(at));
            }
            scores.iter_mut().zip(&*sums).for_each(|(score, &sum)| *score += weight * tanh(sum));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Matrix, Scorer, TanhLayer, rank};
    use dataset::Interactions;

    /// By the formula in `f64`, over more than a tile of items.
    #[test]
    fn scores_are_those_of_the_formula() {
        let matrix =
            |rows: usize, dim: usize, step: f32| Matrix { rows, dim, values: (0..rows * dim).map(|at| (at as f32 * step).sin()).collect() };
        for products in [0, 3] {
            let (users, items, weights) = (matrix(4, products + 3, 0.7), matrix(500, products + 3, 0.31), matrix(1, 3, 1.3));
            let scorer = Scorer::TanhLayer(TanhLayer { users: users.clone(), items: items.clone(), weights: weights.clone() });
            let history = Interactions::empty(4);
            let found = rank::top_k(&scorer, &history, &[], &[0, 1, 2, 3], 500, 1 << 20).unwrap();
            for (user, list) in found.iter().enumerate() {
                assert_eq!(list.len(), 500);
                for &(item, score) in list {
                    let (p, q) = (users.row(user), items.row(item as usize));
                    let sum = |k: usize| {
                        let product = if products > 0 { f64::from(p[k]) * f64::from(q[k]) } else { 0.0 };
                        product + f64::from(p[products + k]) + f64::from(q[products + k])
                    };
                    let expected: f64 = (0..3).map(|k| f64::from(weights.values[k]) * sum(k).tanh()).sum();
                    assert!((f64::from(score) - expected).abs() < 1e-6, "user {user}, item {item}: {score} {expected}");
                }
            }
        }
    }
}

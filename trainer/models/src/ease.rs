//! EASE: each item's score is a weighted sum of the user's train items, in closed form.
//!
//! ```text
//! G = X^T X + lambda I      P = G^-1      B_ij = -P_ij / P_jj,  B_jj = 0      s(u, .) = x_u B
//! ```
//! X is the binary train matrix. Memory is 16 bytes for each pair of items, time grows with the cube of the items.
//! Steck, WWW 2019.

use super::{BackboneKind, Facts, Sizes, Stored, kind::ClosedForm};
use crate::{Error, Result};
use dataset::Dataset;
use evaluator::{ItemWeights, Scorer};
use faer::{
    Conj, Mat, MatRef, Side,
    linalg::solvers::{Llt, SolveCore},
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use vectors::Matrix;

/// Columns of the inverse that one parallel task solves for.
const COLUMNS: usize = 64;

/// `ease` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ease {
    /// lambda, the weight of the squared norm, above 0.
    pub regularization: f64,
}

impl BackboneKind for Ease {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Steck 2019",
            cost: "n³ / 3 multiplications, 16 n² bytes",
            unknown_user: "all items have the score 0: they are tied",
            values: "-",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        match self.regularization > 0.0 && self.regularization.is_finite() {
            true => Ok(()),
            false => Err(format!("regularization is {}, expected a number above 0", self.regularization)),
        }
    }

    fn stored(&self) -> Stored {
        Stored::ItemWeights
    }
}

impl ClosedForm for Ease {
    /// The weights B.
    fn fit(&self, dataset: &Dataset, memory: usize) -> Result<Scorer> {
        let items = dataset.items();
        if peak(items) > memory {
            return Err(Error::Memory { what: format!("ease on {items} items"), needed: peak(items), limit: memory });
        }
        let gram = gram(self, dataset);
        let factor = Llt::new(MatRef::from_column_major_slice(&gram, items, items), Side::Lower);
        let factor =
            factor.map_err(|_| Error::Impossible("ease: X^T X + lambda I has no Cholesky factor; raise regularization".to_owned()))?;
        drop(gram);
        let mut weights = vec![0.0f32; items * items];
        // Column j of B holds the weights towards item j; row i of the stored matrix those from item i. P is symmetric, so that row i of
        // P is column i, and each task solves for some columns of P and writes them as rows.
        weights.par_chunks_mut(COLUMNS * items).enumerate().for_each(|(task, rows)| {
            let (first, count) = (task * COLUMNS, rows.len() / items);
            let mut solution = Mat::<f64>::from_fn(items, count, |row, column| f64::from(u8::from(row == first + column)));
            factor.solve_in_place_with_conj(Conj::No, solution.as_mut());
            for (at, row) in rows.chunks_exact_mut(items).enumerate() {
                for (item, weight) in row.iter_mut().enumerate() {
                    *weight = solution[(item, at)] as f32;
                }
            }
        });
        let diagonal: Vec<f32> = (0..items).map(|item| weights[item * items + item]).collect();
        weights.par_chunks_exact_mut(items).enumerate().for_each(|(item, row)| {
            for (weight, diagonal) in row.iter_mut().zip(&diagonal) {
                *weight = -*weight / diagonal;
            }
            row[item] = 0.0;
        });
        if let Some(weight) = weights.iter().find(|weight| !weight.is_finite()) {
            let lambda = self.regularization;
            return Err(Error::Impossible(format!(
                "ease: regularization is {lambda}, which makes a weight {weight}; give a less extreme one"
            )));
        }
        Ok(ItemWeights { weights: Matrix { rows: items, dim: items, values: weights } }.into())
    }

    fn memory(&self, sizes: Sizes, _ranking: u64) -> u64 {
        peak(sizes.items as usize) as u64
    }

    /// A Cholesky factor and n solutions, and the pairs of the users' items: some users have more than others.
    fn operations(&self, sizes: Sizes) -> Option<f64> {
        let [users, items, train] = [sizes.users.max(1), sizes.items, sizes.train].map(|count| count as f64);
        Some(4.0 / 3.0 * items.powi(3) + 4.0 * train * train / users)
    }
}

/// Bytes that a fit needs at its peak.
fn peak(items: usize) -> usize {
    16 * items * items
}

/// `X^T X + lambda I`, `[items * items]`.
fn gram(ease: &Ease, dataset: &Dataset) -> Vec<f64> {
    let items = dataset.items();
    let users_of = dataset.train.transpose(items);
    let mut gram = vec![0.0; items * items];
    gram.par_chunks_exact_mut(items).enumerate().for_each(|(item, row)| {
        for &user in users_of.row(item) {
            for &other in dataset.train.row(user as usize) {
                row[other as usize] += 1.0;
            }
        }
        row[item] += ease.regularization;
    });
    gram
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Interactions;

    /// Three items; X^T X + I = [[3, 1, 1], [1, 3, 2], [1, 2, 3]], whose inverse is [[5, -1, -1], [-1, 8, -5], [-1, -5, 8]] / 13.
    fn small() -> Dataset {
        let train = Interactions::from_pairs(3, [(0, 0), (0, 1), (0, 2), (1, 0), (2, 1), (2, 2)].into_iter());
        Dataset {
            name: "small".into(),
            fingerprint: "0".into(),
            user_ids: ["a", "b", "c"].map(String::from).into(),
            item_ids: ["x", "y", "z"].map(String::from).into(),
            validation: Interactions::empty(3),
            one_node_set: false,
            test: Interactions::empty(3),
            train,
            fold_in: None,
            order: None,
            steps: vec![],
            settings: serde_json::Value::Null,
        }
    }

    #[test]
    fn weights_are_those_of_the_inverse_by_hand() {
        let Scorer::ItemWeights(ItemWeights { weights }) = Ease { regularization: 1.0 }.fit(&small(), 1 << 20).unwrap() else {
            panic!("item weights")
        };
        let expected = [0.0, 1.0 / 8.0, 1.0 / 8.0, 1.0 / 5.0, 0.0, 5.0 / 8.0, 1.0 / 5.0, 5.0 / 8.0, 0.0];
        for (weight, expected) in weights.values.iter().zip(expected) {
            assert!((weight - expected).abs() < 1e-6, "{:?}", weights.values);
        }
    }

    #[test]
    fn a_regularization_that_leaves_no_numbers_is_named() {
        let message = Ease { regularization: 1e300 }.fit(&small(), 1 << 20).unwrap_err().to_string();
        assert!(message.starts_with("ease: regularization is 1") && message.ends_with("NaN; give a less extreme one"), "{message}");
    }

    #[test]
    fn a_catalogue_beyond_the_memory_is_refused_with_the_arithmetic() {
        let message = Ease { regularization: 1.0 }.fit(&small(), 100).unwrap_err().to_string();
        assert!(message.contains("3 items") && message.contains("--memory"), "{message}");
    }
}

//! Matrix factorisation by alternating least squares on implicit feedback (iALS).
//!
//! ```text
//! L = sum over train of (s_ui - 1)² + w0 (sum over all pairs of s_ui²)
//!     + lambda (sum over users of (P_u + w0 n)^v |p_u|² + sum over items of (P_i + w0 m)^v |q_i|²)
//! ```
//! P_u and P_i are the train interactions of a user and of an item. That is `convention: rendle`; the others are Hu, Koren and Volinsky's objective `sum
//! over all pairs of c_ui (y_ui - s_ui)² + lambda (|P|² + |Q|²)`, in which positives have the confidence c = `alpha` (`implicit`, the library) or
//! c = 1 + `alpha` (`recstudio`, and [`wrmf`](super::wrmf)), and all other pairs 1. Less a constant it is c - 1 times the first with w0 = 1 / (c - 1), the target
//! c / (c - 1) and the penalty lambda / (c - 1), and so it is solved; there `reg_scaling` is v too, 0 when left out, over the weights c of a row's positives and 1 of
//! its other pairs. With `item_bias` s_ui = p_u . q_i + b_i: vectors have a number more, 1 for users and b_i for items, which is penalised as q_i is. The loss is the objective, with its constant, by train interactions. An epoch solves
//! users, then items. Hu et al., ICDM 2008; Rendle et al., RecSys 2022.

mod convention;
#[cfg(test)]
mod tests;

pub use convention::{Convention, Implicit, Recstudio, Rendle};

use super::{
    BackboneKind, Epochs, Facts, FoldIn, Init, Sizes, Stored,
    als::{
        self, Alternating, LeastSquares, Moments, Pass, SolvedSide, Solver,
        rows::{self, Terms},
    },
    kind::Iterative,
    limits::check_tables,
};
use crate::Result;
use convention::Weights;
use dataset::Dataset;
use embeddings::Tables;
use serde::{Deserialize, Serialize};
use vectors::Matrix;

/// `ials` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ials {
    /// Length of a vector.
    pub dim: u32,
    /// lambda, the weight of the squared norms, at least 0.
    pub regularization: f64,
    /// How train interactions and all other pairs are weighed.
    #[serde(default)]
    pub convention: Convention,
    /// Whether each item has a bias, which all users' scores of it have in common.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub item_bias: bool,
    /// How the equations of a row are solved.
    #[serde(default)]
    pub solver: Solver,
    /// How the vectors start.
    #[serde(default = "als::small")]
    pub init: Init,
}

impl BackboneKind for Ials {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Hu et al. 2008; Rendle et al. 2022",
            cost: "an epoch: `cholesky` d² for each train interaction and d³ / 6 for each user and item; `conjugate-gradient` 4 d for each train interaction and 2 d² for each user and item, each step",
            unknown_user: "all items have the score 0; with `item_bias`, by the vector that the objective gives to a user without items",
            values: "-",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        als::check_weight("regularization", self.regularization)?;
        self.convention.check()?;
        check_tables(self.dim, &self.init)?;
        self.solver.check(self.dim)
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.width() as usize }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::by(self.model("ials", Solver::default()))
    }
}

impl Iterative for Ials {
    fn start<'d>(&self, dataset: &'d Dataset, seed: u64) -> Result<Box<dyn Epochs + 'd>> {
        Ok(Box::new(self.training("ials", dataset, seed)?))
    }

    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        als::memory(self.width(), self.solver.bytes(self.width(), sizes.users.max(sizes.items)), sizes, ranking)
    }
}

impl Ials {
    /// The training before its first epoch, under the name that messages have.
    pub(super) fn training<'d>(&self, name: &'static str, dataset: &'d Dataset, seed: u64) -> Result<Alternating<'d, WeightedSquares>> {
        let mut training = Alternating::new(self.model(name, self.solver), dataset, self.init, self.dim, seed)?;
        if self.item_bias {
            let Tables { users, items } = &mut training.tables;
            (*users, *items) = (with_number(users, 1.0), with_number(items, 0.0));
        }
        Ok(training)
    }

    /// Numbers of a stored vector.
    fn width(&self) -> u32 {
        self.dim + u32::from(self.item_bias)
    }

    fn model(&self, name: &'static str, solver: Solver) -> WeightedSquares {
        WeightedSquares { name, weights: self.convention.weights(self.regularization), solver, item_bias: self.item_bias }
    }
}

pub(super) struct WeightedSquares {
    name: &'static str,
    weights: Weights,
    solver: Solver,
    item_bias: bool,
}

/// The rows of a table with a number more.
fn with_number(table: &Matrix, number: f32) -> Matrix {
    let values = table.values.chunks_exact(table.dim).flat_map(|row| row.iter().copied().chain([number])).collect();
    Matrix { rows: table.rows, dim: table.dim + 1, values }
}

impl LeastSquares for WeightedSquares {
    fn name(&self) -> &'static str {
        self.name
    }

    fn half_sweep(&self, side: SolvedSide, pass: Pass) -> Option<f64> {
        let (weights, others, train) = (self.weights, pass.fixed.rows, pass.positives.len() as f64);
        let (moved, of_fixed) = (pass.moved.rows, pass.positives_of_fixed);
        let shared = Moments::gram_by_floats(pass.fixed);
        let of_others = als::squared_norms(pass.fixed, |row| weights.ridge(of_fixed.row(row).len(), moved));
        let terms = |positives: usize| Terms {
            gram: weights.unobserved,
            ridge: weights.ridge(positives, others),
            target: weights.target,
            offset: 0.0,
        };
        // The ones of users are no numbers of theirs, and have no penalty.
        let (of_users, items) = if side == SolvedSide::Users { (pass.positives, others) } else { (of_fixed, moved) };
        let of_ones = || (0..of_users.users()).map(|user| weights.ridge(of_users.row(user).len(), items)).sum();
        let of_ones: f64 = if self.item_bias { of_ones() } else { 0.0 };
        let least = match self.item_bias && side == SolvedSide::Users {
            true => rows::solve_beside_one(pass, self.solver, &shared, terms)?,
            false => rows::solve(pass, self.solver, &shared, terms)?,
        };
        Some(weights.scale * (least + of_others - of_ones) / train + weights.constant)
    }
}

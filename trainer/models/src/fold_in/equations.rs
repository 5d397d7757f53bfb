//! Users by linear equations in the items of their histories: those of a model's objective, or of a ridge regression.

use crate::{
    Error, Result,
    als::{LeastSquares, Moments, Pass, SolvedSide, Solver, rows, squared_norms},
};
use dataset::Interactions;
use embeddings::Prepared;
use vectors::{Matrix, Similarity};

/// The equations of a user, by a model's objective.
pub struct Equations(pub(crate) Box<dyn LeastSquares>);

impl Equations {
    /// The equations of an objective.
    pub(super) fn new(model: impl LeastSquares + 'static) -> Self {
        Self(Box::new(model))
    }
}

/// Users by the equations of a model's objective.
pub(crate) fn solved(model: &dyn LeastSquares, items: &Matrix, histories: &Interactions) -> Result<Matrix> {
    let mut users = Matrix { rows: histories.users(), dim: items.dim, values: vec![0.0; histories.users() * items.dim] };
    let of_items = histories.transpose(items.rows);
    let pass = Pass { moved: &mut users, fixed: items, positives: histories, positives_of_fixed: &of_items };
    model
        .half_sweep(SolvedSide::Users, pass)
        .ok_or_else(|| {
            let words = "the equations of a history have no solution that floats can hold: the penalty on users' vectors is too small, give a larger one";
            Error::Impossible(format!("{}: {words}", model.name()))
        })?;
    Ok(users)
}

/// Users by a ridge regression on the items, or by their mean where scores are distances.
pub(crate) fn by_ridge(items: &Matrix, similarity: Similarity, histories: &Interactions, ridge: f64) -> Result<Matrix> {
    let regression = |items: &Matrix| solved(&Ridge(ridge * squared_norms(items, |_| 1.0) / items.rows as f64), items, histories);
    match similarity {
        Similarity::Dot => regression(items),
        Similarity::Cosine => {
            let mut units = Prepared::default();
            units.all_rows(items, similarity);
            regression(&Matrix { values: units.vectors(&items.values).to_vec(), ..*items })
        }
        Similarity::NegativeSquaredDistance => Ok(means(items, histories)),
    }
}

fn means(items: &Matrix, histories: &Interactions) -> Matrix {
    let mean = |user: usize| {
        let ids = histories.row(user);
        (0..items.dim).map(move |at| ids.iter().map(|&id| items.row(id as usize)[at]).sum::<f32>() / ids.len().max(1) as f32)
    };
    Matrix { rows: histories.users(), dim: items.dim, values: (0..histories.users()).flat_map(mean).collect() }
}

/// The regression of 1 on a history's items, with this penalty.
struct Ridge(f64);

impl LeastSquares for Ridge {
    fn name(&self) -> &'static str {
        "ridge regression"
    }

    fn half_sweep(&self, _side: SolvedSide, pass: Pass) -> Option<f64> {
        let dim = pass.fixed.dim;
        let nothing = Moments { gram: vec![0.0; dim * dim], sum: vec![0.0; dim] };
        rows::solve(pass, Solver::default(), &nothing, |_| rows::Terms { gram: 0.0, ridge: self.0, target: 1.0, offset: 0.0 })
    }
}

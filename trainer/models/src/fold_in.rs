//! Users that a model has not seen, scored from their histories.
//!
//! A model's items stay as they are. What depends on a history alone needs nothing more; a model by alternating least squares solves a user's equations once;
//! other vectors come from a ridge regression of 1 on the items of the history:
//!
//! ```text
//! p = argmin sum over history of (1 - p . q_i)² + ridge c |p|²      c: the mean of |q|² over all items
//! ```
//! q are unit vectors where scores are cosines; where they are distances, p is the mean of the history. The penalty is in units of the items, so that a
//! model's scale does not matter; a large one makes p the sum of the history's items.

use super::{
    Backbone,
    als::{LeastSquares, Moments, Pass, Side, Solver, rows, squared_norms},
    stored::Stored,
};
use crate::{Error, Result};
use dataset::Interactions;
use embeddings::Prepared;
use evaluator::Scorer;
use vectors::{Matrix, Similarity};

/// How a model scores users that it has not seen.
pub enum FoldIn {
    /// The model's weights score a history as they are.
    History,
    /// All users have the same vector.
    Everyone,
    /// A user's vector solves the equations of the model's objective.
    LeastSquares(Equations),
    /// A user's vector comes from a ridge regression on the items of the history.
    Ridge,
    /// The model cannot score users that it has not seen, for a reason that follows "as".
    Unknown(&'static str),
}

/// The weight of the ridge regression where none is asked for.
pub const RIDGE: f64 = 10.0;

/// Users that a model has not seen, among those that it has.
#[derive(Clone, Copy, Debug)]
pub struct NewUsers<'a> {
    /// The dense id of each user of the model.
    pub of_model: &'a [u32],
    /// The dense id of each new user: all others below the number of both.
    pub new: &'a [u32],
    /// The new users' histories, in their order: dense item ids.
    pub histories: &'a Interactions,
}

/// The equations of a user, by a model's objective.
pub struct Equations(Box<dyn LeastSquares>);

impl FoldIn {
    /// Folds in by the equations of an objective.
    pub(super) fn by(model: impl LeastSquares + 'static) -> Self {
        Self::LeastSquares(Equations(Box::new(model)))
    }

    /// What a model does that says nothing of its own.
    pub(super) fn of(stored: Stored) -> Self {
        match stored {
            Stored::Vectors { .. } => Self::Ridge,
            Stored::ItemWeights | Stored::NearestItems { .. } | Stored::ItemsTogether => Self::History,
            Stored::Histories { .. } => Self::Unknown("a user's vector is a state of its network, which is not stored"),
            Stored::Network { .. } => Self::Unknown("its network scores vectors that training alone gives users"),
            Stored::NearestUsers { .. } => Self::Unknown("it stores the neighbours of its own users"),
            Stored::Lists { .. } => Self::Unknown("it has lists of its own users alone"),
        }
    }

    /// The way in words, for docs/kinds.md.
    pub fn words(&self) -> &'static str {
        match self {
            Self::History => "exactly",
            Self::Everyone => "as everyone",
            Self::LeastSquares(_) => "exactly, by the user's equations",
            Self::Ridge => "by ridge regression",
            Self::Unknown(_) => "not",
        }
    }

    /// What is said of a model that cannot score new users.
    pub fn refusal(reason: &str) -> String {
        format!(
            "this model cannot score users that it was not trained with, as {reason}; take another model, such as ease, item-knn, ials or mf \
             (docs/kinds.md says which can)"
        )
    }
}

impl Backbone {
    /// The model with a user for each of the histories, whose rows are dense item ids, in place of its own users. `ridge` is the weight of the ridge
    /// regression, above 0.
    ///
    /// # Errors
    /// [`Error::Impossible`] for a model that cannot score users it has not seen, and for equations without a solution.
    pub fn fold_in(&self, scorer: Scorer, histories: &Interactions, ridge: f64) -> Result<Scorer> {
        match (self.how_to_fold_in(), scorer) {
            (FoldIn::History, scorer) => Ok(scorer),
            (FoldIn::Everyone, Scorer::Factors { users, items, similarity }) => {
                let values = (0..histories.users()).flat_map(|_| users.row(0)).copied().collect();
                Ok(Scorer::Factors { users: Matrix { rows: histories.users(), dim: users.dim, values }, items, similarity })
            }
            (FoldIn::LeastSquares(Equations(model)), Scorer::Factors { items, similarity, .. }) => {
                Ok(Scorer::Factors { users: solved(&*model, &items, histories)?, items, similarity })
            }
            (FoldIn::Ridge, Scorer::Factors { items, similarity, .. }) => {
                Ok(Scorer::Factors { users: by_ridge(&items, similarity, histories, ridge)?, items, similarity })
            }
            (FoldIn::Unknown(reason), _) => Err(Error::Impossible(FoldIn::refusal(reason))),
            (FoldIn::Everyone | FoldIn::LeastSquares(_) | FoldIn::Ridge, _) => {
                Err(Error::Impossible(FoldIn::refusal("what is stored of it has no vectors of users and items")))
            }
        }
    }

    /// The model with new users among its own: the dense ids of all of them are the numbers from 0. `ridge` is as for [`fold_in`](Self::fold_in).
    ///
    /// # Errors
    /// As for [`fold_in`](Self::fold_in).
    pub fn with_new_users(&self, scorer: Scorer, users: NewUsers<'_>, ridge: f64) -> Result<Scorer> {
        let own = if let Scorer::Factors { users, .. } = &scorer { Some(users.clone()) } else { None };
        match (self.fold_in(scorer, users.histories, ridge)?, own) {
            (Scorer::Factors { users: folded, items, similarity }, Some(own)) => {
                Ok(Scorer::Factors { users: among(&own, &folded, users), items, similarity })
            }
            (by_history, _) => Ok(by_history),
        }
    }
}

/// The rows of both tables by their users' dense ids.
fn among(own: &Matrix, folded: &Matrix, users: NewUsers<'_>) -> Matrix {
    let (rows, dim) = (own.rows + folded.rows, own.dim);
    let mut values = vec![0.0; rows * dim];
    for (table, ids) in [(own, users.of_model), (folded, users.new)] {
        for (row, &user) in ids.iter().enumerate() {
            values[user as usize * dim..][..dim].copy_from_slice(table.row(row));
        }
    }
    Matrix { rows, dim, values }
}

/// Users by the equations of a model's objective.
fn solved(model: &dyn LeastSquares, items: &Matrix, histories: &Interactions) -> Result<Matrix> {
    let mut users = Matrix { rows: histories.users(), dim: items.dim, values: vec![0.0; histories.users() * items.dim] };
    let of_items = histories.transpose(items.rows);
    let pass = Pass { moved: &mut users, fixed: items, positives: histories, positives_of_fixed: &of_items };
    model
        .half_sweep(Side::Users, pass)
        .ok_or_else(|| Error::Impossible(format!("{}: the equations of a history have no solution that floats can hold", model.name())))?;
    Ok(users)
}

fn by_ridge(items: &Matrix, similarity: Similarity, histories: &Interactions, ridge: f64) -> Result<Matrix> {
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

    fn half_sweep(&self, _side: Side, pass: Pass) -> Option<f64> {
        let dim = pass.fixed.dim;
        let nothing = Moments { gram: vec![0.0; dim * dim], sum: vec![0.0; dim] };
        rows::solve(pass, Solver::default(), &nothing, |_| rows::Terms { gram: 0.0, ridge: self.0, target: 1.0, offset: 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Popularity;
    use super::*;
    use testing::dataset_of;

    const ITEMS: [f32; 8] = [0.5, 1.0, -1.0, 0.25, 2.0, -0.5, 0.75, 0.0];

    fn items() -> Matrix {
        Matrix { rows: 4, dim: 2, values: ITEMS.to_vec() }
    }

    fn histories(pairs: &[(u32, u32)]) -> Interactions {
        Interactions::from_pairs(3, pairs.iter().copied())
    }

    fn factors(similarity: Similarity) -> Scorer {
        Scorer::Factors { users: Matrix { rows: 9, dim: 2, values: vec![7.0; 18] }, items: items(), similarity }
    }

    fn mf() -> Backbone {
        serde_json::from_value(serde_json::json!({"mf": {"dim": 2, "init": {"normal": {"std": 1.0}}}})).unwrap()
    }

    fn users(scorer: &Scorer) -> &[f32] {
        match scorer {
            Scorer::Factors { users, .. } => &users.values,
            _ => panic!("no vectors"),
        }
    }

    #[track_caller]
    fn assert_close(found: &[f32], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
        }
    }

    /// NumPy: `solve(X.T @ X + 0.5 * (V**2).sum(1).mean() * eye(2), X.sum(0))`, of the items 0 and 2 and of item 1, and of unit vectors; the last user has no item.
    #[test]
    fn vectors_come_from_a_ridge_regression() {
        let pairs = histories(&[(0, 0), (0, 2), (1, 1)]);
        assert_close(users(&mf().fold_in(factors(Similarity::Dot), &pairs, 0.5).unwrap()), &DOT);
        assert_close(users(&mf().fold_in(factors(Similarity::Cosine), &pairs, 0.5).unwrap()), &COSINE);
        let distance = mf().fold_in(factors(Similarity::NegativeSquaredDistance), &pairs, 0.5).unwrap();
        assert_close(users(&distance), &[1.25, 0.25, -1.0, 0.25, 0.0, 0.0]);
    }

    const DOT: [f64; 6] = [0.520_874_480_692, 0.355_240_754_614, -0.512, 0.128, 0.0, 0.0];
    const COSINE: [f64; 6] = [0.825_517_474_625, 0.379_684_315_69, -0.646_761_666_764, 0.161_690_416_691, 0.0, 0.0];

    /// A user of train has the vector that the model would solve for it; its equations do not ask what the other users are.
    #[test]
    fn alternating_least_squares_solves_a_history_as_it_solves_its_users() {
        let dataset = super::super::als::testing::random([40, 30], 500);
        for model in ["ials", "wrmf", "rg2", "rgx"] {
            let extra = if model == "wrmf" { serde_json::json!({"alpha": 4.0}) } else { serde_json::json!({}) };
            let mut values = serde_json::json!({"dim": 4, "regularization": 0.05});
            values.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            let backbone: Backbone = serde_json::from_value(serde_json::json!({ model: values })).unwrap();
            let mut training = backbone.iterative().unwrap().start(&dataset, 3).unwrap();
            training.epoch(1).unwrap();
            let before = training.scorer().unwrap();
            // The next epoch solves users from these very items, and then moves the items.
            let mut again = backbone.iterative().unwrap().start(&dataset, 3).unwrap();
            again.epoch(1).unwrap();
            again.epoch(2).unwrap();
            let folded = backbone.fold_in(before, &dataset.train, 1.0).unwrap();
            let expected: Vec<f64> = users(&again.scorer().unwrap()).iter().map(|&value| f64::from(value)).collect();
            let found = users(&folded);
            let worst = found.iter().zip(&expected).map(|(found, expected)| (f64::from(*found) - expected).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-5, "{model}: {worst}");
        }
    }

    #[test]
    fn weights_score_a_history_and_popularity_everyone() {
        let dataset = dataset_of([3, 4], &[(0, 0), (0, 1), (1, 1), (2, 3)]);
        let ease: Backbone = serde_json::from_value(serde_json::json!({"ease": {"regularization": 1.0}})).unwrap();
        let scorer = ease.closed_form().unwrap().fit(&dataset, 1 << 20).unwrap();
        assert_eq!(ease.fold_in(scorer.clone(), &dataset.train, 1.0).unwrap(), scorer);
        let popular = Backbone::Popularity(Popularity {});
        let scorer = popular.closed_form().unwrap().fit(&dataset, 1 << 20).unwrap();
        let folded = popular.fold_in(scorer, &Interactions::from_pairs(5, std::iter::empty()), 1.0).unwrap();
        assert_eq!(users(&folded), [1.0; 5]);
    }

    /// The vectors of [`vectors_come_from_a_ridge_regression`] for users 1 and 3, and the model's own for users 0 and 2.
    #[test]
    fn new_users_stand_among_those_of_the_model() {
        let own = Matrix { rows: 2, dim: 2, values: vec![7.0, 8.0, 9.0, 10.0] };
        let scorer = Scorer::Factors { users: own, items: items(), similarity: Similarity::Dot };
        let histories = Interactions::from_pairs(2, [(0, 0), (0, 2), (1, 1)].into_iter());
        let new = NewUsers { of_model: &[0, 2], new: &[1, 3], histories: &histories };
        let expected = [[7.0, 8.0], [DOT[0], DOT[1]], [9.0, 10.0], [DOT[2], DOT[3]]].concat();
        assert_close(users(&mf().with_new_users(scorer, new, 0.5).unwrap()), &expected);
    }

    #[test]
    fn what_cannot_fold_in_says_so() {
        let neighbours: Backbone = serde_json::from_value(serde_json::json!({"user-knn": {"neighbours": 2}})).unwrap();
        let message = neighbours.fold_in(factors(Similarity::Dot), &histories(&[]), 1.0).unwrap_err().to_string();
        assert!(
            message.starts_with(
                "this model cannot score users that it was not trained with, as it stores the neighbours of its own users; take another"
            ),
            "{message}"
        );
        let vae: Backbone = serde_json::from_value(serde_json::json!({"mult-vae": {}})).unwrap();
        assert!(vae.fold_in(factors(Similarity::Dot), &histories(&[]), 1.0).is_err());
    }
}

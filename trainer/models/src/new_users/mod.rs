//! Users that a model has not seen, scored from their histories.
//!
//! A model's items stay as they are. What depends on a history alone needs nothing more; a model by alternating least squares solves a user's equations once (`fold_in/equations.rs`);
//! a network makes a user's vector as it makes those of its own users, who may be attached to its train graph (`forward.rs`); other vectors come from a ridge regression of 1 on
//! the items of the history:
//!
//! ```text
//! p = argmin sum over history of (1 - p . q_i)² + ridge c |p|²      c: the mean of |q|² over all items
//! ```
//! q are unit vectors where scores are cosines; where they are distances, p is the mean of the history. The penalty is in units of the items, so that a
//! model's scale does not matter; a large one makes p the sum of the history's items.

mod forward;
mod users;

pub use users::NewUsers;

use super::{
    Backbone,
    fold_in::{Equations, FoldIn, by_ridge, solved},
    kind::Learned,
    parameters::NamedMatrices,
};
use crate::{Error, Result};
use embeddings::Tables;
use evaluator::{Factors, Histories, Scorer};
use serde::{Deserialize, Serialize};
use vectors::Matrix;

/// The weight of the ridge regression where none is asked for.
pub const RIDGE: f64 = 10.0;

/// How users come to a model over the train graph that has not seen them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NewNodes {
    /// By edges from their items alone: what train knows stays as it is, and users do not reach each other.
    #[default]
    Attach,
    /// By edges in both directions, as if their histories were train: all of them change the vectors of items, and of each other.
    Joint,
}

/// What may be chosen where users are folded in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoldInSettings {
    /// The weight of a ridge regression's penalty, above 0.
    pub ridge: f64,
    /// How users come to a train graph.
    pub nodes: NewNodes,
}

impl Default for FoldInSettings {
    fn default() -> Self {
        Self { ridge: RIDGE, nodes: NewNodes::Attach }
    }
}

/// A trained model as it is ranked, and as it was trained.
pub struct Trained<'a> {
    /// The model as it is ranked.
    pub scorer: Scorer,
    /// The model's parameters; nothing where [`FoldIn::keeps_parameters`] is false.
    pub parameters: NamedMatrices<'a>,
}

impl Backbone {
    /// The model with new users in place of its own, or of all users of [`NewUsers::dataset`] where it scores by their neighbours.
    ///
    /// # Errors
    /// [`Error::Impossible`] for a model that cannot score users it has not seen, for parameters that were not kept, and for equations without a solution.
    pub fn fold_in(&self, model: Trained<'_>, users: &NewUsers<'_>, settings: FoldInSettings) -> Result<Scorer> {
        self.check_parameters(&model)?;
        if let Some(Factors { users: all, items, similarity }) = self.joined(&model, users, settings)? {
            return Ok(Factors { users: rows_of(&all, &users.new), items, similarity }.into());
        }
        let (way, histories) = (self.how_to_fold_in(), &users.histories);
        let (items, similarity) = match (&way, model.scorer) {
            (FoldIn::Unknown(reason), _) => return Err(Error::Impossible(FoldIn::refusal(reason))),
            (FoldIn::History, scorer) => return Ok(scorer),
            (FoldIn::Neighbours(nearest), scorer) => {
                drop(scorer); // before its successor takes as much
                return Ok(nearest.among(users.dataset()));
            }
            (_, Scorer::Factors(Factors { items, similarity, .. }) | Scorer::Histories(Histories { items, similarity, .. })) => {
                (items, similarity)
            }
            _ => return Err(Error::Impossible(FoldIn::refusal("what is stored of it has no vectors of users and items"))),
        };
        let users = match way {
            FoldIn::WithoutHistory(vectors) => vectors(histories.users()),
            FoldIn::LeastSquares(Equations(model)) => solved(&*model, &items, histories)?,
            FoldIn::Encoder(encoder) => encoder.encode(&model.parameters, histories)?,
            FoldIn::Forward(_) | FoldIn::Attached => forward::users(self.forward_pass(), &model.parameters, users)?,
            FoldIn::Ridge => by_ridge(&items, similarity, histories, settings.ridge)?,
            FoldIn::History | FoldIn::Neighbours(_) | FoldIn::Unknown(_) => unreachable!("they have no vector for each user"),
        };
        Ok(Factors { users, items, similarity }.into())
    }

    /// The model with new users among its own: the dense ids of all of them are those of the dataset that the new users come with.
    ///
    /// # Errors
    /// As for [`fold_in`](Self::fold_in).
    pub fn with_new_users(&self, model: Trained<'_>, users: &NewUsers<'_>, settings: FoldInSettings) -> Result<Scorer> {
        self.check_parameters(&model)?;
        if let Some(all) = self.joined(&model, users, settings)? {
            return Ok(all.into());
        }
        let own = if let Scorer::Factors(Factors { users, .. }) = &model.scorer { Some(users.clone()) } else { None };
        match (self.fold_in(model, users, settings)?, own) {
            (Scorer::Factors(Factors { users: folded, items, similarity }), Some(own)) => {
                Ok(Factors { users: among(&own, &folded, users), items, similarity }.into())
            }
            (by_history, _) => Ok(by_history),
        }
    }

    /// That what was stored of a model has all that folding in needs.
    fn check_parameters(&self, model: &Trained<'_>) -> Result<()> {
        match self.how_to_fold_in().keeps_parameters() && model.parameters.is_empty() {
            true => Err(Error::Impossible(WITHOUT_PARAMETERS.to_owned())),
            false => Ok(()),
        }
    }

    /// The vectors of all users and of all items, where new users join a train graph; none where they come to the model otherwise.
    fn joined(&self, model: &Trained<'_>, users: &NewUsers<'_>, settings: FoldInSettings) -> Result<Option<Factors>> {
        match (self.how_to_fold_in(), settings.nodes, &model.scorer) {
            (
                FoldIn::Attached,
                NewNodes::Joint,
                &(Scorer::Factors(Factors { similarity, .. }) | Scorer::Histories(Histories { similarity, .. })),
            ) => {
                let Tables { users, items } = forward::joint(self.forward_pass(), &model.parameters, users)?;
                Ok(Some(Factors { users, items, similarity }))
            }
            _ => Ok(None),
        }
    }

    /// The model whose forward pass makes users' vectors.
    fn forward_pass(&self) -> &dyn Learned {
        self.learned().expect("a forward pass is that of a model that learns by gradients")
    }
}

/// Some rows of a matrix.
fn rows_of(matrix: &Matrix, rows: &[u32]) -> Matrix {
    let values = rows.iter().flat_map(|&row| matrix.row(row as usize)).copied().collect();
    Matrix { rows: rows.len(), dim: matrix.dim, values }
}

/// What is said where the parameters of a model are missing.
const WITHOUT_PARAMETERS: &str = "the checkpoint has no parameters, by which this model folds users in: it was stored before checkpoints had them; \
                                  delete the trial's folder to train it again";

/// The rows of both tables by their users' dense ids.
fn among(own: &Matrix, folded: &Matrix, users: &NewUsers<'_>) -> Matrix {
    let (rows, dim) = (own.rows + folded.rows, own.dim);
    let mut values = vec![0.0; rows * dim];
    for (table, ids) in [(own, &users.of_model), (folded, &users.new)] {
        for (row, &user) in ids.iter().enumerate() {
            values[user as usize * dim..][..dim].copy_from_slice(table.row(row));
        }
    }
    Matrix { rows, dim, values }
}

#[cfg(test)]
mod tests {
    use super::super::Popularity;
    use super::*;
    use dataset::Interactions;
    use testing::dataset_of;
    use vectors::Similarity;

    const ITEMS: [f32; 8] = [0.5, 1.0, -1.0, 0.25, 2.0, -0.5, 0.75, 0.0];

    fn items() -> Matrix {
        Matrix { rows: 4, dim: 2, values: ITEMS.to_vec() }
    }

    /// Three users who come to nine.
    fn histories(pairs: &[(u32, u32)]) -> NewUsers<'static> {
        NewUsers::beside(
            dataset_of([9, 4], &[]),
            vec![String::new(); 3],
            &Interactions::from_pairs(3, pairs.iter().copied()),
            vec![0; pairs.len()],
        )
    }

    fn of(scorer: Scorer) -> Trained<'static> {
        Trained { scorer, parameters: Vec::new() }
    }

    fn factors(similarity: Similarity) -> Scorer {
        Scorer::Factors(Factors { users: Matrix { rows: 9, dim: 2, values: vec![7.0; 18] }, items: items(), similarity })
    }

    fn ridge(ridge: f64) -> FoldInSettings {
        FoldInSettings { ridge, ..FoldInSettings::default() }
    }

    fn mf() -> Backbone {
        serde_json::from_value(serde_json::json!({"mf": {"dim": 2, "init": {"normal": {"std": 1.0}}}})).unwrap()
    }

    fn users(scorer: &Scorer) -> &[f32] {
        match scorer {
            Scorer::Factors(Factors { users, .. }) => &users.values,
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
        assert_close(users(&mf().fold_in(of(factors(Similarity::Dot)), &pairs, ridge(0.5)).unwrap()), &DOT);
        assert_close(users(&mf().fold_in(of(factors(Similarity::Cosine)), &pairs, ridge(0.5)).unwrap()), &COSINE);
        let distance = mf().fold_in(of(factors(Similarity::NegativeSquaredDistance)), &pairs, ridge(0.5)).unwrap();
        assert_close(users(&distance), &[1.25, 0.25, -1.0, 0.25, 0.0, 0.0]);
    }

    const DOT: [f64; 6] = [0.520_874_480_692, 0.355_240_754_614, -0.512, 0.128, 0.0, 0.0];
    const COSINE: [f64; 6] = [0.825_517_474_625, 0.379_684_315_69, -0.646_761_666_764, 0.161_690_416_691, 0.0, 0.0];

    /// A user of train has the vector that the model would solve for it; its equations do not ask what the other users are.
    #[test]
    fn alternating_least_squares_solves_a_history_as_it_solves_its_users() {
        let dataset = super::super::als::testing::random([40, 30], 500);
        for (model, extra) in [
            ("ials", serde_json::json!({})),
            ("ials", serde_json::json!({"item_bias": true})),
            ("wrmf", serde_json::json!({"alpha": 4.0})),
            ("rg2", serde_json::json!({})),
            ("rgx", serde_json::json!({})),
        ] {
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
            let new = NewUsers::beside(dataset.clone(), dataset.user_ids.clone(), &dataset.train, vec![0; dataset.train.len()]);
            let folded = backbone.fold_in(of(before), &new, ridge(1.0)).unwrap();
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
        assert_eq!(ease.fold_in(of(scorer.clone()), &histories(&[(0, 1)]), ridge(1.0)).unwrap(), scorer);
        let popular = Backbone::Popularity(Popularity {});
        let scorer = popular.closed_form().unwrap().fit(&dataset, 1 << 20).unwrap();
        let folded = popular.fold_in(of(scorer), &histories(&[]), ridge(1.0)).unwrap();
        assert_eq!(users(&folded), [1.0; 3]);
    }

    /// The vectors of [`vectors_come_from_a_ridge_regression`] for users 1 and 3, and the model's own for users 0 and 2.
    #[test]
    fn new_users_stand_among_those_of_the_model() {
        let own = Matrix { rows: 2, dim: 2, values: vec![7.0, 8.0, 9.0, 10.0] };
        let scorer = Scorer::Factors(Factors { users: own, items: items(), similarity: Similarity::Dot });
        let fold_in = Interactions::from_pairs(4, [(1, 0), (1, 2), (3, 1)].into_iter());
        let dataset = dataset::Dataset { fold_in: Some(fold_in), ..dataset_of([4, 4], &[(0, 0), (2, 1)]) };
        let (seen, new) = NewUsers::held_out(&dataset).unwrap();
        assert_eq!((seen.users(), &new.of_model[..], &new.new[..], new.histories.row(0)), (2, &[0, 2][..], &[1, 3][..], &[0, 2][..]));
        let expected = [[7.0, 8.0], [DOT[0], DOT[1]], [9.0, 10.0], [DOT[2], DOT[3]]].concat();
        assert_close(users(&mf().with_new_users(of(scorer), &new, ridge(0.5)).unwrap()), &expected);
    }

    #[test]
    fn what_cannot_fold_in_says_so() {
        let network: Backbone = serde_json::from_value(serde_json::json!({"ncf": {"dim": 2}})).unwrap();
        let message = network.fold_in(of(factors(Similarity::Dot)), &histories(&[]), ridge(1.0)).unwrap_err().to_string();
        assert!(
            message.starts_with(
                "this model cannot score users that it was not trained with, as its network scores vectors that training alone gives users; take another"
            ),
            "{message}"
        );
        let vae: Backbone = serde_json::from_value(serde_json::json!({"mult-vae": {}})).unwrap();
        let message = vae.fold_in(of(factors(Similarity::Dot)), &histories(&[]), ridge(1.0)).unwrap_err().to_string();
        assert!(message.starts_with("the checkpoint has no parameters, by which this model folds users in"), "{message}");
    }
}

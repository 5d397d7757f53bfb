//! What a trained model is to the evaluator: a rule that scores every item for a user.

mod description;
mod lists;
mod network;
mod sparse;
mod store;
mod tensors;

pub use lists::Lists;
pub use network::{Layer, Network};
pub use sparse::SparseMatrix;
pub use vectors::{Matrix, Similarity};

use dataset::Split;
use std::borrow::Cow;

/// A stored model.
#[derive(Clone, Debug, PartialEq)]
pub enum Scorer {
    /// User and item vectors and how they make a score. Popularity is one of dimension 1.
    Factors {
        /// `[users, dim]`
        users: Matrix,
        /// `[items, dim]`
        items: Matrix,
        /// How a row of each makes a score.
        similarity: Similarity,
    },
    /// Vectors as of [`Factors`](Self::Factors), with a user's vector made of its history, which is longer when test is ranked (SASRec, GRU4Rec).
    Histories {
        /// `[users, dim]`, of the histories that end before validation: of train.
        validation: Matrix,
        /// `[users, dim]`, of the histories that end before test: of train and validation.
        test: Matrix,
        /// `[items, dim]`
        items: Matrix,
        /// How a row of each makes a score.
        similarity: Similarity,
    },
    /// User and item vectors, pairs of which a small network scores (NeuMF).
    Network {
        /// `[users, dim]`
        users: Matrix,
        /// `[items, dim]`
        items: Matrix,
        /// How a row of each makes a score.
        network: Network,
    },
    /// Item-to-item weights `W [items, items]`: a user's scores are the sum of the rows of the user's train items (EASE).
    ItemWeights {
        /// `[items, items]`
        weights: Matrix,
    },
    /// Item-to-item weights most of which are zero: scores are as for [`ItemWeights`](Self::ItemWeights) (nearest items, SLIM).
    SparseItemWeights {
        /// `[items, items]`
        weights: SparseMatrix,
    },
    /// User-to-user weights: a user's scores are the sum of the train rows of the users in its row, each times the weight (nearest users).
    UserNeighbours {
        /// `[users, users]`
        weights: SparseMatrix,
        /// The number of items.
        items: usize,
    },
    /// Top-N lists, beyond which nothing was retrieved (a run of another program).
    Lists(Lists),
}

impl Scorer {
    /// What ranks a part: itself, but for [`Histories`](Self::Histories), which otherwise rank by those that end before test.
    pub fn of_part(&self, split: Split) -> Cow<'_, Self> {
        match self {
            Self::Histories { validation, items, similarity, .. } if split == Split::Validation => {
                Cow::Owned(Self::Factors { users: validation.clone(), items: items.clone(), similarity: *similarity })
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// The number of items that are scored.
    pub fn items(&self) -> usize {
        match self {
            Self::Factors { items, .. } | Self::Histories { items, .. } | Self::Network { items, .. } => items.rows,
            Self::ItemWeights { weights } => weights.rows,
            Self::SparseItemWeights { weights } => weights.rows(),
            Self::UserNeighbours { items, .. } => *items,
            Self::Lists(lists) => lists.items(),
        }
    }

    /// The number of users that can be scored; `None` where a history is all that is needed.
    pub fn users(&self) -> Option<usize> {
        match self {
            Self::Factors { users, .. } | Self::Histories { test: users, .. } | Self::Network { users, .. } => Some(users.rows),
            Self::UserNeighbours { weights, .. } => Some(weights.rows()),
            Self::Lists(lists) => Some(lists.users()),
            Self::ItemWeights { .. } | Self::SparseItemWeights { .. } => None,
        }
    }

    /// What was fitted to users and items: both sides' vectors, all weights, or the scores of lists. A network's layers are not among it.
    pub fn values(&self) -> Vec<f32> {
        match self {
            Self::Factors { users, items, .. } | Self::Network { users, items, .. } => [&*users.values, &*items.values].concat(),
            Self::Histories { validation, test, items, .. } => [&*validation.values, &*test.values, &*items.values].concat(),
            Self::ItemWeights { weights } => weights.values.clone(),
            Self::SparseItemWeights { weights } | Self::UserNeighbours { weights, .. } => weights.values().to_vec(),
            Self::Lists(lists) => lists.all_scores().iter().map(|&score| score as f32).collect(),
        }
    }

    /// The dense tensors by the names that they have in a checkpoint.
    fn tensors(&self) -> Vec<(String, &Matrix)> {
        let sides = |users, items| vec![("users".to_owned(), users), ("items".to_owned(), items)];
        match self {
            Self::Factors { users, items, .. } => sides(users, items),
            Self::Histories { validation, test, items, .. } => {
                vec![
                    ("users_before_validation".to_owned(), validation),
                    ("users_before_test".to_owned(), test),
                    ("items".to_owned(), items),
                ]
            }
            Self::Network { users, items, network } => {
                let layers =
                    network.layers.iter().zip(1..).flat_map(|(Layer { weights, bias }, at)| {
                        [(format!("layer{at}.weights"), weights), (format!("layer{at}.bias"), bias)]
                    });
                sides(users, items).into_iter().chain(layers).collect()
            }
            Self::ItemWeights { weights } => vec![("weights".to_owned(), weights)],
            Self::SparseItemWeights { .. } | Self::UserNeighbours { .. } | Self::Lists(_) => Vec::new(),
        }
    }

    /// The sparse table, where it is one.
    fn sparse(&self) -> Option<&SparseMatrix> {
        match self {
            Self::SparseItemWeights { weights } | Self::UserNeighbours { weights, .. } => Some(weights),
            Self::Factors { .. } | Self::Histories { .. } | Self::Network { .. } | Self::ItemWeights { .. } | Self::Lists(_) => None,
        }
    }

    /// The lists, where it is some.
    fn lists(&self) -> Option<&Lists> {
        if let Self::Lists(lists) = self { Some(lists) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_ranked_by_the_histories_before_it() {
        let matrix = |value: f32| Matrix { rows: 1, dim: 1, values: vec![value] };
        let similarity = Similarity::Cosine;
        let scorer = Scorer::Histories { validation: matrix(1.0), test: matrix(2.0), items: matrix(3.0), similarity };
        let before_validation = Scorer::Factors { users: matrix(1.0), items: matrix(3.0), similarity };
        assert_eq!(*scorer.of_part(Split::Validation), before_validation);
        assert_eq!(*scorer.of_part(Split::Test), scorer);
        assert_eq!(*before_validation.of_part(Split::Validation), before_validation);
    }
}

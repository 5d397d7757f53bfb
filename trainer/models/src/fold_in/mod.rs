//! How models score users that they have not seen, from their histories.

mod equations;

pub use equations::Equations;
pub(crate) use equations::{by_ridge, solved};

use super::{als::LeastSquares, parameters::NamedMatrices, stored::Stored};
use crate::Result;
use dataset::{Dataset, Interactions};
use evaluator::Scorer;
use vectors::Matrix;

/// How a model scores users that it has not seen.
pub enum FoldIn {
    /// The model's weights score a history as they are.
    History,
    /// A history does not change how a user is scored: the vectors of so many new users.
    WithoutHistory(Box<dyn Fn(usize) -> Matrix>),
    /// A user's vector solves the equations of the model's objective.
    LeastSquares(Equations),
    /// A user's vector comes from a ridge regression on the items of the history.
    Ridge,
    /// A user's vector comes out of the model's own forward pass, over a dataset in which the user has a history to fold in, and from zeros where its own users have parameters; how
    /// that is, in words.
    Forward(&'static str),
    /// As [`Forward`](Self::Forward), over a graph that the users come to by [`NewNodes`](crate::NewNodes).
    Attached,
    /// Users of the model who are near by the history stand in for the user.
    Neighbours(Box<dyn NearestUsers>),
    /// An encoder makes a user's vector of the history.
    Encoder(Box<dyn HistoryEncoder>),
    /// The model cannot score users that it has not seen, for a reason that follows "as".
    Unknown(&'static str),
}

/// What makes a user's vector of a history, by a model's parameters.
pub trait HistoryEncoder {
    /// A vector for each history, `[histories, dim]`.
    ///
    /// # Errors
    /// [`Error::Impossible`](crate::Error::Impossible) for parameters that are not the model's.
    fn encode(&self, parameters: &NamedMatrices<'_>, histories: &Interactions) -> Result<Matrix>;
}

/// What scores users by those of the model that are near them.
pub trait NearestUsers {
    /// The model for all users of a dataset, whose neighbours are users with train interactions: also those of users who have a history to fold in instead.
    fn among(&self, dataset: &Dataset) -> Scorer;
}

impl FoldIn {
    /// Users make no difference: each has the vector `[1]`, and an item's one number is its score.
    pub(super) fn by_items_alone() -> Self {
        Self::WithoutHistory(Box::new(|users| Matrix { rows: users, dim: 1, values: vec![1.0; users] }))
    }

    /// Folds in by the equations of an objective.
    pub(super) fn by(model: impl LeastSquares + 'static) -> Self {
        Self::LeastSquares(Equations::new(model))
    }

    /// Attaches to the train graph what so many layers propagate over; without layers nothing comes from a history by the graph, and vectors are those of tables.
    pub(super) fn attached(layers: u32) -> Self {
        if layers == 0 { Self::Ridge } else { Self::Attached }
    }

    /// What a model does that says nothing of its own.
    pub(super) fn of(stored: Stored) -> Self {
        match stored {
            Stored::Vectors { .. } => Self::Ridge,
            Stored::ItemWeights | Stored::NearestItems { .. } | Stored::ItemsTogether => Self::History,
            Stored::Histories { .. } => Self::Forward("exactly, by its network"),
            Stored::Network { .. } => Self::Unknown("its network scores vectors that training alone gives users"),
            Stored::NearestUsers { .. } | Stored::Lists { .. } => Self::Unknown("it has lists of its own users alone"),
        }
    }

    /// The way in words, for docs/kinds.md.
    pub fn words(&self) -> &'static str {
        match self {
            Self::History => "exactly",
            Self::WithoutHistory(_) => "as everyone",
            Self::LeastSquares(_) => "exactly, by the user's equations",
            Self::Ridge => "by ridge regression",
            Self::Forward(words) => words,
            Self::Attached => "attached to the train graph",
            Self::Neighbours(_) => "exactly, by the nearest users of train",
            Self::Encoder(_) => "exactly, by its encoder",
            Self::Unknown(_) => "not",
        }
    }

    /// Whether the model's parameters are needed, which a checkpoint keeps beside what is ranked then.
    pub fn keeps_parameters(&self) -> bool {
        matches!(self, Self::Forward(_) | Self::Attached | Self::Encoder(_))
    }

    /// What is said of a model that cannot score new users.
    pub fn refusal(reason: &str) -> String {
        format!(
            "this model cannot score users that it was not trained with, as {reason}; take another model, such as ease, item-knn, ials or mf \
             (docs/kinds.md says which can)"
        )
    }
}

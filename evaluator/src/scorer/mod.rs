//! What a trained model is to the evaluator: a rule that scores every item for a user.
//!
//! A kind of scorer is a file: what it holds, its place in a checkpoint (`kind.rs`), and which loops score with it (`scores/`).

mod checkpoint;
mod factors;
mod histories;
mod item_weights;
mod kind;
mod lists;
mod network;
pub(crate) mod scores;
mod sparse_item_weights;
mod sparse_matrix;
mod tanh_layer;
mod tensors;
mod user_neighbours;

pub use factors::Factors;
pub use histories::Histories;
pub use item_weights::ItemWeights;
pub use kind::ScorerKind;
pub use lists::Lists;
pub use network::{Layer, Network};
pub use sparse_item_weights::SparseItemWeights;
pub use sparse_matrix::SparseMatrix;
pub use tanh_layer::TanhLayer;
pub use user_neighbours::UserNeighbours;
pub use vectors::{Matrix, Similarity};

use dataset::Split;
use kind::Stored;
use safetensors::tensor::TensorView;
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, ops::Deref};
use tensors::Tensors;

/// Makes the enum of all scorers, and that of their sizes in `scorer.json`, whose key is the scorer's name in kebab-case.
macro_rules! scorers {
    ($($(#[$words:meta])* $scorer:ident,)+) => {
        /// A stored model. What can be asked of it is [`ScorerKind`].
        #[derive(Clone, Debug, PartialEq)]
        pub enum Scorer {
            $($(#[$words])* $scorer($scorer),)+
        }

        /// The sizes of a scorer.
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum Sizes {
            $($scorer(<$scorer as Stored>::Sizes),)+
        }

        impl Deref for Scorer {
            type Target = dyn ScorerKind;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$scorer(scorer) => scorer,)+
                }
            }
        }

        impl Scorer {
            fn sizes(&self) -> Sizes {
                match self {
                    $(Self::$scorer(scorer) => Sizes::$scorer(scorer.sizes()),)+
                }
            }

            fn tensors(&self) -> Vec<(String, TensorView<'_>)> {
                match self {
                    $(Self::$scorer(scorer) => scorer.tensors(),)+
                }
            }

            fn of_sizes(sizes: Sizes, tensors: &Tensors<'_>) -> Result<Self, String> {
                Ok(match sizes {
                    $(Sizes::$scorer(sizes) => Self::$scorer($scorer::read(sizes, tensors)?),)+
                })
            }
        }

        $(impl From<$scorer> for Scorer {
            fn from(scorer: $scorer) -> Self {
                Self::$scorer(scorer)
            }
        })+
    };
}

scorers! {
    /// Vectors of users and items.
    Factors,
    /// Vectors of users' histories, and of items.
    Histories,
    /// Vectors, pairs of which a small network scores.
    Network,
    /// Vectors, pairs of which one layer of tanh scores.
    TanhLayer,
    /// Item-to-item weights.
    ItemWeights,
    /// Item-to-item weights, most of which are zero.
    SparseItemWeights,
    /// User-to-user weights.
    UserNeighbours,
    /// Top-N lists.
    Lists,
}

impl Scorer {
    /// What ranks a part: itself, but where users have other vectors before validation than before test.
    pub fn of_part(&self, split: Split) -> Cow<'_, Self> {
        let other = if split == Split::Validation { self.before_validation() } else { None };
        other.map_or(Cow::Borrowed(self), Cow::Owned)
    }
}

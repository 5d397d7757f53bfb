//! Models: parameters to user and item vectors, or to item-to-item weights.
//!
//! `kind.rs` says what each kind of model has to give. One that learns by a loss is its parameters, two tables and named weights
//! ([`parameters`]), and an [`Encoder`](encoder::Encoder), which makes vectors of them and gradients of gradients. A forward pass in candle's operations implements `Forward`
//! (`autograd.rs`) and no more: it is given the step, for noise that is keyed (`noise.rs`), and may add a loss of its own. The train graph is an operation of candle,
//! with constant weights (`graph/adjacency.rs`) or with those that a model gives its edges (`graph/edges.rs`); convolutions with learned layers share `stack.rs`. `mf`,
//! `light-gcn` and the contrastive models (`contrast/`) are written by hand, and held against their formulas. Models of histories in order (`sequence/`, `sequence_kind.rs`) make a
//! vector for each row of a batch in place of one for each user: they name the interactions that they predict, and a pass over a window has the states of all its prefixes. Where a network
//! scores pairs it is a [`PairNetwork`](pairs::PairNetwork).

use serde::{Deserialize, Serialize};
use std::ops::Deref;

mod als;
mod autograd;
mod by_users;
mod co_occurrence;
mod contrast;
mod deep_walk;
mod dgcf;
mod ease;
pub mod encoder;
mod enmf;
mod epochs;
mod error;
mod external;
mod facts;
mod fold_in;
mod gat;
mod gcn;
mod gin;
pub mod graph;
mod gru4rec;
mod ials;
mod item_knn;
pub mod kind;
mod light_gcn;
mod limits;
mod line;
mod lr_gccf;
mod mf;
mod mult_vae;
mod ncf;
mod nearest;
mod neu_mf;
mod new_users;
mod ngcf;
mod nia_gcn;
mod node2vec;
mod noise;
mod operations;
pub mod pairs;
pub mod parameters;
mod popularity;
pub mod pretrained;
mod random;
mod rg2;
mod rgx;
mod run;
mod sas_rec;
mod segments;
pub mod sequence;
mod sequence_kind;
mod sgl;
mod sim_gcl;
mod simplex;
mod sizes;
mod skip_gram;
mod slim;
mod stack;
mod stored;
mod tensor_size;
#[cfg(test)]
pub mod testing;
mod two_tower;
mod unlearned;
mod user_knn;
mod walks;
mod wrmf;
mod xsim_gcl;

pub use als::{Cholesky, ConjugateGradient, Solver, Subspace};
pub use autograd::{Encoded, Forward};
pub use contrast::{ContrastAgainst, ContrastIds, Noise};
pub use deep_walk::DeepWalk;
pub use dgcf::Dgcf;
pub use ease::Ease;
pub use embeddings::{Init, Normal, XavierNormal, XavierUniform};
pub use enmf::Enmf;
pub use epochs::Epochs;
pub use error::{Error, Result};
pub use external::External;
pub use facts::Facts;
pub use fold_in::{Equations, FoldIn, HistoryEncoder, NearestUsers};
pub use gat::Gat;
pub use gcn::Gcn;
pub use gin::Gin;
pub use gru4rec::Gru4Rec;
pub use ials::{Convention, Ials, Implicit, Recstudio, Rendle};
pub use item_knn::ItemKnn;
pub use kind::{BackboneKind, MeanOfLayers, PlannedFile};
pub use light_gcn::{LightGcn, UserTable};
pub use line::{Line, Order};
pub use lr_gccf::LrGccf;
pub use mf::Mf;
pub use mult_vae::MultVae;
pub use ncf::{Ncf, NcfForm};
pub use neu_mf::{Form, NeuMf};
pub use new_users::{FoldInSettings, NewNodes, NewUsers, RIDGE, Trained};
pub use ngcf::{Ngcf, Propagate};
pub use nia_gcn::NiaGcn;
pub use node2vec::Node2Vec;
pub use operations::{as_elsewhere, select_rows, sum_rows};
pub use parameters::NamedMatrices;
pub use popularity::Popularity;
pub use random::Random;
pub use rg2::Rg2;
pub use rgx::Rgx;
pub use run::Run;
pub use sas_rec::{Activation, Norm, SasRec};
pub use sequence::TargetsOf;
pub use sgl::Sgl;
pub use sim_gcl::SimGcl;
pub use simplex::Simplex;
pub use sizes::Sizes;
pub use slim::Slim;
pub use stack::Pool;
pub use stored::Stored;
pub use tensor_size::TensorSize;
pub use two_tower::TwoTower;
pub use user_knn::UserKnn;
pub use walks::ItemVectors;
pub use wrmf::Wrmf;
pub use xsim_gcl::XsimGcl;

pub use kind::Learned;
use kind::{ClosedForm, Iterative, Pretrained};

/// Makes the enum of all models. A line is a model: its words, and its settings, whose name in kebab-case, or as serde is told, is the `kind` of sweep files.
macro_rules! backbones {
    (closed_form { $($(#[$closed_words:meta])* $closed:ident,)+ } iterative { $($(#[$own_words:meta])* $own:ident,)* } learned { $($(#[$words:meta])* $learned:ident,)+ } pretrained { $($(#[$given_words:meta])* $given:ident,)+ }) => {
        /// `backbones` in a sweep file, by `kind`. What can be asked of a model is [`BackboneKind`].
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Backbone {
            $($(#[$closed_words])* $closed($closed),)+
            $($(#[$own_words])* $own($own),)*
            $($(#[$words])* $learned($learned),)+
            $($(#[$given_words])* $given($given),)+
        }

        impl Deref for Backbone {
            type Target = dyn BackboneKind;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Backbone::$closed(settings) => settings,)+
                    $(Backbone::$own(settings) => settings,)*
                    $(Backbone::$learned(settings) => settings,)+
                    $(Backbone::$given(settings) => settings,)+
                }
            }
        }

        impl Backbone {
            /// The model, where it fits without sampling.
            pub fn closed_form(&self) -> Option<&dyn ClosedForm> {
                match self {
                    $(Backbone::$closed(settings) => Some(settings),)+
                    _ => None,
                }
            }

            /// The model, where it learns in epochs towards an objective of its own.
            pub fn iterative(&self) -> Option<&dyn Iterative> {
                match self {
                    $(Backbone::$own(settings) => Some(settings),)*
                    _ => None,
                }
            }

            /// The model, where another program trained it.
            pub fn pretrained(&self) -> Option<&dyn Pretrained> {
                match self {
                    $(Backbone::$given(settings) => Some(settings),)+
                    _ => None,
                }
            }

            /// The model, where it learns by gradients.
            pub fn learned(&self) -> Option<&dyn Learned> {
                match self {
                    $(Backbone::$learned(settings) => Some(settings),)+
                    _ => None,
                }
            }
        }
    };
}

backbones! {
    closed_form {
        /// Random order.
        Random,
        /// The items' train counts.
        Popularity,
        /// Similarities of items, of which the highest are kept.
        ItemKnn,
        /// Similarities of users, of which the highest are kept.
        UserKnn,
        /// Sparse linear item-to-item model with weights that are not negative.
        Slim,
        /// Linear item-to-item model in closed form.
        Ease,
    }
    iterative {
        /// Matrix factorisation by alternating least squares on implicit feedback.
        Ials,
        /// Matrix factorisation with weights, by alternating least squares.
        Wrmf,
        /// Quadratic approximation of the softmax over all items, by alternating least squares.
        Rg2,
        /// Quadratic approximation of the softmax with products of two items' scores, by alternating least squares.
        Rgx,
        /// Neural matrix factorisation on all pairs at once.
        Enmf,
        /// Variational autoencoder of the items of a user.
        MultVae,
        /// Vectors of nodes that are near each other on uniform walks.
        DeepWalk,
        /// Vectors of nodes that are near each other on walks that weigh going back.
        #[serde(rename = "node2vec")]
        Node2Vec,
        /// Vectors of nodes that have an edge, and of those with the same neighbours.
        Line,
    }
    learned {
        /// Matrix factorisation.
        Mf,
        /// A small network on the vectors of users, and another on those of items.
        TwoTower,
        /// Light graph convolution.
        LightGcn,
        /// Linear graph convolution with all layers side by side.
        LrGccf,
        /// Neural matrix factorisation.
        NeuMf,
        /// Neural collaborative filtering with one table.
        Ncf,
        /// Graph convolution with learned matrices, nonlinear.
        Ngcf,
        /// Graph convolution.
        Gcn,
        /// Graph convolution by attention.
        Gat,
        /// Graph isomorphism network.
        Gin,
        /// Graph convolution by sums and products of neighbours.
        NiaGcn,
        /// Disentangled graph convolution: factors share the edges out.
        Dgcf,
        /// Users by the mean of their items.
        Simplex,
        /// Light graph convolution with two views on graphs with dropped edges held against each other.
        Sgl,
        /// Light graph convolution with two noised views held against each other.
        SimGcl,
        /// Light graph convolution with noise, held against one of its layers.
        XsimGcl,
        /// Histories in order, by self-attention.
        SasRec,
        /// Histories in order, by a recurrent network.
        #[serde(rename = "gru4rec")]
        Gru4Rec,
    }
    pretrained {
        /// Vectors that another program trained.
        External,
        /// Top-N lists of another program.
        Run,
    }
}

impl Backbone {
    /// Whether a network scores pairs of the model's vectors.
    pub fn has_network(&self) -> bool {
        self.learned().is_some_and(|model| model.network(0).is_some())
    }

    /// Whether the model reads histories in order, which the dataset has to know then.
    pub fn reads_order(&self) -> bool {
        self.learned().is_some_and(Learned::reads_order)
    }

    /// Whether the model fits without a loss, a sampler and an optimizer of the sweep.
    pub fn fits_without_sampling(&self) -> bool {
        self.learned().is_none()
    }

    /// Whether the model learns in epochs, towards a loss or an objective of its own.
    pub fn has_epochs(&self) -> bool {
        self.closed_form().is_none() && !self.is_pretrained()
    }

    /// Whether another program trained the model.
    pub fn is_pretrained(&self) -> bool {
        self.pretrained().is_some()
    }

    /// The files that it is read from, where another program trained it.
    pub fn files(&self) -> Vec<PlannedFile<'_>> {
        self.pretrained().map(Pretrained::files).unwrap_or_default()
    }
}

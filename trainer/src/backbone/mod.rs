//! Models: parameters to user and item vectors.

use crate::{gradient::RowGradients, tables::Tables};
use dataset::Dataset;
use serde::{Deserialize, Serialize};

pub(crate) mod ease;
mod facts;
mod init;
mod light_gcn;
mod mf;
pub(crate) mod popularity;

pub use ease::Ease;
pub use facts::Facts;
pub use init::{Init, Normal, XavierNormal};
pub use light_gcn::LightGcn;
pub use mf::Mf;
pub use popularity::Popularity;

/// `backbones` in a sweep file, by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backbone {
    /// The items' train counts.
    Popularity(Popularity),
    /// Linear item-to-item model in closed form.
    Ease(Ease),
    /// Matrix factorisation.
    Mf(Mf),
    /// Light graph convolution.
    LightGcn(LightGcn),
}

/// The rows whose vectors will be scored; `None` means all.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) users: Option<&'a [u32]>,
    pub(crate) items: Option<&'a [u32]>,
}

/// How two learned tables become the vectors that are scored. All gradients of a step are of those vectors first.
pub(crate) trait Encode: Send + Sync {
    /// Brings the vectors of the wanted rows up to date with the parameters.
    fn encode(&mut self, parameters: &Tables, wanted: Wanted);
    /// The vectors of the last [`encode`](Self::encode); rows that were not wanted may be out of date.
    fn vectors<'a>(&'a self, parameters: &'a Tables) -> &'a Tables;
    /// Turns gradients of the vectors into gradients of the parameters, in place.
    fn backward(&mut self, users: &mut RowGradients, items: &mut RowGradients);
    /// The vectors of each layer, the mean of which are the vectors.
    fn layers(&mut self, parameters: &Tables) -> Vec<Tables> {
        vec![parameters.clone()]
    }
    /// Gradients of the parameters from those of the vectors of each layer.
    fn layers_backward(&mut self, mut gradients: Vec<Tables>) -> Tables {
        gradients.pop().expect("the parameters are a layer")
    }
    /// Whether each vector is its own row of the parameters, so that some can be had without the others.
    fn is_identity(&self) -> bool {
        false
    }
}

/// The tables are the vectors.
struct Identity;

impl Encode for Identity {
    fn encode(&mut self, _parameters: &Tables, _wanted: Wanted) {}

    fn vectors<'a>(&'a self, parameters: &'a Tables) -> &'a Tables {
        parameters
    }

    fn backward(&mut self, _users: &mut RowGradients, _items: &mut RowGradients) {}

    fn is_identity(&self) -> bool {
        true
    }
}

/// Longer vectors are taken for a slip: the tables would not fit anywhere.
const LONGEST_VECTOR: u32 = 65_536;
/// More propagations are taken for a slip: all vectors would be the same.
const MOST_LAYERS: u32 = 1_000;

impl Backbone {
    /// Whether it fits without a loss, a sampler and an optimizer.
    pub fn fits_without_sampling(&self) -> bool {
        matches!(self, Self::Popularity(_) | Self::Ease(_))
    }

    /// Whether the values can be used.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check(&self) -> Result<(), String> {
        let learned = |dim: u32, init: &Init| match dim {
            1..=LONGEST_VECTOR => init.check(),
            _ => Err(format!("dim is {dim}, expected 1 to {LONGEST_VECTOR}")),
        };
        match self {
            Self::Popularity(_) => Ok(()),
            Self::Ease(ease) => ease.check(),
            Self::Mf(mf) => learned(mf.dim, &mf.init),
            Self::LightGcn(light_gcn) if light_gcn.layers > MOST_LAYERS => {
                Err(format!("layers is {}, expected at most {MOST_LAYERS}", light_gcn.layers))
            }
            Self::LightGcn(light_gcn) => learned(light_gcn.dim, &light_gcn.init),
        }
    }

    /// Fresh parameters and their way to vectors; `None` for backbones that fit without sampling.
    pub(crate) fn start(&self, dataset: &Dataset, seed: u64) -> Option<(Tables, Box<dyn Encode>)> {
        let tables = |dim: u32, init: &Init| init.tables(dataset.users(), dataset.items(), dim as usize, seed);
        match self {
            Self::Popularity(_) | Self::Ease(_) => None,
            Self::Mf(mf) => Some((tables(mf.dim, &mf.init), Box::new(Identity))),
            Self::LightGcn(light_gcn) => {
                Some((tables(light_gcn.dim, &light_gcn.init), Box::new(light_gcn::Propagation::new(light_gcn, dataset))))
            }
        }
    }
}

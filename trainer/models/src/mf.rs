//! Matrix factorisation: a learned vector for each user and each item, no biases.
//!
//! ```text
//! s(u, i) = similarity(p_u, q_i)
//! ```
//! Papers 000, 001, 003 and 004 use it with 32 or 64 dimensions. Koren et al., IEEE Computer 2009.

use super::{
    BackboneKind, Encoded, Facts, Forward, Init, MeanOfLayers, Sizes, Stored,
    encoder::{Encoder, Identity, TrainStep},
    kind::Learned,
    limits::check_tables,
};
use crate::parameters::Parameters;
use candle_core::Tensor;
use dataset::Dataset;
use serde::{Deserialize, Serialize};

/// `mf` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mf {
    /// Length of a vector.
    pub dim: u32,
    /// How the vectors start.
    #[serde(default)]
    pub init: Init,
}

impl BackboneKind for Mf {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Koren et al. 2009",
            cost: "none",
            unknown_user: "by the vector that it began with, which only `weight_decay` and losses that bound norms move",
            values: "`dim` 64 (SL@K, RG), 32 (hard negatives)",
        }
    }

    fn check(&self) -> Result<(), String> {
        check_tables(self.dim, &self.init)
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }

    fn mean_of_layers(&self) -> Option<MeanOfLayers> {
        Some(MeanOfLayers { dim: self.dim, layers: 0 })
    }
}

impl Learned for Mf {
    fn dim(&self) -> u32 {
        self.dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        let tables = self.init.tables(dataset.users(), dataset.items(), self.dim as usize, seed);
        Parameters::new(tables, Vec::new())
    }

    fn encoder(&self, _dataset: &Dataset, _seed: u64) -> Box<dyn Encoder> {
        Box::new(Identity)
    }

    fn formula(&self, _dataset: &Dataset, _seed: u64) -> Box<dyn Forward> {
        Box::new(IdentityFormula)
    }

    fn memory(&self, _sizes: Sizes) -> u64 {
        0
    }
}

/// The rows of the tables are the vectors.
pub(super) struct IdentityFormula;

impl Forward for IdentityFormula {
    fn forward(&self, parameters: &[Tensor], _step: Option<&TrainStep>) -> candle_core::Result<Encoded> {
        Ok(Encoded { users: parameters[0].clone(), items: parameters[1].clone(), auxiliary: None })
    }

    fn reached(&self, _step: &TrainStep) -> [Option<Vec<u32>>; 2] {
        [Some(Vec::new()), Some(Vec::new())]
    }
}

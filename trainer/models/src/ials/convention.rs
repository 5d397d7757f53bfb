//! What train interactions and other pairs weigh, and what penalties rows have.

use super::als;
use serde::{Deserialize, Serialize};

/// `convention` of [`Ials`](super::Ials).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// All pairs have a weight, and train interactions 1 more.
    Rendle(Rendle),
    /// Train interactions have the weight alpha, other pairs 1.
    Implicit(Implicit),
    /// Train interactions have the weight 1 + alpha, other pairs 1.
    Recstudio(Recstudio),
}

/// `rendle` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rendle {
    /// w0, the weight of every pair, above 0.
    #[serde(default = "tenth")]
    pub unobserved_weight: f64,
    /// v: penalties grow with this power of the weights of a row's pairs; 0 gives all rows the same.
    #[serde(default = "one")]
    pub reg_scaling: f64,
}

/// `implicit` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Implicit {
    /// The weight of a train interaction, above 1.
    #[serde(default = "forty")]
    pub alpha: f64,
    /// v: penalties grow with this power of the weights of a row's pairs; 0 gives all rows the same.
    #[serde(default, skip_serializing_if = "als::is_zero")]
    pub reg_scaling: f64,
}

/// `recstudio` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recstudio {
    /// What a train interaction weighs more than another pair, above 0.
    #[serde(default = "one")]
    pub alpha: f64,
    /// v: penalties grow with this power of the weights of a row's pairs; 0 gives all rows the same.
    #[serde(default, skip_serializing_if = "als::is_zero")]
    pub reg_scaling: f64,
}

fn tenth() -> f64 {
    0.1
}

fn one() -> f64 {
    1.0
}

fn forty() -> f64 {
    40.0
}

impl Default for Convention {
    fn default() -> Self {
        Self::Rendle(Rendle { unobserved_weight: tenth(), reg_scaling: one() })
    }
}

impl Convention {
    pub(super) fn check(self) -> std::result::Result<(), String> {
        let is_above = |value: f64, least: f64| value > least && value.is_finite();
        match self {
            Self::Rendle(Rendle { unobserved_weight, .. }) if !is_above(unobserved_weight, 0.0) => {
                Err(format!("unobserved_weight is {unobserved_weight}, expected a number above 0"))
            }
            Self::Rendle(Rendle { reg_scaling, .. })
            | Self::Implicit(Implicit { reg_scaling, .. })
            | Self::Recstudio(Recstudio { reg_scaling, .. })
                if !(reg_scaling >= 0.0 && reg_scaling.is_finite()) =>
            {
                Err(format!("reg_scaling is {reg_scaling}, expected a number of at least 0"))
            }
            Self::Implicit(Implicit { alpha, .. }) if !is_above(alpha, 1.0) => Err(format!(
                "alpha is {alpha}, expected a number above 1: with `convention: implicit` it is the whole weight of a train interaction, and other pairs have 1 (implicit's own default of 1, where both weigh the same, is the limit: write 1.0001)"
            )),
            Self::Recstudio(Recstudio { alpha, .. }) if !is_above(alpha, 0.0) => {
                Err(format!("alpha is {alpha}, expected a number above 0"))
            }
            Self::Rendle(_) | Self::Implicit(_) | Self::Recstudio(_) => Ok(()),
        }
    }

    pub(super) fn weights(self, regularization: f64) -> Weights {
        let (confidence, reg_scaling) = match self {
            Self::Rendle(Rendle { unobserved_weight, reg_scaling }) => {
                return Weights { scale: 1.0, unobserved: unobserved_weight, target: 1.0, constant: 1.0, regularization, reg_scaling };
            }
            Self::Implicit(Implicit { alpha, reg_scaling }) => (alpha, reg_scaling),
            Self::Recstudio(Recstudio { alpha, reg_scaling }) => (1.0 + alpha, reg_scaling),
        };
        let scale = confidence - 1.0;
        Weights {
            scale,
            unobserved: 1.0 / scale,
            target: confidence / scale,
            constant: confidence,
            regularization: regularization / scale,
            reg_scaling,
        }
    }
}

/// The objective: `scale (sum over train of (s - target)² + unobserved (sum over all of s²) + penalties)`, less what no vector changes.
#[derive(Clone, Copy)]
pub(super) struct Weights {
    pub(super) scale: f64,
    pub(super) unobserved: f64,
    pub(super) target: f64,
    /// The objective of a train interaction where all vectors are 0.
    pub(super) constant: f64,
    regularization: f64,
    reg_scaling: f64,
}

impl Weights {
    /// The penalty of a row with so many positives among the other side's rows: that of the weights of all its pairs.
    pub(super) fn ridge(&self, positives: usize, others: usize) -> f64 {
        self.regularization * (self.scale * (positives as f64 + self.unobserved * others as f64)).powf(self.reg_scaling)
    }
}

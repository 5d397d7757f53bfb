//! How a user's PageRank becomes weights of items.

use super::super::popularity::check_exponent;
use serde::{Deserialize, Serialize};

/// The weight of an item of PageRank `pi`, by `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// `pi^a`
    Proportional(Proportional),
    /// `e^(pi / T)`
    Temperature(Temperature),
}

/// `proportional` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Proportional {
    /// a
    #[serde(default = "super::super::popularity::one")]
    pub exponent: f64,
}

/// `temperature` in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Temperature {
    /// T, above 0; 1 is the paper's Eq. 4.
    pub temperature: f64,
}

impl Default for Form {
    fn default() -> Self {
        Self::Proportional(Proportional { exponent: 1.0 })
    }
}

impl Form {
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Form::Proportional(Proportional { exponent }) => check_exponent(*exponent),
            Form::Temperature(Temperature { temperature }) if (1e-6..=1e6).contains(temperature) => Ok(()),
            Form::Temperature(Temperature { temperature }) => {
                Err(format!("temperature is {temperature}: expected a number from 1e-6 to 1e6"))
            }
        }
    }

    /// The logarithm of an item's weight.
    pub(super) fn log_weight(&self, pagerank: f64) -> f64 {
        match self {
            Form::Proportional(Proportional { exponent }) => exponent * pagerank.ln(),
            Form::Temperature(Temperature { temperature }) => pagerank / temperature,
        }
    }

    /// The logarithm of the weight of an item that the walk did not come to, over the item's weight in the [base](super::Base):
    /// `background` is its PageRank for each interaction, which is nothing beside a temperature.
    pub(super) fn log_background(&self, background: f64) -> f64 {
        match self {
            Form::Proportional(_) => self.log_weight(background),
            Form::Temperature(_) => 0.0,
        }
    }
}

//! How parameters move.

use serde::{Deserialize, Serialize};

mod adam;
mod idle;
mod kernels;
#[cfg(any(test, feature = "cuda"))]
mod on_device;
mod part;
mod stepper;
#[cfg(test)]
mod tests;

pub use adam::Adam;
pub(crate) use stepper::{Moments, Stepper};

/// `optimizer` in a sweep file, by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// Adam as PyTorch has it: every row moves in every step; weight decay is added to the gradient.
    Adam(Adam),
    /// Adam on the rows that have a gradient; the others stay, and do not age.
    LazyAdam(Adam),
}

impl Optimizer {
    /// The same with so many times the learning rate.
    pub(crate) fn faster(&self, times: f64) -> Self {
        let (Self::Adam(adam) | Self::LazyAdam(adam)) = self;
        self.at(adam.learning_rate * times)
    }

    /// The same with another learning rate.
    pub(crate) fn at(&self, learning_rate: f64) -> Self {
        match self {
            Self::Adam(adam) => Self::Adam(Adam { learning_rate, ..adam.clone() }),
            Self::LazyAdam(adam) => Self::LazyAdam(Adam { learning_rate, ..adam.clone() }),
        }
    }

    /// Whether the values can be used.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Adam(adam) | Self::LazyAdam(adam) => adam.check(),
        }
    }
}

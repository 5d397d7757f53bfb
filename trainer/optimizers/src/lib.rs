//! Parameters, and how they move.

use serde::{Deserialize, Serialize};

mod adam;
mod catch_up;
mod elsewhere;
mod kernels;
mod parameter;
mod part;
mod prefetch;
mod step_decay;
mod stepper;
#[cfg(test)]
mod tests;

pub use adam::Adam;
pub use catch_up::Leap;
pub use kernels::Step;
pub use parameter::Parameter;
pub use step_decay::StepDecay;
pub use stepper::Stepper;

/// `optimizer` in a sweep file, by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// Adam as PyTorch has it: every row moves in every step; weight decay is added to the gradient.
    Adam(Adam),
    /// Adam on the rows that have a gradient; the others stay, and do not age.
    LazyAdam(Adam),
}

/// The parts of an optimizer.
struct Parts<'a> {
    adam: &'a Adam,
    /// Whether rows without a gradient move too.
    all_rows_move: bool,
    /// Makes an optimizer of this kind with other values.
    with: fn(Adam) -> Optimizer,
}

impl Optimizer {
    /// This optimizer with so many times the learning rate.
    pub fn scale_learning_rate(&self, times: f64) -> Self {
        self.with_learning_rate(self.adam().learning_rate * times)
    }

    /// This optimizer with another learning rate.
    pub fn with_learning_rate(&self, learning_rate: f64) -> Self {
        let Parts { adam, with, .. } = self.parts();
        with(Adam { learning_rate, ..adam.clone() })
    }

    /// What the kinds share, and what tells them apart.
    fn parts(&self) -> Parts<'_> {
        match self {
            Self::Adam(adam) => Parts { adam, all_rows_move: true, with: Self::Adam },
            Self::LazyAdam(adam) => Parts { adam, all_rows_move: false, with: Self::LazyAdam },
        }
    }

    fn adam(&self) -> &Adam {
        self.parts().adam
    }

    /// This optimizer with the learning rate of an epoch, counted from 1.
    pub fn in_epoch(&self, epoch: u32) -> Self {
        self.adam().learning_rate_decay.map_or_else(|| self.clone(), |decay| self.scale_learning_rate(decay.in_epoch(epoch)))
    }

    /// Whether an epoch, counted from 1, has another learning rate than the one before.
    pub fn changes_in(&self, epoch: u32) -> bool {
        self.adam().learning_rate_decay.is_some_and(|decay| decay.changes_in(epoch))
    }

    /// Whether a step moves rows without a gradient too.
    pub fn moves_all_rows(&self) -> bool {
        self.parts().all_rows_move
    }

    /// The weight of the squared norms of the batch's rows, where they are in the loss.
    pub fn batch_l2(&self) -> Option<f64> {
        self.adam().batch_l2.filter(|&weight| weight > 0.0)
    }

    /// Whether the values can be used by a model that learns towards an objective of its own.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check_own(&self) -> Result<(), String> {
        self.check()?;
        let Adam { learning_rate_decay, batch_l2, .. } = self.adam();
        let keys = [("learning_rate_decay", learning_rate_decay.is_some()), ("batch_l2", batch_l2.is_some())];
        match keys.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => Err(format!("{key} is given, expected of models alone that learn from a loss and a sampler: leave it out")),
            None => Ok(()),
        }
    }

    /// Whether the values can be used.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check(&self) -> Result<(), String> {
        self.adam().check()
    }
}

//! Parameters, and how they move.

use serde::{Deserialize, Serialize};
use std::ops::Deref;

mod adagrad;
mod adam;
mod adam_w;
mod catch_up;
mod elsewhere;
mod kernels;
mod kind;
mod lazy_adam;
mod moments;
mod parameter;
mod part;
mod prefetch;
mod sgd;
mod step_decay;
mod stepper;
#[cfg(test)]
mod tests;

pub use adagrad::Adagrad;
pub use adam::Adam;
pub use adam_w::AdamW;
pub use catch_up::Leap;
pub use kernels::Step;
pub use kind::{Facts, OptimizerKind, Shared};
pub use lazy_adam::LazyAdam;
pub use moments::Moments;
pub use parameter::Parameter;
pub use sgd::Sgd;
pub use step_decay::StepDecay;
pub use stepper::Stepper;

/// Makes the enum of all optimizers. A line is an optimizer: its words, and its settings, whose name in kebab-case is the `kind` of sweep files.
macro_rules! optimizers {
    ($($(#[$words:meta])* $kind:ident,)+) => {
        /// `optimizer` in a sweep file, by `kind`. What can be asked of an optimizer is [`OptimizerKind`].
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Optimizer {
            $($(#[$words])* $kind($kind),)+
        }

        impl Deref for Optimizer {
            type Target = dyn OptimizerKind;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Optimizer::$kind(settings) => settings,)+
                }
            }
        }
    };
}

optimizers! {
    /// Adam as PyTorch has it: every row moves in every step; weight decay is added to the gradient.
    Adam,
    /// Adam on the rows that have a gradient; the others stay, and do not age.
    LazyAdam,
    /// Adam with decoupled weight decay: every row shrinks in every step.
    AdamW,
    /// Stochastic gradient descent, with momentum or without.
    Sgd,
    /// AdaGrad: the length of a step falls with the squared gradients so far.
    Adagrad,
}

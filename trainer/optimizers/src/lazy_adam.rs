//! Adam on the rows that have a gradient: the others stay, and do not age.
//!
//! ```text
//! of rows with a gradient    g = dL/dp + weight_decay p
//!                            m = beta1 m + (1 - beta1) g          v = beta2 v + (1 - beta2) g^2
//!                            p = p - learning_rate m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
//! of the others              m, v and p stay
//! ```
//! Neither the values nor the moments of a row without a gradient change, and only t of Adam's formulas goes on. Under models over the train graph, and for items under
//! the sampler `all`, every row counts as one with a gradient in every step, and `lazy-adam` is `adam`.

use super::{Adam, Facts, Optimizer, OptimizerKind, Shared, Step};
use serde::{Deserialize, Serialize};

/// `lazy-adam` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct LazyAdam(pub Adam);

impl OptimizerKind for LazyAdam {
    fn facts(&self) -> Facts {
        Facts {
            paper: "as PyTorch's `SparseAdam`, with the epsilon of `Adam` and with weight decay",
            idle_rows: "stay, and weight decay does not see them",
            cost: "O(B d)",
        }
    }

    fn shared(&self) -> Shared {
        self.0.shared()
    }

    fn with_learning_rate(&self, learning_rate: f64) -> Optimizer {
        Optimizer::LazyAdam(Self(Adam { learning_rate, ..self.0.clone() }))
    }

    fn step(&self, step: u64) -> Step {
        self.0.step(step)
    }

    fn moves_all_rows(&self) -> bool {
        false
    }

    fn check_own_values(&self) -> Result<(), String> {
        self.0.check_own_values()
    }
}

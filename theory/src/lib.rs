//! The statements of the papers about losses and metrics, recomputed.
//!
//! [`bounds`] is how surely a sampled loss bounds a metric, [`opauc`] how closely a partial area under the ROC curve follows the metrics
//! of a list's head, [`dro`] whether hard negative sampling is distributionally robust optimisation, [`softmax_bound`] and [`quantile`] what
//! softmax-at-k promises and how well its quantile is estimated, [`quadratic`] whether the quadratic forms of the softmax loss bound it. Each
//! comes with the [`Statement`]s that were checked on the way.
//!
//! Functions of numbers: nothing is read or written here, no model is known, and random numbers are arguments.

pub mod bounds;
pub mod dro;
mod error;
mod normal;
pub mod opauc;
pub mod quadratic;
pub mod quantile;
pub mod softmax_bound;
mod statement;
#[cfg(test)]
mod testing;

pub use error::{Error, Result, within};
pub use normal::normal_from;
pub use statement::Statement;

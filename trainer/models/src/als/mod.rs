//! Alternating least squares: one side's vectors are solved while the other side's stay, and the other way round.
//!
//! [`Moments`] are the sums over a whole table that stand in for all pairs of users and items. [`rows`] solves each row by equations of its own;
//! [`spectral`] solves all rows whose equations differ by a factor at once. Rows are independent, and sums over them have a fixed order.

mod blocks;
mod cholesky;
mod conjugate;
mod gram;
mod moments;
pub(super) mod rows;
mod solver;
pub(super) mod spectral;
#[cfg(test)]
pub(super) mod testing;

pub(super) use moments::{Moments, squared_norms};
pub use solver::{Cholesky, ConjugateGradient, Solver, Subspace};

use super::{Epochs, Init, Sizes};
use crate::{Error, Result};
use dataset::{Dataset, Interactions, Location};
use embeddings::Tables;
use evaluator::{Factors, Scorer};
use vectors::{Matrix, Similarity};

/// Which rows move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SolvedSide {
    Users,
    Items,
}

impl SolvedSide {
    /// The side that stays.
    pub(super) fn other(self) -> Self {
        match self {
            Self::Users => Self::Items,
            Self::Items => Self::Users,
        }
    }
}

/// One side's rows, which move, and the other side's, which stay.
pub(super) struct Pass<'a> {
    pub(super) moved: &'a mut Matrix,
    pub(super) fixed: &'a Matrix,
    /// The rows of `fixed` that are positives of each row of `moved`.
    pub(super) positives: &'a Interactions,
    /// The rows of `moved` that are positives of each row of `fixed`.
    pub(super) positives_of_fixed: &'a Interactions,
}

/// A quadratic objective in either side's rows.
pub(super) trait LeastSquares: Send {
    /// The `kind` in a sweep file, for messages.
    fn name(&self) -> &'static str;

    /// Solves the rows of a side; the objective then, by train interactions. `None` where there is no solution that floats can hold.
    fn half_sweep(&self, side: SolvedSide, pass: Pass) -> Option<f64>;
}

/// A training by alternating least squares. An epoch solves users, then items.
pub(super) struct Alternating<'d, M> {
    model: M,
    pub(super) tables: Tables,
    train: &'d Interactions,
    users_of: Interactions,
}

impl<'d, M: LeastSquares> Alternating<'d, M> {
    /// Starts a training with fresh tables.
    ///
    /// # Errors
    /// [`Error::Impossible`] without train interactions.
    pub(super) fn new(model: M, dataset: &'d Dataset, init: Init, dim: u32, seed: u64) -> Result<Self> {
        if dataset.train.is_empty() {
            return Err(Error::Impossible(format!("{}: the dataset has no train interactions to learn from", model.name())));
        }
        let tables = init.tables(dataset.users(), dataset.items(), dim as usize, seed);
        Ok(Self { model, tables, train: &dataset.train, users_of: dataset.train.transpose(dataset.items()) })
    }

    /// Solves one side; the objective then, by train interactions.
    ///
    /// # Errors
    /// [`Error::Impossible`] where there is no solution.
    pub(super) fn half_sweep(&mut self, side: SolvedSide) -> Result<f64> {
        let Self { model, tables: Tables { users, items }, train, users_of } = self;
        let pass = match side {
            SolvedSide::Users => Pass { moved: users, fixed: items, positives: train, positives_of_fixed: users_of },
            SolvedSide::Items => Pass { moved: items, fixed: users, positives: users_of, positives_of_fixed: train },
        };
        let whose = if side == SolvedSide::Users { "a user" } else { "an item" };
        model.half_sweep(side, pass).filter(|objective| objective.is_finite()).ok_or_else(|| {
            let name = model.name();
            Error::Impossible(format!("{name}: {whose}'s equations have no solution that floats can hold; raise regularization"))
        })
    }
}

impl<M: LeastSquares> Epochs for Alternating<'_, M> {
    fn epoch(&mut self, _epoch: u32) -> Result<f64> {
        self.half_sweep(SolvedSide::Users)?;
        self.half_sweep(SolvedSide::Items)
    }

    fn state(&mut self) -> Vec<(String, &mut [f32])> {
        let Tables { users, items } = &mut self.tables;
        vec![("users".to_owned(), &mut users.values), ("items".to_owned(), &mut items.values)]
    }

    fn scorer(&self) -> Result<Scorer> {
        let Tables { users, items } = self.tables.clone();
        Ok(Factors { users, items, similarity: Similarity::Dot }.into())
    }

    fn lend_scorer(&mut self) -> Result<Scorer> {
        let Tables { users, items } = std::mem::replace(&mut self.tables, Tables::zeros(0, 0, 0));
        Ok(Factors { users, items, similarity: Similarity::Dot }.into())
    }

    fn take_back(&mut self, lent: Scorer) {
        if let Scorer::Factors(Factors { users, items, .. }) = lent {
            self.tables = Tables { users, items };
        }
    }
}

/// Bytes of a training at its peak: the tables, the train interactions by items, and either what solves rows, with so many bytes in a thread, or what
/// ranks and stores the tables, or the file of the state as a training that goes on reads it.
pub(super) fn memory(dim: u32, in_thread: u64, sizes: Sizes, ranking: u64) -> u64 {
    let Sizes { users, items, train, .. } = sizes;
    let (tables, dim) = (4 * (users + items) * u64::from(dim), u64::from(dim));
    let transposed = 4 * train + 3 * 8 * (items + 1);
    let solving = Moments::bytes(users.max(items), dim) + rayon::current_num_threads() as u64 * in_thread;
    tables + transposed + solving.max(ranking).max(Location::memory_to_write(tables)).max(tables)
}

/// Whether it is a weight, or a power of one: at least 0.
///
/// # Errors
/// A sentence that names the key.
pub(super) fn check_weight(key: &str, weight: f64) -> std::result::Result<(), String> {
    match weight >= 0.0 && weight.is_finite() {
        true => Ok(()),
        false => Err(format!("{key} is {weight}, expected a number of at least 0")),
    }
}

/// A trial is named as before there was a choice.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
pub(super) fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// How tables start: small.
pub(super) fn small() -> Init {
    Init::Normal(super::Normal { std: 0.01 })
}

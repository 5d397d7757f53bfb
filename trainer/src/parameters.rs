//! What a model learns, and what the optimizer keeps of it.

use crate::{optimizer::Moments, tables::Tables};
use evaluator::Matrix;

/// The parameters of a model: a row for each user and for each item, and weights that all of them share.
pub(crate) struct Parameters {
    /// `[users, dim]` and `[items, dim]`
    pub(crate) tables: Tables,
    /// Of the gradients of users and of items.
    pub(crate) moments: [Moments; 2],
    /// Each has its whole gradient in every step.
    pub(crate) weights: Vec<Weights>,
}

/// A matrix that all rows share.
pub(crate) struct Weights {
    /// In the state of a training: `layer1.sum`.
    pub(crate) name: String,
    pub(crate) values: Matrix,
    pub(crate) moments: Moments,
}

impl Parameters {
    /// With moments of zero; all rows move in every step.
    pub(crate) fn new(tables: Tables, weights: Vec<(String, Matrix)>) -> Self {
        let moments = [&tables.users, &tables.items].map(|table| Moments::new(table, false));
        let weights = weights.into_iter().map(|(name, values)| Weights { name, moments: Moments::new(&values, false), values });
        Self { tables, moments, weights: weights.collect() }
    }

    /// Lets rows of some of the tables be left behind where a step does not look at them: see [`Moments::new`].
    pub(crate) fn leave_behind(&mut self, which: [bool; 2]) {
        let Self { tables: Tables { users, items }, moments, .. } = self;
        for ((table, moments), leaves) in [&*users, items].into_iter().zip(moments).zip(which) {
            *moments = Moments::new(table, leaves);
        }
    }

    /// The first place that is not a finite number, in words.
    pub(crate) fn not_finite(&self) -> Option<String> {
        let broken = |weights: &Weights| {
            let value = weights.values.values.iter().find(|value| !value.is_finite())?;
            Some(format!("the weights `{}` (value {value})", weights.name))
        };
        self.tables.not_finite().or_else(|| self.weights.iter().find_map(broken))
    }
}

//! What a model learns, and what the optimizer keeps of it.

use crate::NamedMatrices;
use embeddings::{RowGradients, Tables};
use optimizers::{Moments, Stepper};
use vectors::Matrix;

/// The parameters of a model: a row for each user and for each item, and weights that all of them share.
pub struct Parameters {
    /// `[users, dim]` and `[items, dim]`
    pub tables: Tables,
    /// Moments of the gradients of users and of items.
    pub moments: [Moments; 2],
    /// Each has its whole gradient in every step.
    pub weights: Vec<Weights>,
}

/// A matrix that all rows share.
pub struct Weights {
    /// The weights' name in the state of a training: `layer1.sum`.
    pub name: String,
    /// The numbers.
    pub values: Matrix,
    /// Moments of the weights' gradient.
    pub moments: Moments,
}

impl Weights {
    /// Makes weights with moments of zero.
    pub fn new(name: &str, values: Matrix) -> Self {
        Self { name: name.to_owned(), moments: Moments::new(&values, false), values }
    }

    /// The next step of an optimizer by the whole gradient.
    pub fn move_by(&mut self, gradient: Vec<f32>, stepper: &Stepper) {
        let Self { values, moments, .. } = self;
        let gradient = Matrix { rows: values.rows, dim: values.dim, values: gradient };
        stepper.move_table(values, moments, &RowGradients::whole(gradient));
    }

    /// The first place that is not a finite number, in words.
    pub fn not_finite(&self) -> Option<String> {
        let value = self.values.values.iter().find(|value| !value.is_finite())?;
        Some(format!("the weights `{}` (value {value})", self.name))
    }

    /// The numbers and their moments, by name.
    pub fn state(&mut self) -> impl Iterator<Item = (String, &mut [f32])> {
        let Self { name, values, moments } = self;
        let named = [("", &mut values.values), (".first", &mut moments.first), (".second", &mut moments.second)];
        named.map(|(part, values)| (format!("weights.{name}{part}"), &mut values[..])).into_iter()
    }
}

impl Parameters {
    /// Makes parameters with moments of zero; all rows move in every step.
    pub fn new(tables: Tables, weights: Vec<(String, Matrix)>) -> Self {
        let moments = [&tables.users, &tables.items].map(|table| Moments::new(table, false));
        let weights = weights.into_iter().map(|(name, values)| Weights::new(&name, values));
        Self { tables, moments, weights: weights.collect() }
    }

    /// Lets rows of some of the tables be left behind where a step does not look at them: see [`Moments::new`].
    pub fn leave_behind(&mut self, which: [bool; 2]) {
        let Self { tables: Tables { users, items }, moments, .. } = self;
        for ((table, moments), leaves) in [&*users, items].into_iter().zip(moments).zip(which) {
            *moments = Moments::new(table, leaves);
        }
    }

    /// All matrices by name: the tables of users and items, and the weights in their order.
    pub fn named(&self) -> NamedMatrices<'_> {
        let Tables { users, items } = &self.tables;
        [("users", users), ("items", items)]
            .into_iter()
            .chain(self.weights.iter().map(|weights| (&weights.name[..], &weights.values)))
            .collect()
    }

    /// All numbers and their moments, by name; within an epoch also how far rows are left behind.
    pub fn state(&mut self, is_within: bool) -> Vec<(String, &mut [f32])> {
        let Self { tables, moments: [of_users, of_items], weights } = self;
        let tables = [
            ("users", &mut tables.users.values),
            ("users.first", &mut of_users.first),
            ("users.second", &mut of_users.second),
            ("items", &mut tables.items.values),
            ("items.first", &mut of_items.first),
            ("items.second", &mut of_items.second),
        ];
        let left = [("users.left", &mut of_users.left), ("items.left", &mut of_items.left)];
        let left = left.into_iter().filter(|(_, left)| is_within && !left.is_empty());
        let left = left.map(|(name, left)| (name, bytemuck::cast_slice_mut(left))); // as the numbers of the same bits
        let tables = tables.map(|(name, values)| (name, &mut values[..])).into_iter().chain(left);
        tables.map(|(name, values)| (name.to_owned(), values)).chain(weights.iter_mut().flat_map(Weights::state)).collect()
    }

    /// The first place that is not a finite number, in words.
    pub fn not_finite(&self) -> Option<String> {
        self.tables.not_finite().or_else(|| self.weights.iter().find_map(Weights::not_finite))
    }
}

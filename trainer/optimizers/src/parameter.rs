//! A matrix under training.

use rayon::prelude::*;
use vectors::Matrix;

/// A named matrix that an optimizer moves, with the moments of its gradient.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name in a checkpoint, and in the state that a training goes on from.
    pub name: String,
    /// `[rows, dim]`
    pub values: Matrix,
    /// `[rows * dim]`, running means of the gradient.
    pub first: Vec<f32>,
    /// `[rows * dim]`, running means of its square.
    pub second: Vec<f32>,
    /// The step, as `CatchUp` counts, to which each row is up to date. Empty where all rows move in every step.
    pub left: Vec<u32>,
}

impl Parameter {
    /// Makes a parameter with moments of zero, all of whose rows move in every step.
    pub fn new(name: impl Into<String>, values: Matrix) -> Self {
        let zeros = || vec![0.0; values.values.len()];
        Self { name: name.into(), first: zeros(), second: zeros(), left: Vec::new(), values }
    }

    /// Makes a parameter without moments, which no optimizer moves.
    pub fn fixed(name: impl Into<String>, values: Matrix) -> Self {
        Self { name: name.into(), first: Vec::new(), second: Vec::new(), left: Vec::new(), values }
    }

    /// Has each row brought up to date when it is next looked at, in place of in every step, or no row where not `left_behind`. That is worth it
    /// where a step touches few of the rows.
    pub fn leave_behind(&mut self, left_behind: bool) {
        self.left = vec![0; if left_behind { self.values.rows } else { 0 }];
    }

    /// Whether rows may be behind between steps.
    pub fn is_left_behind(&self) -> bool {
        !self.left.is_empty()
    }

    /// The values and their moments, by name; within an epoch also how far rows are left behind.
    pub fn state(&mut self, is_within: bool) -> impl Iterator<Item = (String, &mut [f32])> {
        let Self { name, values, first, second, left } = self;
        let moments = [(".first", first), (".second", second)].into_iter().filter(|(_, moments)| !moments.is_empty());
        let named = std::iter::once(("", &mut values.values)).chain(moments).map(|(part, values)| (part, &mut values[..]));
        let left = (is_within && !left.is_empty()).then(|| (".left", bytemuck::cast_slice_mut(left))); // as the numbers of the same bits
        named.chain(left).map(move |(part, values)| (format!("{name}{part}"), values))
    }

    /// Shortens the rows that are longer than `norm` to that length.
    pub fn limit_norms(&mut self, norm: f32) {
        self.values.values.par_chunks_exact_mut(self.values.dim).for_each(|row| {
            let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
            if length > norm {
                row.iter_mut().for_each(|value| *value *= norm / length);
            }
        });
    }

    /// The first value that is not a finite number, in words.
    pub fn not_finite(&self) -> Option<String> {
        let at = self.values.values.iter().position(|value| !value.is_finite())?;
        Some(format!("the parameter `{}` (row {}, value {})", self.name, at / self.values.dim, self.values.values[at]))
    }
}

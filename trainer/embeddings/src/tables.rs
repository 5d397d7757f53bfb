//! The two tables that most backbones are made of.

use rayon::prelude::*;
use vectors::Matrix;

/// A row for each user and for each item.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    /// `[users, dim]`
    pub users: Matrix,
    /// `[items, dim]`
    pub items: Matrix,
}

impl Tables {
    /// Makes tables of zeros.
    pub fn zeros(users: usize, items: usize, dim: usize) -> Self {
        let table = |rows: usize| Matrix { rows, dim, values: vec![0.0; rows * dim] };
        Self { users: table(users), items: table(items) }
    }

    /// Shortens the rows that are longer than `norm` to that length.
    pub fn limit_norms(&mut self, norm: f32) {
        for table in [&mut self.users, &mut self.items] {
            table.values.par_chunks_exact_mut(table.dim).for_each(|row| {
                let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
                if length > norm {
                    row.iter_mut().for_each(|value| *value *= norm / length);
                }
            });
        }
    }

    /// The first place that is not a finite number, in words.
    pub fn not_finite(&self) -> Option<String> {
        let find = |what: &str, table: &Matrix| {
            let at = table.values.iter().position(|value| !value.is_finite())?;
            Some(format!("the {what} table (row {}, value {})", at / table.dim, table.values[at]))
        };
        find("user", &self.users).or_else(|| find("item", &self.items))
    }
}

//! The two tables that most backbones are made of.

use evaluator::Matrix;

/// A row for each user and for each item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tables {
    /// `[users, dim]`
    pub(crate) users: Matrix,
    /// `[items, dim]`
    pub(crate) items: Matrix,
}

impl Tables {
    /// Zeros.
    pub(crate) fn zeros(users: usize, items: usize, dim: usize) -> Self {
        let table = |rows: usize| Matrix { rows, dim, values: vec![0.0; rows * dim] };
        Self { users: table(users), items: table(items) }
    }

    /// The first place that is not a finite number, in words.
    pub(crate) fn not_finite(&self) -> Option<String> {
        let find = |what: &str, table: &Matrix| {
            let at = table.values.iter().position(|value| !value.is_finite())?;
            Some(format!("the {what} table (row {}, value {})", at / table.dim, table.values[at]))
        };
        find("user", &self.users).or_else(|| find("item", &self.items))
    }
}

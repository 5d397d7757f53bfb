//! Two tables.

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
    /// Makes tables of the same values.
    pub fn of([users, items]: [&Matrix; 2]) -> Self {
        Self { users: users.clone(), items: items.clone() }
    }

    /// Takes the values of tables of the same sizes.
    pub fn copy_from(&mut self, tables: [&Matrix; 2]) {
        for (to, from) in [&mut self.users, &mut self.items].into_iter().zip(tables) {
            to.values.copy_from_slice(&from.values);
        }
    }

    /// The tables of users and of items.
    pub fn both(&self) -> [&Matrix; 2] {
        [&self.users, &self.items]
    }

    /// Makes tables of zeros.
    pub fn zeros(users: usize, items: usize, dim: usize) -> Self {
        let table = |rows: usize| Matrix { rows, dim, values: vec![0.0; rows * dim] };
        Self { users: table(users), items: table(items) }
    }
}

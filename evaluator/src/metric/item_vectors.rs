//! Items as vectors of the users who have them, the same for all models: how alike two items are.
//!
//! ```text
//! cos(i, j) = |U_i ∩ U_j| / sqrt(|U_i| |U_j|)     U_i: the users who have item i in train, or in the history that is folded in
//! ```
//! An item that no user has is like no other.

use dataset::Interactions;

/// Each item's users.
pub(super) struct ItemVectors {
    users: Interactions,
    count: usize,
}

impl ItemVectors {
    pub(super) fn new(history: &Interactions, items: usize) -> Self {
        Self { users: history.transpose(items), count: history.users() }
    }

    /// The sum of the cosines of all pairs of items. `sums` is working space, zeros before and after.
    pub(super) fn alike(&self, items: &[u32], sums: &mut Vec<f64>) -> f64 {
        sums.resize(self.count, 0.0);
        let mut alike = 0.0;
        for &item in items {
            // What the vectors before it add up to, times its own, is the sum of its cosines with all of them.
            let users = self.users.row(item as usize);
            let weight = 1.0 / (users.len().max(1) as f64).sqrt();
            alike += weight * users.iter().fold(0.0, |sum, &user| sum + sums[user as usize]);
            users.iter().for_each(|&user| sums[user as usize] += weight);
        }
        items.iter().for_each(|&item| self.users.row(item as usize).iter().for_each(|&user| sums[user as usize] = 0.0));
        alike
    }
}

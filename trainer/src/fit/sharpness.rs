//! Brings adap-tau's sharpness of all users and of each up to date.

use super::own::Own;
use crate::{
    loss::{
        AdapTau,
        adap_tau::update::{Sizes, WARM_UP_GAP, active_users, sharpness_of_all, sharpness_of_users},
    },
    scoring::{Vectors, mean_vector, reduce_lists},
    tables::Tables,
};
use dataset::Interactions;
use evaluator::Similarity;

/// Sets the columns of adap-tau after so many epochs, and starts the sums of losses anew. Before the first epoch there are no losses.
pub(super) fn update(own: &mut Own, settings: &AdapTau, tables: &Tables, train: &Interactions, epochs: u32) {
    let Some([of_users, of_all, losses]) = own.numbers() else { return };
    let counts: Vec<u32> = (0..train.users()).map(|user| train.row(user).len() as u32).collect();
    let active = active_users(&counts);
    let warms_up = epochs == 0 || epochs < settings.warm_up;
    let gap = if warms_up { WARM_UP_GAP } else { gap(tables, train, &active) };
    let is_active = || active.iter().zip(&counts).filter(|(active, _)| **active);
    let pairs = is_active().map(|(_, &count)| count as usize).sum();
    let sharpness = sharpness_of_all(Sizes { users: is_active().count(), items: tables.items.rows, pairs }, gap);
    let mean = |(sum, &count): (&f32, &u32)| (epochs > 0 && count > 0).then(|| f64::from(*sum) / f64::from(count));
    let means: Vec<Option<f64>> = losses.iter().zip(&counts).map(mean).collect();
    of_users.copy_from_slice(&sharpness_of_users(sharpness, &means, settings));
    of_all.fill(sharpness as f32);
    losses.fill(0.0);
}

/// How far the mean cosine of the active users' train pairs lies above that of all their pairs.
fn gap(tables: &Tables, train: &Interactions, active: &[bool]) -> f64 {
    let vectors = Vectors { users: &tables.users, items: &tables.items, similarity: Similarity::Cosine };
    let list = |user: usize, ids: &mut Vec<u32>| {
        if active[user] {
            ids.extend_from_slice(train.row(user));
        }
    };
    let mut sums = vec![0.0; train.users()];
    reduce_lists(vectors, &mut sums, list, |_, _, scores| scores.iter().sum());
    let pairs: usize = (0..train.users()).filter(|&user| active[user]).map(|user| train.row(user).len()).sum();
    let positives = sums.iter().map(|&sum| f64::from(sum)).sum::<f64>() / pairs as f64;
    let (user, item) = (mean_vector(&tables.users, |row| active[row]), mean_vector(&tables.items, |_| true));
    positives - user.iter().zip(item).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_1_SQRT_2;

    /// Two users at a right angle; the first has the item that lies as it does, the second one between both, and one that no one has.
    #[test]
    fn the_gap_is_that_of_mean_cosines() {
        let mut tables = Tables::zeros(3, 3, 2);
        tables.users.values = vec![2.0, 0.0, 0.0, 3.0, -1.0, 0.0];
        tables.items.values = vec![5.0, 0.0, 1.0, 1.0, 0.0, -4.0];
        let train = Interactions::from_pairs(3, [(0, 0), (0, 1), (1, 1), (2, 0)].into_iter());
        // Cosines: user 0 with items 0, 1, 2: 1, 0.70710678, 0; user 1: 0, 0.70710678, -1.
        let (positives, all) = ((1.0 + 2.0 * FRAC_1_SQRT_2) / 3.0, (1.0 + 2.0 * FRAC_1_SQRT_2 - 1.0) / 6.0);
        assert!((gap(&tables, &train, &[true, true, false]) - (positives - all)).abs() < 1e-7);
    }
}

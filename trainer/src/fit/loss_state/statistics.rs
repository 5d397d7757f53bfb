//! What a model's vectors say of all users and items, for losses that ask for it between epochs.

use dataset::Interactions;
use embeddings::{Vectors, mean_vector, reduce_lists};
use losses::ModelStatistics;
use vectors::{Matrix, Similarity};

/// A model's vectors and the train interactions.
pub(crate) struct Statistics<'a> {
    vectors: [&'a Matrix; 2],
    train: &'a Interactions,
    counts: Vec<u32>,
}

impl<'a> Statistics<'a> {
    pub(crate) fn new(vectors: [&'a Matrix; 2], train: &'a Interactions) -> Self {
        Self { vectors, train, counts: (0..train.users()).map(|user| train.row(user).len() as u32).collect() }
    }
}

impl ModelStatistics for Statistics<'_> {
    fn train_counts(&self) -> &[u32] {
        &self.counts
    }

    fn items(&self) -> usize {
        self.vectors[1].rows
    }

    fn mean_cosine_of_train_pairs(&self, users: &[bool]) -> f64 {
        let Self { vectors: [of_users, of_items], train, counts } = self;
        let vectors = Vectors { users: of_users, items: of_items, similarity: Similarity::Cosine };
        let list = |user: usize, ids: &mut Vec<u32>| {
            if users[user] {
                ids.extend_from_slice(train.row(user));
            }
        };
        let mut sums = vec![0.0; train.users()];
        reduce_lists(vectors, &mut sums, list, |_, _, scores| scores.iter().sum());
        let pairs: usize = counts.iter().zip(users).filter(|(_, is_marked)| **is_marked).map(|(&count, _)| count as usize).sum();
        sums.iter().map(|&sum| f64::from(sum)).sum::<f64>() / pairs as f64
    }

    fn mean_cosine_of_all_pairs(&self, users: &[bool]) -> f64 {
        let (user, item) = (mean_vector(self.vectors[0], |row| users[row]), mean_vector(self.vectors[1], |_| true));
        user.iter().zip(item).map(|(a, b)| a * b).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use embeddings::Tables;
    use std::f64::consts::FRAC_1_SQRT_2;

    /// Two users at a right angle; the first has the item that lies as it does, the second one between both, and one that no one has.
    #[test]
    fn means_are_those_of_cosines() {
        let mut tables = Tables::zeros(3, 3, 2);
        tables.users.values = vec![2.0, 0.0, 0.0, 3.0, -1.0, 0.0];
        tables.items.values = vec![5.0, 0.0, 1.0, 1.0, 0.0, -4.0];
        let train = Interactions::from_pairs(3, [(0, 0), (0, 1), (1, 1), (2, 0)].into_iter());
        let (statistics, users) = (Statistics::new(tables.both(), &train), [true, true, false]);
        // Cosines: user 0 with items 0, 1, 2: 1, 0.70710678, 0; user 1: 0, 0.70710678, -1.
        let (positives, all) = ((1.0 + 2.0 * FRAC_1_SQRT_2) / 3.0, (1.0 + 2.0 * FRAC_1_SQRT_2 - 1.0) / 6.0);
        assert!((statistics.mean_cosine_of_train_pairs(&users) - positives).abs() < 1e-7);
        assert!((statistics.mean_cosine_of_all_pairs(&users) - all).abs() < 1e-7);
        assert_eq!((statistics.train_counts(), statistics.items()), (&[2, 1, 1][..], 3));
    }
}

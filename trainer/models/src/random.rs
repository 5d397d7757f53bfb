//! Random order: every ranking of the items is equally likely for a user.
//!
//! ```text
//! s(u, i) = cos(p_u, q_i)        all numbers of p and q are independent and standard normal
//! ```
//! For a given user the cosines are independent and of one distribution, and the order of such numbers is uniform. Users share the items' vectors, so that the orders
//! of two users are uniform and uncorrelated, and not independent of each other. The floor that even popularity must pass.

use super::{BackboneKind, Facts, FoldIn, Init, Normal, Sizes, Stored, kind::ClosedForm};
use crate::Result;
use dataset::Dataset;
use embeddings::Tables;
use evaluator::{Factors, Scorer};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// Numbers of a vector.
const DIM: usize = 32;
/// How all vectors are drawn.
const START: Init = Init::Normal(Normal { std: 1.0 });
/// The table of users that the model has not seen, beside those of its own users, 0, and of items, 1.
const NEW_USERS: u32 = 2;

/// `random` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// Another seed gives other orders.
    #[serde(default)]
    pub seed: u64,
}

impl BackboneKind for Random {
    fn facts(&self) -> Facts {
        Facts { paper: "-", cost: "32 (m + n) random numbers", unknown_user: "as everyone: in random order", values: "-" }
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: DIM }
    }

    /// 1: new users have orders of their own.
    fn revision(&self) -> u32 {
        1
    }

    fn how_to_fold_in(&self) -> FoldIn {
        let seed = self.seed;
        FoldIn::WithoutHistory(Box::new(move |users| START.matrix([users, DIM], seed, NEW_USERS)))
    }
}

impl ClosedForm for Random {
    /// The vectors p and q.
    fn fit(&self, dataset: &Dataset, _memory: usize) -> Result<Scorer> {
        let Tables { users, items } = START.tables(dataset.users(), dataset.items(), DIM, self.seed);
        Ok(Factors { users, items, similarity: Similarity::Cosine }.into())
    }

    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        self.stored().fitted(sizes, ranking)
    }

    /// A normal number takes as long as some thirty multiplications.
    fn operations(&self, sizes: Sizes) -> Option<f64> {
        Some(30.0 * DIM as f64 * (sizes.users + sizes.items) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use testing::dataset_of;

    /// The items of all users, by descending score.
    fn orders(sizes: [usize; 2], seed: u64) -> Vec<Vec<u32>> {
        let dataset = dataset_of(sizes, &[]);
        let scorer = Random { seed }.fit(&dataset, 1 << 20).unwrap();
        let users: Vec<u32> = (0..sizes[0] as u32).collect();
        let lists = evaluator::rank::top_k(&scorer, &dataset.train, &[], &users, sizes[1], 1 << 20).unwrap();
        lists.into_iter().map(|list| list.into_iter().map(|(item, _)| item).collect()).collect()
    }

    /// Chi-square of the counts of equally likely outcomes.
    fn chi_square(counts: &[usize]) -> f64 {
        let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
        counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum()
    }

    /// Of the distribution with 23 degrees of freedom one in a thousand is above 49.7.
    #[test]
    fn every_order_of_four_items_is_equally_frequent_over_seeds() {
        let mut counts = BTreeMap::new();
        (0..4_800).for_each(|seed| *counts.entry(orders([1, 4], seed).remove(0)).or_insert(0) += 1);
        assert_eq!(counts.len(), 24);
        let statistic = chi_square(&counts.into_values().collect::<Vec<_>>());
        assert!(statistic < 49.7, "{statistic}");
    }

    /// Of the distribution with 39 degrees of freedom one in a thousand is above 72.1. A seed has one user here, as users of a seed are not independent.
    #[test]
    fn each_item_is_first_equally_often() {
        let mut counts = vec![0; 40];
        (0..4_000).for_each(|seed| counts[orders([1, 40], seed)[0][0] as usize] += 1);
        let statistic = chi_square(&counts);
        assert!(statistic < 72.1, "{statistic}");
    }

    #[test]
    fn new_users_have_vectors_of_their_own() {
        let dataset = dataset_of([20, 50], &[]);
        let Scorer::Factors(Factors { users, .. }) = Random { seed: 3 }.fit(&dataset, 1 << 20).unwrap() else { unreachable!() };
        let FoldIn::WithoutHistory(vectors) = (Random { seed: 3 }).how_to_fold_in() else { unreachable!() };
        let new = vectors(20);
        let rows = new.values.chunks_exact(DIM).chain(users.values.chunks_exact(DIM));
        let different: std::collections::BTreeSet<Vec<u32>> = rows.map(|row| row.iter().map(|value| value.to_bits()).collect()).collect();
        assert_eq!((new.rows, new.dim, different.len()), (20, DIM, 40));
    }

    #[test]
    fn users_and_seeds_have_orders_of_their_own() {
        let [one, other] = [0, 1].map(|seed| orders([20, 50], seed));
        assert_eq!(one, orders([20, 50], 0));
        let all: std::collections::BTreeSet<&Vec<u32>> = one.iter().chain(&other).collect();
        assert_eq!(all.len(), 40);
    }
}

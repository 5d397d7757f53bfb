//! Nearest items: an item's score is the sum of its similarities to the user's train items that are among its most similar ones.
//!
//! ```text
//! S_ij = c_ij / (|r_i| |r_j| + shrink)        s(u, j) = sum of S_ij over the train items i of u among the `neighbours` items nearest to j
//! ```
//! c_ij counts the users of both items and |r_i|² those of item i: without shrinkage S is the cosine of the binary columns. An item is not near itself; of
//! equally similar items the one that comes first stays; items without a common user are never near. RecBole adds 1e-6 to the denominator.
//! Sarwar et al., WWW 2001; Deshpande and Karypis, TOIS 2004.

use super::{BackboneKind, Facts, Sizes, Stored, co_occurrence::Binary, kind::ClosedForm, nearest::Nearest};
use crate::Result;
use dataset::Dataset;
use evaluator::{Scorer, SparseItemWeights};
use serde::{Deserialize, Serialize};

/// `item-knn` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemKnn {
    /// How many items are kept for each item, at least 1.
    #[serde(default = "hundred")]
    pub neighbours: u32,
    /// What is added to the denominator, at least 0: it favours similarities that many users bear out.
    #[serde(default)]
    pub shrink: f64,
}

fn hundred() -> u32 {
    100
}

impl ItemKnn {
    fn nearest(&self) -> Nearest {
        Nearest { neighbours: self.neighbours, shrink: self.shrink }
    }
}

impl BackboneKind for ItemKnn {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Sarwar et al. 2001; Deshpande and Karypis 2004",
            cost: "an addition for each two train items of a user",
            unknown_user: "all items have the score 0: they are tied",
            values: "`neighbours` 100, `shrink` 0 (RecBole)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        self.nearest().check()
    }

    fn stored(&self) -> Stored {
        Stored::NearestItems { neighbours: self.neighbours }
    }
}

impl ClosedForm for ItemKnn {
    /// The kept similarities, from item i to item j.
    fn fit(&self, dataset: &Dataset, memory: usize) -> Result<Scorer> {
        let items = dataset.items();
        self.nearest().fits(items as u64, Sizes::of(dataset), memory, || format!("item-knn on {items} items"))?;
        let users_of = dataset.train.transpose(items);
        let kept = self.nearest().of_rows(Binary { by_row: &users_of, by_column: &dataset.train });
        Ok(SparseItemWeights { weights: kept.transpose() }.into())
    }

    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        self.nearest().peak(sizes.items, sizes).max(self.stored().fitted(sizes, ranking))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{nearest::dense, testing::scores};
    use super::*;
    use proptest::prelude::*;
    use std::f32::consts::FRAC_1_SQRT_2;
    use testing::dataset_of;

    /// Users of the items: {0, 1, 3}, {0, 1, 2, 3}, {0} and {2, 3}.
    const PAIRS: [(u32, u32); 10] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 1), (2, 3), (3, 0), (3, 1), (3, 3)];

    #[track_caller]
    fn assert_scores(settings: ItemKnn, pairs: &[(u32, u32)], user: u32, expected: [f32; 4]) {
        let dataset = dataset_of([4, 4], pairs);
        let found = scores(&settings.fit(&dataset, 1 << 20).unwrap(), &dataset, user);
        assert!(
            found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6),
            "{found:?}"
        );
    }

    /// S_01 = 3 / sqrt 12, S_02 = 1 / sqrt 3, S_03 = 1 / sqrt 6, S_12 = 1 / 2, S_13 = 2 / sqrt 8 and S_23 = 0, which is never kept. User 2 has the items 1 and 3.
    #[test]
    fn scores_are_those_by_hand() {
        let all = ItemKnn { neighbours: 100, shrink: 0.0 };
        assert_scores(all, &PAIRS, 2, [0.866_025_4 + 0.408_248_3, FRAC_1_SQRT_2, 0.5, FRAC_1_SQRT_2]);
        // Item 1 for item 0, item 0 for items 1 and 2, item 1 for item 3.
        assert_scores(ItemKnn { neighbours: 1, shrink: 0.0 }, &PAIRS, 2, [0.866_025_4, 0.0, 0.0, FRAC_1_SQRT_2]);
        assert_scores(ItemKnn { neighbours: 1, shrink: 0.0 }, &PAIRS, 1, [0.866_025_4, 0.866_025_4, 0.577_350_3, FRAC_1_SQRT_2]);
    }

    /// S_01 = 3 / (sqrt 12 + 1), S_03 = 1 / (sqrt 6 + 1), S_12 = 1 / 3 and S_13 = 2 / (sqrt 8 + 1).
    #[test]
    fn a_shrinkage_is_added_to_the_denominator() {
        let shrunk = ItemKnn { neighbours: 2, shrink: 1.0 };
        assert_scores(shrunk, &PAIRS, 2, [0.672_027_9, 0.522_407_8, 1.0 / 3.0, 0.522_407_8]);
    }

    /// Users and items of [`PAIRS`] change places: items 0 and 3 are equally similar to item 1, items 1 and 2 to item 3, by 2 / sqrt 6.
    #[test]
    fn of_equally_similar_items_the_first_stays() {
        let transposed = PAIRS.map(|(user, item)| (item, user));
        // User 3 has the items 2 and 3: item 3 stays for item 2, and items 0 and 1 for items 1 and 3.
        assert_scores(ItemKnn { neighbours: 1, shrink: 0.0 }, &transposed, 3, [0.0, 0.0, 0.816_496_6, 0.0]);
        // User 2 has item 0 alone, which stays for item 1 only.
        assert_scores(ItemKnn { neighbours: 1, shrink: 0.0 }, &transposed, 2, [0.0, 0.816_496_6, 0.0, 0.0]);
    }

    #[test]
    fn a_catalogue_beyond_the_memory_is_refused_with_the_arithmetic() {
        let message = ItemKnn { neighbours: 2, shrink: 0.0 }.fit(&dataset_of([4, 4], &PAIRS), 100).unwrap_err().to_string();
        assert!(message.starts_with("item-knn on 4 items needs") && message.contains("--memory"), "{message}");
    }

    proptest! {
        #[test]
        fn scores_are_those_of_dense_matrices((items, nearest) in dense::case()) {
            let users = items[0].len();
            let pairs: Vec<(u32, u32)> = dense::pairs(&items).into_iter().map(|(item, user)| (user, item)).collect();
            let dataset = dataset_of([users, items.len()], &pairs);
            let scorer = ItemKnn { neighbours: nearest.neighbours, shrink: nearest.shrink }.fit(&dataset, 1 << 20).unwrap();
            let kept = dense::kept(nearest, &items);
            for user in 0..users {
                let expected = kept.iter().map(|kept| kept.iter().zip(&items).map(|(weight, item)| weight * f64::from(u8::from(item[user]))).sum::<f64>());
                for (found, expected) in scores(&scorer, &dataset, user as u32).into_iter().zip(expected) {
                    prop_assert!((f64::from(found) - expected).abs() < 1e-5, "{} {}", found, expected);
                }
            }
        }
    }
}

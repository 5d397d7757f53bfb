//! Nearest users: an item's score is the sum of the similarities of the users that have it among those most similar to the user.
//!
//! ```text
//! S_uv = c_uv / (|r_u| |r_v| + shrink)        s(u, j) = sum of S_uv over the users v that have j among the `neighbours` users nearest to u
//! ```
//! c_uv counts the train items of both users and |r_u|² those of user u: without shrinkage S is the cosine of the binary rows. A user is not near
//! oneself; of equally similar users the one that comes first stays; users without a common item are never near. Ratings, which the
//! papers weigh around a user's mean, are all 1 here. Resnick et al., CSCW 1994; Herlocker et al., SIGIR 1999.

use super::{BackboneKind, Facts, FoldIn, NearestUsers, Sizes, Stored, co_occurrence::Binary, kind::ClosedForm, nearest::Nearest};
use crate::Result;
use dataset::Dataset;
use evaluator::{Scorer, UserNeighbours};
use serde::{Deserialize, Serialize};

/// `user-knn` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserKnn {
    /// How many users are kept for each user, at least 1.
    #[serde(default = "hundred")]
    pub neighbours: u32,
    /// What is added to the denominator, at least 0: it favours similarities that many items bear out.
    #[serde(default)]
    pub shrink: f64,
}

fn hundred() -> u32 {
    100
}

impl UserKnn {
    fn nearest(&self) -> Nearest {
        Nearest { neighbours: self.neighbours, shrink: self.shrink }
    }
}

impl BackboneKind for UserKnn {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Resnick et al. 1994; Herlocker et al. 1999",
            cost: "an addition for each two users of an item",
            unknown_user: "all items have the score 0: they are tied",
            values: "-",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        self.nearest().check()
    }

    fn stored(&self) -> Stored {
        Stored::NearestUsers { neighbours: self.neighbours }
    }

    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::Neighbours(Box::new(self.nearest()))
    }
}

impl ClosedForm for UserKnn {
    /// The kept similarities, from user u to user v.
    fn fit(&self, dataset: &Dataset, memory: usize) -> Result<Scorer> {
        let users = dataset.users();
        self.nearest().fits(users as u64, Sizes::of(dataset), memory, || format!("user-knn on {users} users"))?;
        Ok(self.nearest().among(dataset))
    }

    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        self.nearest().peak(sizes.users, sizes).max(self.stored().fitted(sizes, ranking))
    }
}

impl NearestUsers for Nearest {
    fn among(&self, dataset: &Dataset) -> Scorer {
        let (known, users_of) = (dataset.known(), dataset.train.transpose(dataset.items()));
        Scorer::UserNeighbours(UserNeighbours {
            weights: self.of_rows(Binary { by_row: &known, by_column: &users_of }),
            items: dataset.items(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{nearest::dense, testing::scores};
    use super::*;
    use proptest::prelude::*;
    use testing::dataset_of;

    /// Items of the users: {0, 1, 2}, {0, 1}, {1, 3} and {0, 1, 3}.
    const PAIRS: [(u32, u32); 10] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 1), (2, 3), (3, 0), (3, 1), (3, 3)];

    #[track_caller]
    fn assert_scores(settings: UserKnn, pairs: &[(u32, u32)], user: u32, expected: [f32; 4]) {
        let dataset = dataset_of([4, 4], pairs);
        let found = scores(&settings.fit(&dataset, 1 << 20).unwrap(), &dataset, user);
        assert!(
            found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6),
            "{found:?}"
        );
    }

    /// S_01 = 2 / sqrt 6, S_02 = 1 / sqrt 6, S_03 = 2 / 3.
    #[test]
    fn scores_are_those_by_hand() {
        let all = UserKnn { neighbours: 100, shrink: 0.0 };
        let (s01, s02, s03) = (0.816_496_6, 0.408_248_3, 2.0 / 3.0);
        assert_scores(all, &PAIRS, 0, [s01 + s03, s01 + s02 + s03, 0.0, s02 + s03]);
        assert_scores(UserKnn { neighbours: 2, shrink: 0.0 }, &PAIRS, 0, [s01 + s03, s01 + s03, 0.0, s03]);
    }

    /// User 0 is held out with its items; user 4 is too, and near to nobody of train. S_01 = 2 / sqrt 6, S_02 = 1 / sqrt 6, S_03 = 2 / 3.
    #[test]
    fn a_new_user_has_neighbours_in_train_alone() {
        let fold_in = dataset::Interactions::from_pairs(5, [(0, 0), (0, 1), (0, 2), (4, 2)].into_iter());
        let dataset = Dataset { fold_in: Some(fold_in), ..dataset_of([5, 4], &PAIRS[3..]) };
        let Scorer::UserNeighbours(UserNeighbours { weights, .. }) = UserKnn { neighbours: 100, shrink: 0.0 }.nearest().among(&dataset)
        else {
            panic!("no neighbours")
        };
        let found: Vec<(u32, f32)> = weights.row(0).collect();
        assert_eq!(found.iter().map(|(user, _)| *user).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(
            found.iter().zip([0.816_496_6, 0.408_248_3, 2.0 / 3.0]).all(|((_, found), expected)| (found - expected).abs() < 1e-6),
            "{found:?}"
        );
        assert_eq!((weights.row(4).count(), weights.row(1).map(|(user, _)| user).collect::<Vec<_>>()), (0, vec![2, 3]));
    }

    /// S_01 = 2 / (sqrt 6 + 1), S_02 = 1 / (sqrt 6 + 1), S_03 = 2 / 4.
    #[test]
    fn a_shrinkage_is_added_to_the_denominator() {
        let (s01, s02, s03) = (0.579_795_9, 0.289_897_9, 0.5);
        assert_scores(UserKnn { neighbours: 3, shrink: 1.0 }, &PAIRS, 0, [s01 + s03, s01 + s02 + s03, 0.0, s02 + s03]);
    }

    /// Users 1 and 2 are equally similar to user 3, users 0 and 3 to user 1, by 2 / sqrt 6.
    #[test]
    fn of_equally_similar_users_the_first_stays() {
        let one = || UserKnn { neighbours: 1, shrink: 0.0 };
        assert_scores(one(), &PAIRS, 3, [0.816_496_6, 0.816_496_6, 0.0, 0.0]);
        assert_scores(one(), &PAIRS, 1, [0.816_496_6, 0.816_496_6, 0.816_496_6, 0.0]);
    }

    #[test]
    fn a_user_without_items_has_scores_of_zero() {
        let pairs: Vec<(u32, u32)> = PAIRS.into_iter().filter(|&(user, _)| user != 2).collect();
        assert_scores(UserKnn { neighbours: 100, shrink: 0.0 }, &pairs, 2, [0.0; 4]);
    }

    #[test]
    fn users_beyond_the_memory_are_refused_with_the_arithmetic() {
        let message = UserKnn { neighbours: 2, shrink: 0.0 }.fit(&dataset_of([4, 4], &PAIRS), 100).unwrap_err().to_string();
        assert!(message.starts_with("user-knn on 4 users needs") && message.contains("--memory"), "{message}");
    }

    proptest! {
        #[test]
        fn scores_are_those_of_dense_matrices((users, nearest) in dense::case()) {
            let items = users[0].len();
            let dataset = dataset_of([users.len(), items], &dense::pairs(&users));
            let scorer = UserKnn { neighbours: nearest.neighbours, shrink: nearest.shrink }.fit(&dataset, 1 << 20).unwrap();
            for (user, kept) in dense::kept(nearest, &users).iter().enumerate() {
                let of_item = |item: usize| kept.iter().zip(&users).map(|(weight, other)| weight * f64::from(u8::from(other[item]))).sum::<f64>();
                for (item, found) in scores(&scorer, &dataset, user as u32).into_iter().enumerate() {
                    prop_assert!((f64::from(found) - of_item(item)).abs() < 1e-5, "{} {}", found, of_item(item));
                }
            }
        }
    }
}

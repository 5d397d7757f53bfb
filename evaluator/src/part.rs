//! What is ranked of a held-out part: by default the users of whom a model can know something.
//!
//! A user is unknown where it has held-out items, no train interaction and no history to fold in, as those who first appear after the moment of a temporal split. Models
//! that learn a vector for each user have a random one for it; their scores say nothing of the model.

use crate::{Error, Result};
use dataset::{Dataset, Interactions, Split};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Which users with held-out items are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Users {
    /// Users with train interactions.
    Known,
    /// All users, also those without train interactions, whom no training touched.
    All,
}

/// The held-out interactions that are ranked.
#[derive(Clone, Debug)]
pub struct RankedPart<'a> {
    /// Held-out interactions of the ranked users: users who are left out have none.
    pub interactions: Cow<'a, Interactions>,
    /// How many users have held-out items, no train interaction and no history to fold in, ranked or not.
    pub unknown_users: usize,
}

impl<'a> RankedPart<'a> {
    /// What `users` leaves of a part.
    ///
    /// # Errors
    /// [`Error::Ranking`] where no user is left.
    pub fn new(dataset: &'a Dataset, split: Split, users: Users) -> Result<Self> {
        let (name, part, held_out) = (&dataset.name, split.name(), dataset.split(split));
        if held_out.is_empty() {
            return Err(Error::Ranking { reason: format!("dataset `{name}` has no {part} interactions") });
        }
        let is_known = |user: usize| !dataset.train.row(user).is_empty() || dataset.is_held_out(user);
        let count = |known: bool| (0..held_out.users()).filter(|&user| !held_out.row(user).is_empty() && is_known(user) == known).count();
        let unknown_users = count(false);
        let interactions = match users {
            Users::All => Cow::Borrowed(held_out),
            Users::Known if unknown_users == 0 => Cow::Borrowed(held_out),
            Users::Known if count(true) == 0 => {
                let reason = format!(
                    "none of the {unknown_users} users with {part} interactions in dataset `{name}` has a train interaction, so that no model knows any of \
                     them: choose a split that leaves users in train"
                );
                return Err(Error::Ranking { reason });
            }
            Users::Known => Cow::Owned(held_out.of_users(is_known)),
        };
        Ok(Self { interactions, unknown_users })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Users 0 and 2 have train items, 1 and 2 test items, 3 a validation item.
    fn dataset() -> Dataset {
        let part = |pairs: &[(u32, u32)]| Interactions::from_pairs(4, pairs.iter().copied());
        Dataset {
            name: "small".into(),
            fingerprint: "f00d".into(),
            user_ids: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            item_ids: ["p", "q", "r"].map(str::to_owned).to_vec(),
            train: part(&[(0, 0), (2, 0)]),
            validation: part(&[(3, 2)]),
            one_node_set: false,
            test: part(&[(1, 0), (1, 1), (2, 2)]),
            fold_in: None,
            order: None,
            steps: Vec::new(),
            settings: serde_json::Value::Null,
        }
    }

    #[test]
    fn unknown_users_are_counted_and_left_out_unless_all_are_asked_for() {
        let dataset = dataset();
        let of = |users| RankedPart::new(&dataset, Split::Test, users).unwrap();
        let (known, all) = (of(Users::Known), of(Users::All));
        assert_eq!((known.unknown_users, all.unknown_users), (1, 1));
        assert_eq!(known.interactions.pairs().collect::<Vec<_>>(), [(2, 2)]);
        assert_eq!(known.interactions.users(), 4);
        assert_eq!(*all.interactions, dataset.test);
    }

    #[test]
    fn no_user_to_rank_is_an_error() {
        let mut dataset = dataset();
        let message = |dataset: &Dataset, split| RankedPart::new(dataset, split, Users::Known).unwrap_err().to_string();
        let unknown = message(&dataset, Split::Validation);
        assert!(
            unknown.contains("none of the 1 users with validation interactions in dataset `small` has a train interaction"),
            "{unknown}"
        );
        dataset.test = Interactions::empty(4);
        assert!(message(&dataset, Split::Test).contains("dataset `small` has no test interactions"));
    }
}

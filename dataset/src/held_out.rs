//! Users whom no training sees: who they are, what a training sees without them, and what is known of them when models are ranked.

use crate::{Dataset, Interactions, Order, quote};
use std::{borrow::Cow, iter};

impl Dataset {
    /// What a model may know of each user when it is ranked: train, and of users whom no training sees the histories to fold in.
    pub fn known(&self) -> Cow<'_, Interactions> {
        match &self.fold_in {
            None => Cow::Borrowed(&self.train),
            Some(histories) => Cow::Owned(self.train.or_rows_of(histories)),
        }
    }

    /// Whether no training sees a user, who is known by a history to fold in alone.
    pub fn is_held_out(&self, user: usize) -> bool {
        self.fold_in.as_ref().is_some_and(|histories| !histories.row(user).is_empty())
    }

    /// What a training sees where the split holds users out: train, of the users in it alone, with dense ids without gaps; and the dense
    /// id that each of them has here. `None` where the split holds no users out.
    pub fn seen_in_training(&self) -> Option<(Self, Vec<u32>)> {
        self.fold_in.as_ref()?;
        let users: Vec<u32> = (0..self.users() as u32).filter(|&user| !self.is_held_out(user as usize)).collect();
        let offsets = iter::once(0).chain(users.iter().map(|&user| self.train.offsets()[user as usize + 1])).collect();
        // Users who are held out have no row in train, so that the rows of the others follow each other.
        let train = Interactions::from_sorted(offsets, self.train.items().to_vec());
        let nothing = || Interactions::empty(users.len());
        let seen = Self {
            name: self.name.clone(),
            fingerprint: self.fingerprint.clone(),
            user_ids: users.iter().map(|&user| self.user_ids[user as usize].clone()).collect(),
            item_ids: self.item_ids.clone(),
            train,
            fold_in: None,
            validation: nothing(),
            one_node_set: self.one_node_set,
            test: nothing(),
            order: self.order.as_ref().map(|order| Order { train: order.train.clone(), ..Order::default() }),
            steps: Vec::new(),
            settings: serde_json::Value::Null,
        };
        Some((seen, users))
    }

    /// Checks that no training sees a user who has a history to fold in.
    pub(crate) fn check_held_out(&self) -> Result<(), String> {
        match (0..self.users()).find(|&user| self.is_held_out(user) && !self.train.row(user).is_empty()) {
            None => Ok(()),
            Some(user) => {
                let user = quote::value(&self.user_ids[user]);
                Err(format!("user `{user}` has a history to fold in and train interactions; training may not see whom the split holds out"))
            }
        }
    }
}

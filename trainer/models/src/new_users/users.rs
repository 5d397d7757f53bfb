//! Users who come to a trained model, and the dataset that they come to.

use dataset::{Dataset, Interactions, Order};
use std::{borrow::Cow, iter};

/// Users that a model has not seen, among those that it has.
pub struct NewUsers<'a> {
    /// The users of the model and the new ones, who have histories to fold in and no train interactions.
    dataset: Cow<'a, Dataset>,
    /// The dense id of each user of the model in that dataset.
    pub of_model: Vec<u32>,
    /// The dense id of each new user in that dataset.
    pub new: Vec<u32>,
    /// The new users' histories, in their order: dense item ids.
    pub histories: Interactions,
}

impl<'a> NewUsers<'a> {
    /// The users whom a split holds out, with what a training sees without them; `None` where it holds none out.
    pub fn held_out(dataset: &'a Dataset) -> Option<(Dataset, Self)> {
        let (seen, of_model) = dataset.seen_in_training()?;
        let new = (0..dataset.users() as u32).filter(|&user| dataset.is_held_out(user as usize)).collect();
        Some((seen, Self::within(Cow::Borrowed(dataset), of_model, new)))
    }

    /// Users with own ids and histories of their own, each item at its place in the history, beside those of whom a model knows by a dataset. Users whom its split holds out are left out.
    pub fn beside(dataset: Dataset, user_ids: Vec<String>, histories: &Interactions, places: Vec<u32>) -> NewUsers<'static> {
        let (seen, count) = (dataset.seen_in_training().map_or(dataset, |(seen, _)| seen), histories.users());
        let (known, all) = (seen.users(), seen.users() + count);
        let after = |part: &Interactions| {
            let end = part.len();
            Interactions::from_sorted(part.offsets().iter().copied().chain(iter::repeat_n(end, count)).collect(), part.items().to_vec())
        };
        let offsets = iter::repeat_n(0, known).chain(histories.offsets().iter().copied()).collect();
        let joined = Dataset {
            user_ids: seen.user_ids.into_iter().chain(user_ids).collect(),
            train: after(&seen.train),
            fold_in: Some(Interactions::from_sorted(offsets, histories.items().to_vec())),
            validation: Interactions::empty(all),
            test: Interactions::empty(all),
            order: Some(Order { fold_in: places, ..Order::default() }),
            ..seen
        };
        NewUsers::within(Cow::Owned(joined), (0..known as u32).collect(), (known as u32..all as u32).collect())
    }

    fn within(dataset: Cow<'a, Dataset>, of_model: Vec<u32>, new: Vec<u32>) -> Self {
        let rows = || new.iter().flat_map(|&user| dataset.fold_in.iter().map(move |histories| histories.row(user as usize)));
        let offsets = iter::once(0).chain(rows().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        let histories = Interactions::from_sorted(offsets.collect(), rows().flatten().copied().collect());
        Self { dataset, of_model, new, histories }
    }

    /// The users of the model and the new ones.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The dataset of the users of the model and the new ones.
    pub fn into_dataset(self) -> Dataset {
        self.dataset.into_owned()
    }

    /// The users of the model and the new ones, whose histories are train interactions.
    pub(super) fn joined(&self) -> Dataset {
        let whole = &*self.dataset;
        let nothing = || Interactions::empty(whole.users());
        Dataset {
            name: whole.name.clone(),
            fingerprint: whole.fingerprint.clone(),
            user_ids: whole.user_ids.clone(),
            item_ids: whole.item_ids.clone(),
            train: whole.fold_in.as_ref().map_or_else(|| whole.train.clone(), |histories| whole.train.or_rows_of(histories)),
            fold_in: None,
            validation: nothing(),
            test: nothing(),
            one_node_set: whole.one_node_set,
            order: None,
            steps: Vec::new(),
            settings: serde_json::Value::Null,
        }
    }

    /// The new users alone, by their numbers.
    pub fn alone(&self) -> Dataset {
        let (whole, nothing) = (&*self.dataset, || Interactions::empty(self.new.len()));
        Dataset {
            name: whole.name.clone(),
            fingerprint: whole.fingerprint.clone(),
            user_ids: self.new.iter().map(|&user| whole.user_ids[user as usize].clone()).collect(),
            item_ids: whole.item_ids.clone(),
            train: nothing(),
            fold_in: Some(self.histories.clone()),
            validation: nothing(),
            one_node_set: whole.one_node_set,
            test: nothing(),
            // No others have rows in the fold-in, so that theirs follow each other.
            order: whole.order.as_ref().map(|order| Order { fold_in: order.fold_in.clone(), ..Order::default() }),
            steps: Vec::new(),
            settings: serde_json::Value::Null,
        }
    }
}

//! Top-N lists: a model of which no more is known than what it retrieved.

use super::{
    ScorerKind,
    kind::Stored,
    scores::Scores,
    tensors::{Tensors, view},
};
use crate::{Error, Result};
use dataset::Interactions;
use safetensors::{Dtype, tensor::TensorView};
use serde::{Deserialize, Serialize};

/// What is listed for each user, the best first; nothing else was retrieved. Items of equal scores are ties, and stand by their ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Lists {
    /// Number of items of the catalogue.
    catalogue: usize,
    starts: Vec<u64>,
    items: Vec<u32>,
    scores: Vec<f64>,
}

impl Lists {
    /// Makes lists of each user's (item, score) entries in any order, of a catalogue of so many items.
    ///
    /// # Errors
    /// In words: a score that is not finite, an item that stands twice in a list, or one outside of the catalogue.
    pub fn from_rows(catalogue: usize, rows: Vec<Vec<(u32, f64)>>) -> std::result::Result<Self, String> {
        let mut starts = Vec::with_capacity(rows.len() + 1);
        starts.push(0);
        let (mut items, mut scores) = (Vec::new(), Vec::new());
        for mut row in rows {
            row.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
            items.extend(row.iter().map(|entry| entry.0));
            scores.extend(row.iter().map(|entry| entry.1 + 0.0)); // of the two zeros the positive one
            starts.push(items.len() as u64);
        }
        Self::from_parts(catalogue, starts, items, scores)
    }

    /// Makes lists of what is stored: where each user's list starts, `[users + 1]`, and the items and scores of all entries.
    fn from_parts(catalogue: usize, starts: Vec<u64>, items: Vec<u32>, scores: Vec<f64>) -> std::result::Result<Self, String> {
        let (first, last) = (starts.first().copied(), starts.last().copied());
        if items.len() != scores.len() || (first, last) != (Some(0), Some(items.len() as u64)) || !starts.is_sorted() {
            let (items, scores) = (items.len(), scores.len());
            return Err(format!(
                "the lists of users do not follow each other from the first to the last of {items} items and {scores} scores"
            ));
        }
        let lists = Self { catalogue, starts, items, scores };
        let mut seen: Vec<u32> = Vec::new();
        for user in 0..lists.users() {
            let range = lists.range(user);
            seen.clear();
            seen.extend_from_slice(&lists.items[range.clone()]);
            seen.sort_unstable();
            if let Some(twice) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(format!("item {} stands twice in the list of user {user}", twice[0]));
            }
            if let Some(item) = seen.last().filter(|&&item| item as usize >= catalogue) {
                return Err(format!("item {item} in the list of user {user} is outside of the {catalogue} items"));
            }
            let scores = &lists.scores[range];
            if let Some(score) = scores.iter().find(|score| !score.is_finite()) {
                return Err(format!("the list of user {user} has the score {score}; every score must be finite"));
            }
            if !scores.is_sorted_by(|one, next| one >= next) {
                return Err(format!("the scores of the list of user {user} do not fall"));
            }
        }
        Ok(lists)
    }

    /// Number of users, with or without a list.
    pub fn users(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of items of the catalogue, listed or not.
    pub fn items(&self) -> usize {
        self.catalogue
    }

    /// Number of entries of all lists.
    pub fn entries(&self) -> usize {
        self.items.len()
    }

    /// A user's items and their scores, the best first.
    pub fn row(&self, user: usize) -> impl ExactSizeIterator<Item = (u32, f64)> {
        let range = self.range(user);
        self.items[range.clone()].iter().copied().zip(self.scores[range].iter().copied())
    }

    fn range(&self, user: usize) -> std::ops::Range<usize> {
        self.starts[user] as usize..self.starts[user + 1] as usize
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSizes {
    users: usize,
    items: usize,
    entries: usize,
}

impl ScorerKind for Lists {
    fn items(&self) -> usize {
        self.catalogue
    }

    fn users(&self) -> Option<usize> {
        Some(Lists::users(self))
    }

    fn values(&self) -> Vec<f32> {
        self.scores.iter().map(|&score| score as f32).collect()
    }

    /// All lists are checked where they are made.
    fn check(&self) -> std::result::Result<(), String> {
        Ok(())
    }

    fn scores<'a>(&'a self, _history: &'a Interactions, _is_ordered: bool, _memory: usize) -> Result<Box<dyn Scores + 'a>> {
        Err(Error::Ranking { reason: "top-N lists have no scores of items that they do not name".to_owned() })
    }

    fn lists(&self) -> Option<&Lists> {
        Some(self)
    }
}

impl Stored for Lists {
    type Sizes = ListSizes;

    fn sizes(&self) -> ListSizes {
        ListSizes { users: Lists::users(self), items: self.catalogue, entries: self.entries() }
    }

    fn tensors(&self) -> Vec<(String, TensorView<'_>)> {
        vec![
            view("starts", Dtype::U64, vec![self.starts.len()], &self.starts),
            view("items", Dtype::U32, vec![self.entries()], &self.items),
            view("scores", Dtype::F64, vec![self.entries()], &self.scores),
        ]
    }

    fn read(ListSizes { users, items, entries }: ListSizes, tensors: &Tensors<'_>) -> std::result::Result<Self, String> {
        let starts = users.checked_add(1).ok_or("the number of its users is too large")?;
        let starts = tensors.numbers("starts", Dtype::U64, &[starts], u64::from_le_bytes)?;
        let listed = tensors.numbers("items", Dtype::U32, &[entries], u32::from_le_bytes)?;
        Self::from_parts(items, starts, listed, tensors.numbers("scores", Dtype::F64, &[entries], f64::from_le_bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_ordered_by_score_and_then_by_item() {
        let lists = Lists::from_rows(9, vec![vec![(7, 0.5), (2, 1.5), (3, 0.5)], vec![], vec![(8, -1.0)]]).unwrap();
        assert_eq!((lists.users(), lists.items(), lists.entries()), (3, 9, 4));
        assert!(lists.row(0).eq([(2, 1.5), (3, 0.5), (7, 0.5)]) && lists.row(1).len() == 0 && lists.row(2).eq([(8, -1.0)]));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        let refused = |row: Vec<(u32, f64)>| Lists::from_rows(9, vec![vec![], row]).unwrap_err();
        assert_eq!(refused(vec![(4, 1.0), (4, 0.5)]), "item 4 stands twice in the list of user 1");
        assert_eq!(refused(vec![(9, 1.0)]), "item 9 in the list of user 1 is outside of the 9 items");
        assert_eq!(refused(vec![(1, f64::NAN)]), "the list of user 1 has the score NaN; every score must be finite");
        let parts = |starts: &[u64], scores: &[f64]| Lists::from_parts(9, starts.to_vec(), vec![1, 2], scores.to_vec()).unwrap_err();
        assert!(parts(&[0, 2, 1, 2], &[1.0, 0.0]).contains("do not follow each other"));
        assert!(parts(&[0, 1], &[1.0, 0.0]).contains("of 2 items and 2 scores"));
        assert!(parts(&[], &[1.0, 0.0]).contains("do not follow each other"));
        assert_eq!(parts(&[0, 2], &[0.0, 1.0]), "the scores of the list of user 0 do not fall");
    }
}

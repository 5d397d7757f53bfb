//! What trials reached, user by user: what metrics, tests and tables go by.

use crate::{MetricAt, groups::GroupValue, rank::ListCounts};
use dataset::Split;
use std::sync::Arc;

/// What one trial reached on every ranked user.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialValues {
    /// The trial's id.
    pub trial: String,
    /// The method that the trial is a seed of.
    pub method: String,
    /// The dataset's name.
    pub dataset: String,
    /// The trial's seed; `None` where the model fits at once.
    pub seed: Option<u64>,
    /// The seed of the split that it was ranked on, where its dataset has repeated splits.
    pub split_seed: Option<u64>,
    /// The part that was ranked.
    pub split: Split,
    /// The users' dense ids, ascending.
    pub users: Vec<u32>,
    /// The users' own ids, in the same order.
    pub user_ids: Arc<[String]>,
    /// Each metric's values, in the order of `users`; a single value of a metric of all users' lists.
    pub values: Vec<(MetricAt, Vec<f64>)>,
    /// How many users have a held-out item whose rank depends on the rule for ties; without `auc`, one that may stand within the largest
    /// cutoff.
    pub tied_users: usize,
    /// What is remarkable of the model's lists, where it is top-N lists; `None` in what is read from tables, which do not have it.
    pub listed: Option<ListCounts>,
    /// How many users have held-out items and no train interaction; `users` has them where all were to be ranked.
    pub unknown_users: usize,
    /// How many drawn items of each user held-out ones were ranked among; `None` for the full catalogue.
    pub sampled_candidates: Option<u32>,
    /// What was reached in groups of users and, where lists were kept, of items.
    pub groups: Vec<GroupValue>,
}

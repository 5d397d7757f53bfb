//! The values of a trial on some of its users.

use evaluator::{MetricAt, TrialValues};
use std::{collections::HashMap, sync::Arc};

/// A trial by one metric on those of these users that it ranked, by their own ids, numbered as they stand in the list; none where it has not that metric or
/// ranked none of them.
pub(crate) fn on_users(trial: &TrialValues, ids: &Arc<[String]>, at: MetricAt) -> Option<TrialValues> {
    let (_, values) = trial.values.iter().find(|(metric, _)| *metric == at)?;
    let known: HashMap<&str, f64> = trial.user_ids.iter().map(String::as_str).zip(values.iter().copied()).collect();
    let found = (0..).zip(ids.iter()).filter_map(|(user, id)| Some((user, known.get(id.as_str()).copied()?)));
    let (users, values): (Vec<u32>, Vec<f64>) = found.unzip();
    let user_ids = match users.len() {
        0 => return None,
        count if count == ids.len() => Arc::clone(ids),
        _ => users.iter().map(|&user| ids[user as usize].clone()).collect(),
    };
    Some(TrialValues { users, user_ids, values: vec![(at, values)], groups: Vec::new(), listed: None, ..trial.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Split;

    #[test]
    fn a_trial_is_on_those_of_the_users_that_it_ranked() {
        let at: MetricAt = "ndcg@20".parse().unwrap();
        let ids = |ids: &[&str]| -> Arc<[String]> { ids.iter().map(|&id| id.to_owned()).collect() };
        let trial = TrialValues {
            trial: "t".to_owned(),
            method: "mf".to_owned(),
            dataset: "d".to_owned(),
            seed: None,
            split_seed: Some(1),
            split: Split::Test,
            users: vec![3, 5, 8],
            user_ids: ids(&["ann", "bob", "eve"]),
            values: vec![(at, vec![0.1, 0.2, 0.3])],
            tied_users: 0,
            listed: None,
            unknown_users: 0,
            sampled_candidates: None,
            groups: Vec::new(),
        };
        let on = |group: &[&str]| on_users(&trial, &ids(group), at).map(|on| (on.users, on.user_ids.to_vec(), on.values[0].1.clone()));
        assert_eq!(on(&["eve", "ann"]), Some((vec![0, 1], vec!["eve".to_owned(), "ann".to_owned()], vec![0.3, 0.1])));
        assert_eq!(on(&["bob", "joe", "ann"]), Some((vec![0, 2], vec!["bob".to_owned(), "ann".to_owned()], vec![0.2, 0.1])));
        assert_eq!(on(&["joe"]), None);
    }
}

//! The values of a trial on some of its users.

use evaluator::{MetricAt, TrialValues};
use std::{collections::HashMap, sync::Arc};

/// A trial by one metric on these users alone, by their own ids and in this order; none where it has not that metric or did not rank one of them.
pub(crate) fn on_users(trial: &TrialValues, ids: &Arc<[String]>, at: MetricAt) -> Option<TrialValues> {
    let (_, values) = trial.values.iter().find(|(metric, _)| *metric == at)?;
    let known: HashMap<&str, f64> = trial.user_ids.iter().map(String::as_str).zip(values.iter().copied()).collect();
    let values = ids.iter().map(|id| known.get(id.as_str()).copied()).collect::<Option<Vec<f64>>>()?;
    Some(TrialValues {
        users: (0..ids.len() as u32).collect(),
        user_ids: Arc::clone(ids),
        values: vec![(at, values)],
        groups: Vec::new(),
        listed: None,
        ..trial.clone()
    })
}

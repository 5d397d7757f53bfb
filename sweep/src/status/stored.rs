//! The sweeps that a storage has tables of, and what stood under their names before.

use crate::{
    chain::chain,
    mark,
    plan::{Plan, Titles},
    runner::{kept, read_plan, stored_metrics},
};
use anyhow::{Result, bail};
use dataset::Location;
use evaluator::{MetricAt, TrialValues, findings::methods_at, tables::MetricRow};
use serde::Serialize;

/// A plan whose tables a storage has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoredPlan {
    /// The sweep's name.
    pub sweep: String,
    /// The folder of the tables, below the storage.
    pub folder: String,
    /// The first digits of the hash of `plan.json`.
    pub plan: String,
    /// How many methods there are.
    pub methods: usize,
    /// How many trials there are.
    pub trials: usize,
    /// The first method of each dataset's leaderboard by the metric that decides: `books: softmax on mf-64, ndcg@20 0.1234`. Empty where nothing was ranked, or the tables are damaged.
    pub best: Vec<String>,
}

/// The plans that a storage has tables of: by name, the plan that ran last first.
///
/// # Errors
/// A storage that ranksweep has not marked, or that cannot be listed.
pub fn stored(storage: &Location) -> Result<Vec<StoredPlan>> {
    storage.reach()?;
    if !mark::is_marked(storage)? {
        bail!("{storage} has no mark of ranksweep (ranksweep.json): nothing has run there");
    }
    let mut all = Vec::new();
    for sweep in storage.join("sweeps").folders()? {
        let earlier = kept(&sweep)?.into_iter().rev().map(|kept| kept.folder);
        for folder in [sweep.clone()].into_iter().chain(earlier) {
            match read_plan(&folder) {
                Ok(plan) => all.extend(plan.map(|plan| of(storage, &folder, &plan))),
                Err(error) => tracing::warn!("{folder} is left out: {}", chain(&error.into())),
            }
        }
    }
    Ok(all)
}

fn of(storage: &Location, folder: &Location, plan: &Plan) -> StoredPlan {
    let rows = stored_metrics(folder).unwrap_or_else(|error| {
        tracing::warn!("what ranks best in {folder} is not known: {}", chain(&error));
        Vec::new()
    });
    let (titles, primary) = (Titles::new(plan), plan.evaluation.primary());
    let best = plan.dataset_names().into_iter().filter_map(|dataset| {
        let (method, mean) = best_on(dataset, primary, &rows)?;
        Some(format!("{dataset}: {}, {primary} {mean:.4}", titles.by_key(dataset, &method)))
    });
    let folder = folder.to_string();
    StoredPlan {
        sweep: plan.name.clone(),
        folder: folder.strip_prefix(&format!("{storage}/")).unwrap_or(&folder).to_owned(),
        plan: plan.hash(),
        methods: plan.methods.len(),
        trials: plan.trials().count(),
        best: best.collect(),
    }
}

/// The method that ranks best on a dataset by a metric, and its mean: that of the leaderboard, over the splits that all methods have. Of equals it is the first by
/// its key.
fn best_on(dataset: &str, at: MetricAt, rows: &[MetricRow]) -> Option<(String, f64)> {
    let trials: Vec<TrialValues> = rows.iter().filter(|row| row.dataset == dataset && row.metric == at).map(as_of_one_user).collect();
    let found = methods_at(&trials, dataset, at).ok().flatten()?;
    let means = found.methods.iter().map(|method| (method.method.clone(), method.mean()));
    means.max_by(|one, other| one.1.total_cmp(&other.1).then_with(|| other.0.cmp(&one.0)))
}

/// The mean of a trial as the value of a single user: means of means are those of all users, which need not be read.
fn as_of_one_user(row: &MetricRow) -> TrialValues {
    TrialValues {
        trial: row.trial.clone(),
        method: row.method.clone(),
        dataset: row.dataset.clone(),
        seed: row.seed,
        split_seed: row.split_seed,
        split: row.split,
        users: vec![0],
        user_ids: vec![String::new()].into(),
        values: vec![(row.metric, vec![row.value])],
        tied_users: row.tied_users,
        listed: None,
        unknown_users: row.unknown_users,
        sampled_candidates: row.sampled_candidates,
        groups: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Split;

    fn at() -> MetricAt {
        "ndcg@20".parse().unwrap()
    }

    /// The trials of a method: the seeds of their splits, and their means.
    fn trials(method: &str, means: &[(Option<u64>, f64)]) -> Vec<MetricRow> {
        let row = |(number, &(split_seed, value)): (usize, &(Option<u64>, f64))| MetricRow {
            trial: format!("{method}-{number}"),
            method: method.to_owned(),
            dataset: "books".to_owned(),
            seed: Some(number as u64),
            split_seed,
            split: Split::Test,
            metric: at(),
            value,
            users: 9,
            tied_users: 0,
            unknown_users: 0,
            sampled_candidates: None,
        };
        means.iter().enumerate().map(row).collect()
    }

    fn best(rows: &[Vec<MetricRow>]) -> Option<(String, f64)> {
        best_on("books", at(), &rows.concat())
    }

    /// On the split that both have, 0.2 is above 0.1, whatever the one reached on the other.
    #[test]
    fn splits_that_a_method_lacks_do_not_count() {
        let (few, many) = (trials("few", &[(Some(1), 0.2)]), trials("many", &[(Some(1), 0.1), (Some(2), 0.9)]));
        assert_eq!(best(&[many, few]), Some(("few".to_owned(), 0.2)));
    }

    /// The means of the splits are 0.5 and 0.125, so that of the method is 0.3125, though that of its trials is 0.375.
    #[test]
    fn splits_count_alike_whatever_their_seeds() {
        let uneven = trials("uneven", &[(Some(1), 0.5), (Some(1), 0.5), (Some(2), 0.125)]);
        let even = trials("even", &[(Some(1), 0.34375), (Some(2), 0.34375)]);
        assert_eq!(best(&[uneven, even]), Some(("even".to_owned(), 0.34375)));
    }

    #[test]
    fn without_splits_it_is_the_mean_over_seeds_and_of_equals_the_first_key() {
        let (one, other) = (trials("b", &[(None, 0.25), (None, 0.75)]), trials("a", &[(None, 0.5), (None, 0.5)]));
        assert_eq!(best(&[one, other]), Some(("a".to_owned(), 0.5)));
        assert_eq!((best(&[]), best_on("films", at(), &trials("a", &[(None, 0.5)]))), (None, None));
    }
}

//! The sweeps that a storage has tables of, and what stood under their names before.

use crate::{
    chain::chain,
    mark,
    plan::{Plan, Titles},
    runner::{kept, read_plan, stored_metrics},
};
use anyhow::{Result, bail};
use dataset::Location;
use evaluator::tables::MetricRow;
use serde::Serialize;
use std::collections::BTreeMap;

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
    /// The first method of each dataset by the metric that decides: `books: softmax on mf-64, ndcg@20 0.1234`. Empty where nothing was ranked, or the tables are damaged.
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
        let (method, mean) = best_on(dataset, rows.iter().filter(|row| row.metric == primary))?;
        Some(format!("{dataset}: {}, {primary} {mean:.4}", titles.by_key(dataset, method)))
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

/// The method with the largest mean over its trials on a dataset, and that mean; of equals the first by its key.
fn best_on<'a>(dataset: &str, rows: impl Iterator<Item = &'a MetricRow>) -> Option<(&'a str, f64)> {
    let mut of_method: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    rows.filter(|row| row.dataset == dataset).for_each(|row| of_method.entry(&row.method).or_default().push(row.value));
    let means = of_method.into_iter().map(|(method, values)| (method, values.iter().sum::<f64>() / values.len() as f64));
    means.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

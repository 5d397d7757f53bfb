//! The sweeps that a storage has tables of, and what stood under their names before.

use crate::{
    mark,
    plan::Plan,
    runner::{kept, stored_plan},
    tables::leaderboard,
};
use anyhow::{Result, bail};
use dataset::{Error, Location};
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
    /// The first method of each dataset by the metric that decides: `books: softmax on mf-64, ndcg@20 0.1234`. Empty where the report was not made.
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
            if let Some(plan) = stored_plan(&folder) {
                all.push(of(storage, &folder, &plan)?);
            }
        }
    }
    Ok(all)
}

fn of(storage: &Location, folder: &Location, plan: &Plan) -> Result<StoredPlan> {
    let primary = plan.evaluation.primary();
    let rows = match leaderboard::read(&folder.join("leaderboard.parquet")) {
        Err(Error::NotFound { .. }) => Vec::new(),
        rows => rows?,
    };
    let firsts = rows.iter().filter(|row| row.at == primary && row.rank == Some(1));
    let best = firsts.filter_map(|row| Some(format!("{}: {}, {primary} {:.4}", row.dataset, row.title, row.mean?)));
    let folder = folder.to_string();
    Ok(StoredPlan {
        sweep: plan.name.clone(),
        folder: folder.strip_prefix(&format!("{storage}/")).unwrap_or(&folder).to_owned(),
        plan: plan.hash(),
        methods: plan.methods.len(),
        trials: plan.trials().count(),
        best: best.collect(),
    })
}

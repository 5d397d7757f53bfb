//! Which trials and datasets sweeps hold.

use crate::plan::{Plan, PlannedDataset};
use anyhow::{Context, Result};
use dataset::{Dataset, Listed};
use serde::Deserialize;
use std::collections::HashSet;

/// Folders under `trials/` and `datasets/`.
#[derive(Default)]
pub(super) struct Referenced {
    pub(super) trials: HashSet<String>,
    pub(super) datasets: HashSet<String>,
}

/// The parts that are read of a stored plan, whatever version wrote it.
#[derive(Deserialize)]
struct Stored {
    datasets: Vec<StoredDataset>,
    methods: Vec<StoredMethod>,
}

#[derive(Deserialize)]
struct StoredDataset {
    fingerprint: String,
    preparation: StoredPreparation,
}

#[derive(Deserialize)]
#[serde(expecting = "the preparation of a stored plan")] // what messages about a bad plan call it
struct StoredPreparation {
    name: String,
}

#[derive(Deserialize)]
struct StoredMethod {
    configurations: Vec<StoredConfiguration>,
}

#[derive(Deserialize)]
struct StoredConfiguration {
    trials: Vec<StoredTrial>,
}

#[derive(Deserialize)]
struct StoredTrial {
    id: String,
}

impl Referenced {
    pub(super) fn of(plan: &Plan) -> Self {
        let datasets = plan.datasets.iter().map(PlannedDataset::folder).collect();
        Self { trials: plan.trials().map(|(.., trial)| trial.id.clone()).collect(), datasets }
    }

    /// Everything that a storage's plans refer to: `sweeps/<name>/plan.json`, those of its history, and `sweeps/<name>/plans/<hash>.json`.
    pub(super) fn stored(files: &[(String, Listed)]) -> Result<Self> {
        let mut all = Self::default();
        for (path, Listed { at, .. }) in files {
            match path.split('/').collect::<Vec<_>>()[..] {
                ["sweeps", _, "plan.json"] | ["sweeps", _, "history", _, "plan.json"] => {}
                ["sweeps", _, "plans", file] if file.ends_with(".json") => {}
                _ => continue,
            }
            let advice = || format!("{at} is not a plan that this build reads; nothing was removed");
            all.add(serde_json::from_slice(&at.read()?).with_context(advice)?);
        }
        Ok(all)
    }

    fn add(&mut self, plan: Stored) {
        let configurations = plan.methods.into_iter().flat_map(|method| method.configurations);
        self.trials.extend(configurations.flat_map(|configuration| configuration.trials).map(|trial| trial.id));
        self.datasets.extend(plan.datasets.iter().map(|dataset| Dataset::folder(&dataset.preparation.name, &dataset.fingerprint)));
    }
}

//! How a preparation goes: what is left after each step.

use super::Progress;
use crate::plan::PlannedDataset;
use dataset::Counts;
use indicatif::ProgressBar;
use pipeline::Prepared;
use std::time::Duration;

/// The preparation of one dataset.
pub(in crate::runner) struct DatasetStage<'a> {
    progress: &'a Progress,
    name: String,
    spinner: Option<ProgressBar>,
}

impl<'a> DatasetStage<'a> {
    pub(super) fn new(progress: &'a Progress, dataset: &PlannedDataset) -> Self {
        let name = dataset.label();
        let spinner = progress.bar(0, "{spinner} {msg} {elapsed}");
        if let Some(spinner) = &spinner {
            spinner.set_message(format!("preparing {name}"));
            spinner.enable_steady_tick(Duration::from_millis(100));
        }
        Self { progress, name, spinner }
    }

    /// One step is done.
    pub(in crate::runner) fn step(&self, counts: &Counts) {
        let Counts { step, users, items, interactions } = counts;
        tracing::info!(dataset = self.name, step, users, items, interactions, "prepared");
        self.progress.line(&format!("{}: {step}: {users} users, {items} items, {interactions} interactions", self.name));
    }

    /// The dataset stands.
    pub(in crate::runner) fn finish(self, prepared: &Prepared) {
        let manifest = &prepared.manifest;
        let (train, validation, test) = (manifest.train, manifest.validation, manifest.test);
        tracing::info!(dataset = self.name, folder = %prepared.folder, reused = prepared.reused, train, validation, test, "dataset ready");
        let fold_in = manifest.fold_in.map_or_else(String::new, |folded| format!("{folded} fold-in, "));
        let how = if prepared.reused { "found" } else { "prepared" };
        self.progress.line(&format!("{}: {how}, {train} train, {fold_in}{validation} validation, {test} test", self.name));
        if let Some(spinner) = self.spinner {
            spinner.finish_and_clear();
        }
    }
}

//! How training goes: all trials, and the epochs of the current one.

use super::Progress;
use crate::{
    plan::{PlannedRef, plain},
    runner::Standing,
};
use indicatif::ProgressBar;
use std::time::Instant;
use trainer::{EpochReport, Observer};

/// The training of all trials.
pub(in crate::runner) struct TrialStage<'a> {
    progress: &'a Progress,
    all: Option<ProgressBar>,
}

impl<'a> TrialStage<'a> {
    pub(super) fn new(progress: &'a Progress, count: usize) -> Self {
        let all = progress.bar(count as u64, "trials  {bar:20} {pos}/{len}, {eta} left");
        if let Some(bar) = &all {
            bar.tick();
        }
        Self { progress, all }
    }

    /// A trial begins, or goes on where it stopped; it trains up to so many epochs, or to its end.
    pub(in crate::runner) fn start(&self, planned: PlannedRef<'_>, until: Option<u32>) -> Watch {
        let (method, configuration, trial) = planned;
        let values = configuration.values.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect::<Vec<_>>().join(" ");
        let (label, dataset) = (&method.label, &method.dataset);
        tracing::info!(
            trial = trial.id,
            method = label,
            dataset,
            split_seed = trial.split_seed,
            seed = trial.seed(),
            values,
            until,
            "training"
        );
        let epochs = trial.trial.learning.as_ref().map_or(0, |learning| until.unwrap_or(learning.training.epochs));
        let bar = self.progress.bar(epochs.into(), "epochs  {bar:20} {pos}/{len}, {eta} left  {wide_msg}");
        let title = format!("{label} on {dataset} {values}").trim_end().to_owned();
        if let Some(bar) = &bar {
            bar.set_message(title.clone());
        }
        Watch { bar, title, metric: trial.trial.select_by.to_string(), validation: None, last: Instant::now() }
    }

    /// A trial had ended in an earlier run.
    pub(in crate::runner) fn found(&self, (method, _, trial): PlannedRef<'_>, standing: &Standing) {
        match standing.error() {
            None => tracing::info!(trial = trial.id, "found"),
            Some(error) => {
                let (label, dataset) = (&method.label, &method.dataset);
                tracing::warn!(trial = trial.id, method = label, dataset, error, "failed before; delete the trial's folder to try again");
                self.progress.line(&format!("failed before: {label} on {dataset} (trial {}): {error}", trial.id));
            }
        }
        self.step();
    }

    /// A trial has ended, has come as far as it was asked to, or has no time left.
    pub(in crate::runner) fn finish(&self, (method, _, trial): PlannedRef<'_>, standing: &Standing) {
        let (label, dataset) = (&method.label, &method.dataset);
        if let Some(fit) = standing.fit() {
            tracing::info!(trial = trial.id, best_epoch = fit.best_epoch, epochs = fit.epochs, validation = fit.validation, "trained");
        }
        if let Some(error) = standing.error() {
            let what = if matches!(standing, Standing::TimedOut(_)) { "out of time" } else { "failed" };
            tracing::warn!(trial = trial.id, method = label, dataset, error, "{what}");
            self.progress.line(&format!("{what}: {label} on {dataset} (trial {}): {error}", trial.id));
        }
        self.step();
    }

    fn step(&self) {
        if let Some(bar) = &self.all {
            bar.inc(1);
        }
    }
}

impl Drop for TrialStage<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.all {
            bar.finish_and_clear();
        }
    }
}

/// One trial's epochs.
pub(in crate::runner) struct Watch {
    bar: Option<ProgressBar>,
    title: String,
    metric: String,
    validation: Option<f64>,
    last: Instant,
}

impl Observer for Watch {
    fn epoch(&mut self, report: &EpochReport) {
        let EpochReport { epoch, epochs, loss, pairs, validation, .. } = *report;
        let pairs_per_second = pairs as f64 / self.last.elapsed().as_secs_f64().max(1e-9);
        self.last = Instant::now();
        self.validation = validation.or(self.validation);
        match validation {
            Some(value) => {
                tracing::info!(epoch, epochs, loss, pairs_per_second, metric = self.metric, value, "evaluated")
            }
            None => tracing::debug!(epoch, epochs, loss, pairs_per_second, "epoch"),
        }
        if let Some(bar) = &self.bar {
            let best = self.validation.map_or_else(String::new, |value| format!(", {} {value:.4}", self.metric));
            bar.set_position(epoch.into());
            bar.set_message(format!("{:.0}k pairs/s, loss {loss:.4}{best}, {}", pairs_per_second / 1e3, self.title));
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

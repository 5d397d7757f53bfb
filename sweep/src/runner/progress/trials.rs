//! How training goes: all trials, and the epochs of the current one.

use super::{Progress, pace::Pace};
use crate::{
    plan::{Plan, PlannedRef, Titles},
    prometheus::{Training, meter},
    runner::Standing,
};
use indicatif::ProgressBar;
use trainer::{EpochReport, Observer};

/// The training of all trials.
pub(in crate::runner) struct TrialStage<'a> {
    progress: &'a Progress,
    titles: Titles,
    all: Option<ProgressBar>,
    pace: Pace,
}

impl<'a> TrialStage<'a> {
    pub(super) fn new(progress: &'a Progress, plan: &Plan, count: usize) -> Self {
        meter().begin(count);
        let all = progress.bar(count as u64, "trials  {bar:20} {pos}/{len}, {left} left");
        let pace = Pace::of(all.as_ref());
        if let Some(bar) = &all {
            bar.tick();
        }
        Self { progress, titles: Titles::new(plan), all, pace }
    }

    /// A trial begins, or goes on where it stopped; it trains up to so many epochs, or to its end.
    pub(in crate::runner) fn start(&self, planned: PlannedRef<'_>, until: Option<u32>) -> TrialProgress {
        let (method, configuration, trial) = planned;
        let values = configuration.words();
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
        let epochs = trial.trial.epochs().map_or(0, |epochs| until.unwrap_or(epochs));
        let bar = self.progress.bar(epochs.into(), "epochs  {bar:20} {pos}/{len}, {left} left  {wide_msg}");
        let pace = Pace::of(bar.as_ref());
        let title = format!("{} on {dataset} {values}", self.titles.of(method)).trim_end().to_owned();
        if let Some(bar) = &bar {
            bar.set_message(title.clone());
        }
        let metric = trial.trial.select_by.to_string();
        let told = Training { method: label.clone(), dataset: dataset.clone(), metric, epochs, ..Training::default() };
        meter().tell(&trial.id, told.clone());
        // Other models learn without gradients, and may be at their end at once.
        let evaluations = trial.trial.learning.is_some().then(Evaluations::default);
        TrialProgress { bar, pace, title, trial: trial.id.clone(), told, evaluations }
    }

    /// A trial had ended in an earlier run.
    pub(in crate::runner) fn found(&self, (method, _, trial): PlannedRef<'_>, standing: &Standing) {
        match standing.error() {
            None => tracing::info!(trial = trial.id, "found"),
            Some(error) => {
                let (label, dataset) = (&method.label, &method.dataset);
                tracing::warn!(
                    trial = trial.id,
                    method = label,
                    dataset,
                    error,
                    "failed before; `ranksweep run --retry-failed`, or `submit --retry-failed`, tries it again"
                );
                let title = self.titles.of(method);
                self.progress.line(&format!("failed before: {title} on {dataset} (trial {}): {error}", trial.id));
            }
        }
        self.step(standing);
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
            self.progress.line(&format!("{what}: {} on {dataset} (trial {}): {error}", self.titles.of(method), trial.id));
        }
        self.pace.step();
        self.step(standing);
    }

    fn step(&self, standing: &Standing) {
        meter().end(match standing {
            // What is not trained to the end has come as far as its rung goes.
            Standing::Done(_) | Standing::Skipped | Standing::Missing => "done",
            Standing::Stopped(_) => "stopped",
            Standing::Failed(_) | Standing::Broken(_) | Standing::TimedOut(_) => "failed",
        });
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
pub(in crate::runner) struct TrialProgress {
    bar: Option<ProgressBar>,
    pace: Pace,
    title: String,
    trial: String,
    told: Training,
    evaluations: Option<Evaluations>,
}

/// The first evaluations of a training, by which one that learns nothing is noticed.
#[derive(Default)]
struct Evaluations {
    first: Option<(f64, f64)>,
    count: u32,
}

impl Evaluations {
    /// Takes the loss and the validation value of the next evaluation. Whether it is the second one, and both are the first one's to the last bit: no
    /// parameter has moved between them.
    fn nothing_moved(&mut self, loss: f64, value: f64) -> bool {
        self.count += 1;
        let first = *self.first.get_or_insert((loss, value));
        self.count == 2 && first == (loss, value)
    }
}

impl Observer for TrialProgress {
    fn damaged(&mut self, error: &trainer::Error) {
        tracing::warn!("{error}: it is trained again now");
    }

    fn epoch(&mut self, report: &EpochReport) {
        let EpochReport { epoch, epochs, loss, pairs_per_second, validation, .. } = *report;
        self.pace.step();
        let left = self.pace.left(self.told.epochs.saturating_sub(epoch));
        self.told = Training {
            epoch,
            loss: Some(loss),
            pairs_per_second: Some(pairs_per_second),
            left_seconds: left.map(|left| left.as_secs_f64()),
            validation: validation.or(self.told.validation),
            ..self.told.clone()
        };
        meter().tell(&self.trial, self.told.clone());
        match validation {
            Some(value) => {
                tracing::info!(epoch, epochs, loss, pairs_per_second, metric = self.told.metric, value, "evaluated");
                if self.evaluations.as_mut().is_some_and(|evaluations| evaluations.nothing_moved(loss, value)) {
                    self.warn(&format!(
                        "it learns nothing: the loss, {loss:.4}, and {}, {value:.4}, have not changed by a bit since the first evaluation; the gradient \
                         is zero, as that of a sigmoid is at a temperature far below the scores, or the learning rate is too small",
                        self.told.metric
                    ));
                }
            }
            None => tracing::debug!(epoch, epochs, loss, pairs_per_second, "epoch"),
        }
        if let Some(bar) = &self.bar {
            let best = self.told.validation.map_or_else(String::new, |value| format!(", {} {value:.4}", self.told.metric));
            bar.set_position(epoch.into());
            bar.set_message(format!("{:.0}k pairs/s, loss {loss:.4}{best}, {}", pairs_per_second / 1e3, self.title));
        }
    }
}

impl TrialProgress {
    fn warn(&self, words: &str) {
        tracing::warn!("{words}");
        if let Some(bar) = &self.bar {
            bar.println(format!("{} (trial {}): {words}", self.title, self.trial));
        }
    }
}

impl Drop for TrialProgress {
    fn drop(&mut self) {
        meter().rest(&self.trial);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::left::tests::plan;
    use indicatif::{MultiProgress, ProgressDrawTarget};

    #[test]
    fn trials_that_were_found_say_nothing_of_the_time_left() {
        let plan = plan();
        let progress = Progress::Bars(MultiProgress::with_draw_target(ProgressDrawTarget::hidden()));
        let stage = progress.trials(&plan, 3);
        let trials: Vec<PlannedRef<'_>> = plan.trials().collect();
        stage.found(trials[0], &Standing::Missing);
        stage.found(trials[1], &Standing::Failed("NaN".to_owned()));
        assert_eq!((stage.all.as_ref().unwrap().position(), stage.pace.left(1)), (2, None));
        stage.finish(trials[2], &Standing::Missing);
        assert!(stage.all.as_ref().unwrap().position() == 3 && stage.pace.left(1).is_some());
    }

    #[test]
    fn a_training_that_learns_nothing_is_noticed_at_its_second_evaluation() {
        let noticed = |values: &[(f64, f64)]| {
            let mut evaluations = Evaluations::default();
            values.iter().map(|&(loss, value)| evaluations.nothing_moved(loss, value)).collect::<Vec<_>>()
        };
        assert_eq!(noticed(&[(1.0, 0.25), (1.0, 0.25), (1.0, 0.25)]), [false, true, false]);
        assert_eq!(noticed(&[(1.0, 0.25), (1.0 - f64::EPSILON, 0.25), (1.0, 0.25)]), [false; 3]);
        assert_eq!(noticed(&[(1.0, 0.25), (1.0, 0.5)]), [false; 2]);
    }
}

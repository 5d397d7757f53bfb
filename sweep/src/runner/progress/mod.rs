//! How a sweep goes, told to a person as bars or to a log as one event per line.

mod datasets;
mod pace;
mod ranking;
mod searched;
mod trials;

pub(super) use datasets::DatasetStage;
pub(super) use ranking::RankingStage;
pub(super) use trials::TrialStage;

use crate::plan::{Plan, PlannedDataset};
use dataset::Location;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// A listener to the progress of a sweep.
pub enum Progress {
    /// A person at a terminal.
    Bars(MultiProgress),
    /// A log.
    Lines,
}

impl Progress {
    /// Bars on standard error.
    pub fn bars() -> Self {
        Self::Bars(MultiProgress::new())
    }

    /// Events through `tracing`.
    pub fn lines() -> Self {
        Self::Lines
    }

    /// Says what the sweep will do, once, at its start.
    pub(super) fn begin(&self, plan: &Plan, storage: &Location) {
        let (name, methods, trials) = (&plan.name, plan.methods.len(), plan.trials().count());
        tracing::info!(sweep = name, methods, trials, select_by = %plan.select_by, %storage, "sweep");
        self.line(&format!("{name}: {methods} methods, {trials} trials, picked by validation {}, stored in {storage}", plan.select_by));
    }

    /// Says where trials are trained.
    pub(super) fn device(&self, line: &str) {
        tracing::info!("{line}");
        self.line(line);
    }

    /// Says where the tables of another plan are kept that stood under the sweep's name.
    pub(super) fn kept(&self, folder: &Location) {
        tracing::info!(%folder, "the tables of another plan are kept");
        self.line(&format!("the tables of another plan stood under this name; they are kept in {folder}"));
    }

    /// The preparation of one dataset begins.
    pub(super) fn dataset(&self, dataset: &PlannedDataset) -> DatasetStage<'_> {
        DatasetStage::new(self, dataset)
    }

    /// The training of so many trials begins.
    pub(super) fn trials(&self, plan: &Plan, count: usize) -> TrialStage<'_> {
        TrialStage::new(self, plan, count)
    }

    /// The ranking of so many checkpoints begins.
    pub(super) fn ranking(&self, count: usize) -> RankingStage {
        RankingStage::new(self, count)
    }

    /// A bar at the bottom; none for a log.
    fn bar(&self, length: u64, template: &str) -> Option<ProgressBar> {
        let Self::Bars(all) = self else { return None };
        Some(all.add(ProgressBar::new(length).with_style(style(template))))
    }

    /// A line that stays above the bars; a log gets an event of its own instead.
    fn line(&self, text: &str) {
        if let Self::Bars(all) = self {
            // A terminal that went away is no reason to stop.
            let _ = all.println(text);
        }
    }
}

/// How a bar is drawn.
fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the template is a literal of this crate");
    style.progress_chars("━━ ")
}

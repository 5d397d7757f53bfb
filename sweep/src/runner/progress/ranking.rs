//! How the ranking of the test part goes.

use super::Progress;
use evaluator::evaluate::Candidate;
use indicatif::ProgressBar;

/// The ranking of all picked trials.
pub(in crate::runner) struct RankingStage {
    bar: Option<ProgressBar>,
}

impl RankingStage {
    pub(super) fn new(progress: &Progress, count: usize) -> Self {
        Self { bar: progress.bar(count as u64, "ranking {bar:20} {pos}/{len}, {eta} left  {wide_msg}") }
    }

    /// One checkpoint is ranked.
    pub(in crate::runner) fn ranked(&self, candidate: &Candidate) {
        let Candidate { trial, method, dataset, .. } = candidate;
        tracing::info!(trial, method, dataset, "ranked");
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{method} on {dataset}"));
            bar.inc(1);
        }
    }

    /// So many of all tests between methods are done: each is of one metric of a dataset.
    pub(in crate::runner) fn tested(&self, done: usize, all: usize) {
        tracing::info!(done, all, "tested differences");
        if let Some(bar) = &self.bar {
            if done == 1 {
                bar.reset();
                bar.set_style(super::style("testing {bar:20} {pos}/{len}, {eta} left"));
            }
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        }
    }

    /// All is done.
    pub(in crate::runner) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

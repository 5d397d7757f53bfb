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

    /// All is ranked, and tests between methods begin.
    pub(in crate::runner) fn test(&self) {
        if let Some(bar) = &self.bar {
            bar.reset();
            bar.set_length(0);
            bar.set_style(super::style("testing {bar:20} {pos}/{len}, {eta} left"));
        }
    }

    /// So many of all tests between methods are done: each is of one metric of a dataset.
    pub(in crate::runner) fn tested(&self, done: usize, all: usize) {
        tracing::info!(done, all, "tested differences");
        if let Some(bar) = &self.bar {
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

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::{MultiProgress, ProgressDrawTarget};

    /// Else the full bar of ranking would stand, with no time left, until the first test is done.
    #[test]
    fn tests_have_a_bar_of_their_own_before_the_first_is_done() {
        let progress = Progress::Bars(MultiProgress::with_draw_target(ProgressDrawTarget::hidden()));
        let stage = progress.ranking(7);
        let state = || stage.bar.as_ref().map(|bar| (bar.position(), bar.length()));
        stage.bar.as_ref().unwrap().set_position(7);
        stage.test();
        assert_eq!(state(), Some((0, Some(0))));
        stage.tested(1, 4);
        assert_eq!(state(), Some((1, Some(4))));
    }
}

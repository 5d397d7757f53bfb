//! The sizes of one step.

use crate::plan::estimate;
use dataset::Manifest;
use trainer::{KernelSizes, Trial, fits_gpu, kernel_sizes};

/// The work of a step, whatever does it. Counts, as floats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work<'a> {
    pub(super) users: f64,
    pub(super) items: f64,
    /// Length of a vector.
    pub(super) dim: f64,
    /// Rows of the whole batch: pairs, or users with lists.
    pub(super) rows: f64,
    /// Positives of a row.
    pub(super) positives: f64,
    /// Items that are drawn for a row; `None` where every item is scored.
    pub(super) drawn: Option<f64>,
    /// Whether ranks can share out a batch.
    pub(super) splits: bool,
    pub(super) steps: StepsBy<'a>,
}

/// What makes the steps of a trial on a GPU.
#[derive(Clone, Copy, Debug)]
pub(super) enum StepsBy<'a> {
    /// Kernels.
    Kernels(KernelSizes),
    /// candle's operations, where there are no kernels.
    Candle(&'a Trial, &'a Manifest),
}

impl<'a> Work<'a> {
    /// The work of a trial on a prepared dataset; `None` where no GPU trains it.
    pub(super) fn of(trial: &'a Trial, manifest: &'a Manifest) -> Option<Self> {
        fits_gpu(trial).ok()?;
        let (learning, model) = (trial.learning.as_ref()?, trial.backbone.learned()?);
        let count = |count: usize| count as f64;
        let most = (estimate::rows(learning, manifest.users as u64, manifest.train as u64) as f64).max(1.0);
        let rows = f64::from(learning.training.batch_size).clamp(1.0, most);
        Some(Self {
            users: count(manifest.users),
            items: count(manifest.items),
            dim: trial.backbone.stored().dim().unwrap_or(u64::from(model.dim())) as f64,
            rows,
            positives: count(learning.loss.list().unwrap_or(1)),
            drawn: learning.candidates().map(count),
            splits: learning.splits().is_ok(),
            steps: kernel_sizes(trial, manifest).map_or(StepsBy::Candle(trial, manifest), StepsBy::Kernels),
        })
    }

    /// Whether candle's operations make its steps.
    pub(super) fn is_by_candle(&self) -> bool {
        matches!(self.steps, StepsBy::Candle(..))
    }

    /// Rows of a rank.
    pub(super) fn rows_of(&self, ranks: u32) -> f64 {
        self.rows / f64::from(ranks)
    }

    /// Items that so many rows score, with repeats.
    pub(super) fn scores(&self, rows: f64) -> f64 {
        rows * self.drawn.map_or(self.items, |drawn| self.positives + drawn)
    }

    /// Different users of so many rows, as expected.
    pub(super) fn users_of(&self, rows: f64) -> f64 {
        different(self.users, rows)
    }

    /// Different items that so many rows score, as expected.
    pub(super) fn items_of(&self, rows: f64) -> f64 {
        self.drawn.map_or(self.items, |_| different(self.items, self.scores(rows)))
    }
}

/// How many of `all` are expected in so many uniform draws with replacement; in draws by any other law there are fewer.
///
/// ```text
/// E = n (1 - (1 - 1 / n)^draws)
/// ```
pub(super) fn different(all: f64, draws: f64) -> f64 {
    if all <= 1.0 { all.min(draws) } else { -all * (draws * (-1.0 / all).ln_1p()).exp_m1() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An epoch of matrix factorisation with 1000 draws a row on slatk-gowalla, as `../shared/data` has it.
    pub(in super::super) const GOWALLA: Work<'static> = Work {
        users: 29_858.0,
        items: 40_988.0,
        dim: 64.0,
        rows: 1024.0,
        positives: 1.0,
        drawn: Some(1000.0),
        splits: true,
        steps: StepsBy::Kernels(KernelSizes {
            users: 29_858,
            items: 40_988,
            train: 810_128,
            validation: 0,
            dim: 64,
            layers: 0,
            batch: 1024,
            negatives: 1000,
            is_cosine: true,
            leaves: [true, false],
            has_quantiles: false,
            of_formula: 0,
        }),
    };

    /// One draw of two sees one; two draws see both or one, each half the time. Two draws of three see 3 (1 - 4/9).
    #[test]
    fn draws_repeat_themselves() {
        for (all, draws, expected) in [(2.0, 1.0, 1.0), (2.0, 2.0, 1.5), (3.0, 2.0, 5.0 / 3.0), (1.0, 5.0, 1.0), (10.0, 0.0, 0.0)] {
            let found = different(all, draws);
            assert!((found - expected).abs() < 1e-12, "{all} {draws}: {found}");
        }
    }

    /// A million draws of ten million: 1e7 (1 - exp(-0.1)) and nearly nothing more.
    #[test]
    fn few_draws_of_many_hardly_repeat() {
        assert!((different(1e7, 1e6) - 951_625.82).abs() < 0.1);
    }

    #[test]
    fn a_row_scores_its_positive_and_its_draws_or_every_item() {
        assert_eq!(GOWALLA.scores(2.0), 2002.0);
        let all = Work { drawn: None, ..GOWALLA };
        assert_eq!((all.scores(2.0), all.items_of(2.0)), (81_976.0, 40_988.0));
        assert_eq!(GOWALLA.rows_of(8), 128.0);
    }
}

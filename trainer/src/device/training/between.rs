//! What is asked of a training between its epochs: the validation metric, and the users' quantiles.

use super::{DeviceTraining, vectors_of};
use crate::{Result, device::quantiles::Estimator, validation::Validation};
use dataset::{Dataset, Interactions};
use evaluator::MetricAt;
use gpu::ranking::Lists;
use losses::quantile::{QuantileSchedule, Quantiles};

/// Bytes of the device that lists of scores may take.
const WORKING_SPACE: usize = 1 << 30;

impl DeviceTraining {
    /// Ranks the validation part; `None` where there is none.
    pub(crate) fn validate(&mut self, dataset: &Dataset, select_by: MetricAt) -> Result<Option<Validation>> {
        self.encode(false)?;
        let Self { gpu, tables, graph, draws, whole, validator, .. } = self;
        let Some(validator) = validator else { return Ok(None) };
        let vectors = whole.prepare(gpu, vectors_of(graph, tables))?;
        let train = Lists { starts: draws.starts(), items: draws.train() };
        validator.validate(gpu, vectors, train, dataset, select_by).map(Some)
    }

    /// Sets the quantiles between epochs.
    pub(crate) fn update_quantiles(
        &mut self,
        quantiles: &mut Quantiles,
        schedule: QuantileSchedule,
        train: &Interactions,
        epoch: u32,
    ) -> Result<()> {
        self.encode(false)?;
        let Self { gpu, tables, graph, draws, whole, negatives, seed, .. } = self;
        let vectors = whole.prepare(gpu, vectors_of(graph, tables))?;
        let estimator = Estimator { gpu, vectors, train, draws, candidates: Some(*negatives), memory: WORKING_SPACE };
        estimator.update(quantiles, schedule, *seed, epoch)
    }
}

//! One pass over the train pairs.

use crate::{
    Result,
    fit::{
        step::{
            batches::Batches,
            callback::{StepCallback, on_host},
            path::StepPath,
        },
        step_id::StepId,
        train_state::TrainState,
    },
};
use embeddings::Vectors;

impl TrainState<'_> {
    /// Trains every pair once, in an order of the epoch's own; the sum of the losses is with the callback.
    pub(crate) fn train_epoch(
        &mut self,
        epoch: u32,
        batches: &mut Batches,
        path: &mut StepPath,
        callback: &mut dyn StepCallback,
    ) -> Result<()> {
        batches.shuffle(epoch);
        self.collective.agree("the steps of the epoch", batches.steps().into())?;
        match path {
            StepPath::Sparse(sparse) => self.sparse_epoch(epoch, batches, sparse, callback),
            StepPath::DenseItems(dense) => self.dense_items_epoch(epoch, batches, dense, callback),
            StepPath::FullTables(full) => self.full_tables_epoch(epoch, batches, full, callback),
            StepPath::Mixed(mixed) => self.mixed_epoch(epoch, batches, mixed, callback),
            StepPath::Pairs(pairs) => self.pairs_epoch(epoch, batches, pairs, callback),
            StepPath::Candle(steps) => self.candle_epoch(epoch, batches, steps, callback),
            #[cfg(any(test, feature = "cuda"))]
            StepPath::Device(device) => self.device_epoch(epoch, batches, device, callback),
        }?;
        if !path.is_on_device() {
            self.catch_up();
        }
        Ok(())
    }

    /// Makes the steps of an epoch that are not made yet, one by one; `step` returns the sum of the rows' losses.
    pub(crate) fn steps(
        &mut self,
        epoch: u32,
        batches: &mut Batches,
        callback: &mut dyn StepCallback,
        mut step: impl FnMut(&mut Self, StepId, &Batches) -> Result<f64>,
    ) -> Result<()> {
        for number in callback.so_far().step + 1..=batches.steps() {
            self.collective.at(epoch, number);
            self.show_model(epoch, number, batches)?;
            let loss = step(self, StepId { epoch, step: number }, batches)?;
            callback.so_far().total += loss;
            callback.so_far().step = number;
            callback.on_step_end(self, Some(batches), &mut on_host)?;
        }
        Ok(())
    }

    /// Has the sampler's pool look at the model, where it does and it is time.
    pub(crate) fn show_model(&mut self, epoch: u32, step: u32, batches: &mut Batches) -> Result<()> {
        if batches.is_due(step, self.learning.candidates()) { self.refresh(epoch, batches) } else { Ok(()) }
    }

    /// Has the sampler's pool look at the model, where it does.
    pub(crate) fn refresh(&mut self, epoch: u32, batches: &mut Batches) -> Result<()> {
        let similarity = self.learning.loss.similarity();
        let [users, items] = self.vectors()?;
        batches.refresh(Vectors { users, items, similarity }, epoch);
        Ok(())
    }
}

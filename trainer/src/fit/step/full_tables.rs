//! An epoch whose steps have gradients of whole tables: of models that propagate, and of losses that look beyond rows.

use crate::Result;
use crate::fit::{
    distributed::{all_reduce::all_reduce, batch_shard::BatchShard},
    loss_state::derivatives::Derivatives,
    step::{
        auxiliary_inputs::AuxiliaryInputs,
        batches::Batches,
        callback::StepCallback,
        loss_step::{Extra, LossStep},
    },
    step_id::StepId,
    train_state::TrainState,
};
use embeddings::{Batch, Catalogue, Masks, RowGradients, Sampled, Vectors};
use losses::{Loss, Phase};
use models::encoder::{Backward, TrainStep, Wanted};
use rayon::prelude::*;
use samplers::Exclude;

/// The gradients of both tables, and the buffers of scoring.
pub(crate) struct FullTableStep {
    users: RowGradients,
    items: RowGradients,
    pub(crate) sampled: Sampled,
    catalogue: Catalogue,
    auxiliary: AuxiliaryInputs,
    /// The weight decay of each row of users and of items, where it is one of the batch's rows alone; else empty.
    pub(crate) decays: [Vec<f32>; 2],
}

impl FullTableStep {
    /// Makes room for tables of so many users and items, with rows of `dim` numbers.
    pub(crate) fn new([users, items, dim]: [usize; 3], drops_zeros: bool, loss: &Loss) -> Self {
        Self {
            users: RowGradients::new(users, dim),
            items: RowGradients::new(items, dim),
            sampled: Sampled::new(drops_zeros),
            catalogue: Catalogue::default(),
            auxiliary: AuxiliaryInputs::new(loss),
            decays: Default::default(),
        }
    }
}

impl TrainState<'_> {
    /// Trains every row once.
    pub(crate) fn full_tables_epoch(
        &mut self,
        epoch: u32,
        batches: &mut Batches,
        full: &mut FullTableStep,
        callback: &mut dyn StepCallback,
    ) -> Result<()> {
        let ahead = self.draws_ahead();
        // Models of sequences have a vector for each row, others one for each user.
        let most = batches.len().min(self.learning.training.batch_size as usize) as u32;
        let rows: Option<Vec<u32>> = self.encoder.has_vectors_of_rows().then(|| (0..most).collect());
        let (mut users, mut positives, mut items) = (Vec::new(), Vec::new(), Vec::new()); // items: positives, then draws
        self.steps(epoch, batches, callback, |state, at, batches| {
            batches.fill(at, &mut users, &mut positives);
            let queries = rows.as_ref().map_or(&users[..], |rows| &rows[..users.len()]);
            let batch = BatchShard::new(&state.collective, Batch { users: &users, queries, positives: &positives });
            let draw = |row: usize, user: u32, ids: &mut [u32]| batches.draw(at.row(batch.first + row), user, ids);
            match ahead {
                Some(count) => {
                    let Batch { users, positives, .. } = batch.local;
                    items.clear();
                    items.extend_from_slice(positives);
                    items.resize(positives.len() + users.len() * count, 0);
                    let rows = items[positives.len()..].par_chunks_exact_mut(count).zip(users).enumerate();
                    rows.for_each(|(row, (ids, &user))| draw(row, user, ids));
                    let drawn = &items[positives.len()..];
                    let again = |row: usize, _: u32, ids: &mut [u32]| ids.copy_from_slice(&drawn[row * count..][..count]);
                    state.full_tables_step(at, batches, batch, Some(&items), again, full)
                }
                None => state.full_tables_step(at, batches, batch, None, draw, full),
            }
        })
    }

    /// The negatives of a row, when a step draws so few that not every item's vector is wanted, and ranks among others are not either.
    pub(crate) fn draws_ahead(&self) -> Option<usize> {
        let count = self.learning.candidates()?;
        let batch = self.learning.training.batch_size as usize;
        (batch * (1 + count) < self.dataset.items() && !self.learning.loss.needs_ranks() && !self.learning.loss.needs_others())
            .then_some(count)
    }

    /// One step, which scores the wanted items, in the phases of the loss; returns the sum of the rows' losses in the first.
    fn full_tables_step(
        &mut self,
        at: StepId,
        batches: &Batches,
        batch: BatchShard,
        items: Option<&[u32]>,
        draw: impl Fn(usize, u32, &mut [u32]) + Sync,
        full: &mut FullTableStep,
    ) -> Result<f64> {
        let mut first = None;
        let Batch { users, positives, .. } = batch.whole;
        let own = batches.unpadded(users, positives);
        for phase in self.learning.loss.phases(at.epoch) {
            let wanted = match self.collective.ranks() {
                1 => Wanted { users: Some(batch.local.users), items },
                _ => Wanted { users: Some(users), items: None }, // the gradients of all ranks' rows go back through each of them
            };
            self.encoder.encode_step(&self.parameters, &TrainStep { epoch: at.epoch, step: at.step, users, positives: &own, wanted })?;
            let mut total = self.gradients(at, phase, batches, batch, &draw, full)?;
            self.check_loss(at, total)?;
            if phase.moves_model {
                self.find_decays(batch, full)?;
                total += self.move_model(full)? * users.len() as f64;
                self.check_loss(at, total)?;
            }
            first.get_or_insert(total);
        }
        Ok(first.unwrap_or_default())
    }

    /// Moves the parameters by the gradients of the vectors; returns the model's own loss, a mean over the batch.
    fn move_model(&mut self, full: &mut FullTableStep) -> Result<f64> {
        let Self { encoder, parameters, stepper, .. } = self;
        let Backward { tables: [of_users, of_items], weights: of_weights, auxiliary } =
            encoder.backward([&mut full.users, &mut full.items])?;
        let decays = full.decays.each_ref().map(|decays| (!decays.is_empty()).then_some(&decays[..]));
        stepper.move_decayed(&mut parameters.users, of_users, decays[0]);
        stepper.move_decayed(&mut parameters.items, of_items, decays[1]);
        parameters.weights.iter_mut().zip(of_weights).for_each(|(weights, gradients)| stepper.move_all(weights, gradients));
        stepper.finish_step();
        if let Some(norm) = self.learning.loss.max_norm() {
            parameters.users.limit_norms(norm);
            parameters.items.limit_norms(norm);
        }
        Ok(auxiliary)
    }

    /// Gradients of the mean loss of a batch by the vectors; returns the sum of the rows' losses. What the loss has of its own moves at once.
    fn gradients(
        &mut self,
        at: StepId,
        phase: Phase,
        batches: &Batches,
        batch: BatchShard,
        draw: impl Fn(usize, u32, &mut [u32]) + Sync,
        full: &mut FullTableStep,
    ) -> Result<f64> {
        full.users.resize(self.encoder.vectors(&self.parameters)[0].rows);
        let (total, derivatives) = match batch.is_empty() {
            true => {
                full.users.clear();
                full.items.clear();
                (0.0, Derivatives::none(&self.learning.loss))
            }
            false => self.shard_gradients(at, phase, batches, batch, draw, full)?,
        };
        let Self { learning, collective, loss_state, .. } = self;
        if phase.moves_model {
            let rows = batch.whole.users.len();
            let items = learning.candidates().map_or(usize::MAX, |count| batch.whole.positives.len() + rows * count);
            all_reduce(collective, "the gradient of the users", &mut full.users, rows)?;
            all_reduce(collective, "the gradient of the items", &mut full.items, items)?;
        }
        if phase.moves_state {
            loss_state.step(collective, &learning.loss, batch, derivatives)?;
        }
        collective.total("the losses", total)
    }

    /// Gradients of the loss of this rank's rows by the vectors; returns the sum of these rows' losses, and the derivatives by all that is not the
    /// model's.
    fn shard_gradients(
        &mut self,
        at: StepId,
        phase: Phase,
        batches: &Batches,
        batch: BatchShard,
        draw: impl Fn(usize, u32, &mut [u32]) + Sync,
        full: &mut FullTableStep,
    ) -> Result<(f64, Derivatives)> {
        let Self { learning, dataset, parameters, encoder, quantiles, loss_state, .. } = self;
        let FullTableStep { users, items, sampled, catalogue, auxiliary, .. } = full;
        let [of_users, of_items] = encoder.vectors(parameters);
        let vectors = Vectors { users: of_users, items: of_items, similarity: learning.loss.similarity() };
        let quantiles = quantiles.as_ref().map(|quantiles| &quantiles.values[..]);
        let (rows, first, batch) = (batch.whole.users.len(), batch.first, batch.local);
        let loss_step = LossStep::new(&learning.loss, batches, at, batch.users, quantiles).some(first, rows);
        match (learning.candidates(), loss_step.fused()) {
            (None, _) => {
                let derive = |first: usize, positives: &mut [f32], scores: &mut [f32]| loss_step.block(first, positives, scores);
                let masks = match learning.sampler.exclude() {
                    Exclude::Train => Masks::Train(&dataset.train),
                    Exclude::Row => Masks::Positives,
                };
                let total = catalogue.step(vectors, batch, masks, derive, users, items)?;
                Ok((total, Derivatives::none(&learning.loss)))
            }
            (Some(count), Some(fused)) => {
                let total = sampled.step(vectors, batch, count, draw, |row| loss_step.row(fused, row));
                sampled.collect(vectors, batch, users, items);
                Ok((total, Derivatives::none(&learning.loss)))
            }
            (Some(count), None) => {
                sampled.score(vectors, batch, count, &draw);
                let (columns, adversary) = (
                    loss_state.of(batch),
                    loss_state.adversary_model.as_mut().map(|adversary_model| adversary_model.score(batch, count, &draw)),
                );
                let scored = sampled.scored();
                let found = auxiliary.find(vectors, batch, &scored.ids, &dataset.train);
                let (ranks, others, relations) = (found.ranks(), found.others(), found.relations());
                let extra = Extra { phase: phase.number, columns: &columns, ranks, others, adversary: adversary.as_deref(), relations };
                let derivatives = loss_step.rows(scored, extra)?;
                let total = sampled.backward(vectors, &derivatives.scores);
                sampled.collect(vectors, batch, users, items);
                auxiliary.backward(batch, &derivatives.relations, users, items);
                Ok((total, derivatives))
            }
        }
    }
}

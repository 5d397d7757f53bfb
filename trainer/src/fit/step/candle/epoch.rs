//! An epoch, step by step.

use super::{
    CandleSteps,
    gradients::{RankGradients, ShardGradients, StepRows},
    touched::{self, Gradients, Marks, Reach, gradient, marks},
};
use crate::fit::{
    distributed::batch_shard::BatchShard,
    step::{batches::Batches, callback::StepCallback},
    step_id::StepId,
    train_state::TrainState,
};
use crate::{Learning, Result, collective::Collective};
use candle_core::{Tensor, Var};
use embeddings::Batch;
use losses::Phase;
use models::encoder::{TrainStep, Wanted};
use rayon::prelude::*;
use std::iter::repeat;

/// What is scored in a step, with the graph back to the parameters.
struct Pass {
    variables: Vec<Var>,
    /// Vectors of users and of items, those of each layer, or the parameters where a network scores pairs of rows.
    scored: Vec<Tensor>,
    /// The model's own loss of the batch, a mean over its rows.
    auxiliary: Option<Tensor>,
}

impl TrainState<'_> {
    /// Makes the steps of an epoch that are not made yet.
    pub(crate) fn candle_epoch(
        &mut self,
        epoch: u32,
        batches: &mut Batches,
        steps: &mut CandleSteps,
        callback: &mut dyn StepCallback,
    ) -> Result<()> {
        steps.load(&self.parameters)?;
        for step in callback.so_far().step + 1..=batches.steps() {
            self.collective.at(epoch, step);
            if batches.is_due(step, self.learning.candidates()) {
                steps.store(&mut self.parameters)?;
                self.refresh(epoch, batches)?;
            }
            let loss = self.candle_step(StepId { epoch, step }, batches, steps)?;
            callback.so_far().total += loss;
            callback.so_far().step = step;
            callback.on_step_end(self, Some(batches), &mut |state, _| steps.store(&mut state.parameters))?;
        }
        Ok(())
    }

    /// One step, in the phases of the loss; returns the sum of the rows' losses in the first.
    fn candle_step(&mut self, at: StepId, batches: &Batches, steps: &mut CandleSteps) -> Result<f64> {
        let (mut users, mut positives) = (Vec::new(), Vec::new());
        batches.fill(at, &mut users, &mut positives);
        let of_rows: Option<Vec<u32>> = self.encoder.has_vectors_of_rows().then(|| (0..users.len() as u32).collect());
        let queries = of_rows.as_deref().unwrap_or(&users);
        let batch = BatchShard::new(&self.collective, Batch { users: &users, queries, positives: &positives });
        let ids = self.learning.candidates().map_or_else(Vec::new, |count| draw(at, batches, batch, count));
        let wanted = Wanted { users: Some(batch.local.users), items: self.draws_ahead().map(|_| &ids[..]) };
        let own = batches.unpadded(&users, &positives);
        let step = TrainStep { epoch: at.epoch, step: at.step, users: &users, positives: &own, wanted };
        let mut first = None;
        for phase in self.learning.loss.phases(at.epoch) {
            let total = self.candle_phase(StepRows { at, phase, batches, batch, ids: &ids, step }, steps)?;
            first.get_or_insert(total);
        }
        Ok(first.unwrap_or_default())
    }

    /// One phase of a step; returns the sum of the rows' losses.
    fn candle_phase(&mut self, rows: StepRows, steps: &mut CandleSteps) -> Result<f64> {
        let pass = self.candle_pass(&rows.step, steps)?;
        let Self { learning, dataset, network, quantiles, loss_state, collective, stepper, .. } = &mut *self;
        let quantiles = quantiles.as_ref().map(|quantiles| &quantiles.values[..]);
        let CandleSteps { auxiliary, device, drawn, .. } = &mut *steps;
        let mut of_rank = RankGradients {
            learning,
            dataset,
            network: network.as_deref(),
            quantiles,
            loss_state,
            auxiliary,
            device,
            drawn: drawn.as_mut(),
            marks_rows: !stepper.moves_all_rows() || collective.ranks() > 1,
        };
        let ShardGradients { total, gradients, derivatives } = of_rank.gradients(rows, &pass.scored)?;
        let Phase { moves_model, moves_state, .. } = rows.phase;
        let gradients = if moves_model { Some(all_reduce(collective, steps, gradients, rows, learning)?) } else { None };
        if moves_state {
            loss_state.step(collective, &learning.loss, rows.batch, derivatives)?;
        }
        let mut total = collective.total("the losses", total)?;
        self.check_candle_loss(rows.at, total, steps)?;
        if let Some(gradients) = gradients {
            total += self.move_candle_model(pass, gradients, rows, steps)? * rows.batch.whole.users.len() as f64;
            self.check_candle_loss(rows.at, total, steps)?;
        }
        Ok(total)
    }

    /// The model's pass.
    fn candle_pass(&self, step: &TrainStep, steps: &CandleSteps) -> Result<Pass> {
        let parameters = steps.parameters.as_ref().expect("they were loaded");
        let variables = parameters.variables()?;
        let tensors: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
        if self.network.is_some() {
            return Ok(Pass { variables, scored: tensors, auxiliary: None });
        }
        if self.learning.sampler.mixes() {
            let scored = steps.model.layers(&tensors)?.into_iter().flatten().collect();
            return Ok(Pass { variables, scored, auxiliary: None });
        }
        let models::Encoded { users, items, auxiliary } = steps.model.forward(&tensors, Some(step))?;
        Ok(Pass { variables, scored: vec![users, items], auxiliary })
    }

    /// Moves the parameters by the gradients of what was scored; returns the model's own loss.
    fn move_candle_model(&mut self, pass: Pass, gradients: Gradients, rows: StepRows, steps: &mut CandleSteps) -> Result<f64> {
        let Pass { variables, scored, auxiliary } = pass;
        let mut total = auxiliary.clone().map_or_else(|| Tensor::zeros((), scored[0].dtype(), &steps.device), Ok)?;
        for (scored, (gradient, _)) in scored.iter().zip(&gradients).filter(|(scored, _)| scored.elem_count() > 0) {
            total = (total + (scored * gradient)?.sum_all()?)?;
        }
        let mut found = total.backward()?;
        let l2 = self.candle_batch_l2(rows)?;
        let reached = if self.learning.sampler.mixes() { [None, None] } else { steps.model.reached(&rows.step) };
        let of_scored: Vec<Marks> = gradients.into_iter().map(|(_, marks)| marks).collect();
        let moves_all_rows = self.stepper.moves_all_rows();
        let mut moved = Vec::new();
        for (at, variable) in variables.iter().enumerate() {
            let (count, mut values) = (variable.dim(0)?, found.remove(variable));
            let mut touched = match (reached.get(at), of_scored.get(at)) {
                (Some(Some(more)), Some(Some(own))) if own.len() == count => {
                    let more = marks(more.iter().copied(), count);
                    Some(own.iter().zip(more).map(|(own, more)| *own || more).collect::<Vec<bool>>())
                }
                _ => None,
            };
            if let Some(counts) = l2.as_ref().and_then(|l2| l2.get(at)) {
                touched.iter_mut().flatten().zip(counts).for_each(|(mark, count)| *mark |= *count > 0.0);
                let decay = (variable.broadcast_mul(&Tensor::from_slice(counts, (count, 1), &steps.device)?))?;
                values = Some(values.map_or(Ok(decay.clone()), |values| values + decay)?);
            }
            moved.push(gradient(values, &touched, moves_all_rows, &steps.device)?);
        }
        let parameters = steps.parameters.as_mut().expect("they were loaded");
        parameters.step(&moved, &self.stepper)?;
        steps.is_on_host = false;
        self.stepper.finish_step();
        if let Some(norm) = self.learning.loss.max_norm() {
            parameters.limit_norms(norm)?;
        }
        Ok(auxiliary.map_or(Ok(0.0), |auxiliary| auxiliary.to_scalar::<f32>().map(f64::from))?)
    }

    /// What each row of the two tables weighs in its own gradient, where the batch's rows are drawn to zero; mixed negatives have it with their scores.
    fn candle_batch_l2(&self, rows: StepRows) -> Result<Option<[Vec<f32>; 2]>> {
        let weight = self.batch_l2(rows.batch.whole.users.len()).filter(|_| !self.learning.sampler.mixes());
        let Some(weight) = weight else { return Ok(None) };
        let mut counts = [self.dataset.users(), self.dataset.items()].map(|rows| vec![0.0f32; rows]);
        let [users, items] = &mut counts;
        rows.batch.whole.users.iter().for_each(|&user| users[user as usize] += 1.0);
        let width = rows.ids.len() / rows.batch.local.users.len().max(1);
        for (first, others) in rows.ids.chunks_exact(width.max(1)).filter_map(<[u32]>::split_first) {
            items[*first as usize] += 1.0;
            others.iter().filter(|id| *id != first).for_each(|&id| items[id as usize] += 1.0);
        }
        self.collective.sum("the items of the batch", items)?;
        counts.iter_mut().flatten().for_each(|count| *count *= weight);
        Ok(Some(counts))
    }

    /// Stops a training whose loss is not a number.
    fn check_candle_loss(&mut self, at: StepId, total: f64, steps: &mut CandleSteps) -> Result<()> {
        if !total.is_finite() {
            steps.store(&mut self.parameters)?;
        }
        self.check_loss(at, total)
    }
}

/// Adds up the gradients of all ranks' rows: on their devices, or on the host.
fn all_reduce(
    collective: &Collective,
    steps: &CandleSteps,
    gradients: Gradients,
    rows: StepRows,
    learning: &Learning,
) -> Result<Gradients> {
    if collective.ranks() == 1 {
        return Ok(gradients);
    }
    let reach: Vec<Option<Reach>> = reach(rows, learning).into_iter().chain(repeat(None)).take(gradients.len()).collect();
    #[cfg(any(test, feature = "cuda"))]
    if let Some(gpu) = &steps.gpu {
        return super::all_reduce::all_reduce(gpu, collective, gradients, &reach);
    }
    let _ = steps;
    gradients
        .into_iter()
        .zip(reach)
        .map(|((gradient, marks), reach)| touched::all_reduce_on_host(collective, gradient, marks, reach))
        .collect()
}

/// How many users and items a batch reaches; `None` where it may be all of them.
fn reach(rows: StepRows, learning: &Learning) -> [Option<Reach>; 2] {
    let Batch { users, positives, .. } = rows.batch.whole;
    let reach = |of_row: usize| Reach { batch: users.len(), of_row };
    let items = learning.candidates().map(|count| reach(positives.len() / users.len().max(1) + count));
    match learning.sampler.mixes() {
        true => [None, None], // vectors of every layer, of which no row is marked
        false => [Some(reach(1)), items],
    }
}

/// The items of this rank's rows, `[b, P + N]`, positives first.
fn draw(at: StepId, batches: &Batches, batch: BatchShard, count: usize) -> Vec<u32> {
    let Batch { users, positives, .. } = batch.local;
    if users.is_empty() {
        return Vec::new();
    }
    let list = batch.local.list();
    let mut ids = vec![0; users.len() * (list + count)];
    let rows = ids.par_chunks_exact_mut(list + count).zip(positives.par_chunks_exact(list)).zip(users).enumerate();
    rows.for_each(|(row, ((ids, own), &user))| {
        ids[..list].copy_from_slice(own);
        batches.draw(at.row(batch.first + row), user, &mut ids[list..]);
    });
    ids
}

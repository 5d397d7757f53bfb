//! An epoch whose steps touch a small part of the rows of the item table.
//!
//! Draws depend on no parameter, so the steps ahead are planned together, each by one thread: their negatives, and the rows that they
//! touch. A step then brings these rows up to date, scores them and moves them.

use crate::fit::{
    step::{
        batch_l2,
        batches::Batches,
        callback::{StepCallback, on_host},
        loss_step::{Extra, LossStep},
    },
    step_id::StepId,
    train_state::TrainState,
};
use crate::{Error, Result};
use embeddings::{Plan, SparseSampled};

/// Steps that are planned at once.
pub(crate) const AHEAD: usize = 16;

/// The rows that a step touches, and plans of some steps and of those that follow them.
pub(crate) struct SparseStep {
    sampled: SparseSampled,
    plans: Vec<Plan>,
    next: Vec<Plan>,
}

impl SparseStep {
    pub(crate) fn new(sampled: SparseSampled) -> Self {
        let plans = || (0..AHEAD).map(|_| Plan::default()).collect();
        Self { sampled, plans: plans(), next: plans() }
    }
}

impl TrainState<'_> {
    /// Trains every pair once. The losses of the steps that are planned at once are added up first.
    pub(crate) fn sparse_epoch(
        &mut self,
        epoch: u32,
        batches: &Batches,
        sparse: &mut SparseStep,
        callback: &mut dyn StepCallback,
    ) -> Result<()> {
        let SparseStep { sampled, plans, next } = sparse;
        let negatives = self.learning.candidates().expect("few rows are drawn");
        let plan = |step: u32, plan: &mut Plan| {
            plan.make(batches.pairs(step), negatives, |row, user, ids| batches.draw(StepId { epoch, step }.row(row), user, ids));
        };
        let done = callback.so_far().step;
        let whole = done / AHEAD as u32 * AHEAD as u32;
        if done == whole {
            callback.so_far().add_part();
        }
        let left = whole + 1..=batches.steps();
        rayon::scope(|scope| left.clone().zip(plans.iter_mut()).for_each(|(step, to)| scope.spawn(move |_| plan(step, to))));
        for first in left.step_by(AHEAD) {
            // The plans that follow are made by whoever has nothing else to do.
            rayon::scope(|scope| {
                let following = first + AHEAD as u32..=batches.steps();
                following.zip(next.iter_mut()).for_each(|(step, to)| scope.spawn(move |_| plan(step, to)));
                for (step, plan) in (first..=batches.steps()).zip(plans.iter()).filter(|(step, _)| *step > done) {
                    let loss = self.sparse_step(StepId { epoch, step }, batches, plan, sampled)?;
                    callback.so_far().part += loss;
                    callback.so_far().step = step;
                    callback.on_step_end(self, None, &mut on_host)?; // no pool that looks at the model draws so few
                }
                Ok::<_, Error>(())
            })?;
            callback.so_far().add_part();
            std::mem::swap(plans, next);
        }
        Ok(())
    }

    /// One step of the optimizer; returns the sum of the rows' losses.
    fn sparse_step(&mut self, at: StepId, batches: &Batches, plan: &Plan, sampled: &mut SparseSampled) -> Result<f64> {
        sampled.resize(plan);
        let Self { stepper, parameters, .. } = self;
        rayon::join(
            || stepper.current(&plan.users.rows, &parameters.users, &mut sampled.users.values),
            || stepper.current(&plan.items.rows, &parameters.items, &mut sampled.items.values),
        );
        let total = self.score_gradients(at, batches, plan, sampled)?;
        self.check_loss(at, total)?;
        let l2 = self.batch_l2(plan.rows());
        let Self { stepper, parameters, learning, .. } = self;
        let narrows = learning.narrows();
        let (users, items, sampled) = (&plan.users.rows, &plan.items.rows, &*sampled);
        let of_user = |k: usize, gradient: &mut [f32]| {
            sampled.user_gradient(plan, k, gradient);
            batch_l2::add(l2, plan.users.places(k).len() as f32, sampled.users.row(k), gradient);
        };
        let of_item = |k: usize, gradient: &mut [f32]| {
            sampled.item_gradient(plan, k, gradient);
            batch_l2::add(l2, plan.count(k) as f32, sampled.items.row(k), gradient);
        };
        rayon::join(
            || stepper.move_rows(users, &sampled.users.values, &mut parameters.users, of_user),
            || {
                let is_in_loss = |k: usize| !narrows || sampled.is_in_loss(plan, k);
                stepper.move_some_rows(items, &sampled.items.values, &mut parameters.items, is_in_loss, of_item);
            },
        );
        stepper.finish_step();
        Ok(total)
    }

    /// Turns scores into the derivatives of the mean loss by them; returns the sum of the losses.
    fn score_gradients(&self, at: StepId, batches: &Batches, plan: &Plan, sampled: &mut SparseSampled) -> Result<f64> {
        let loss_step = LossStep::new(&self.learning.loss, batches, at, plan.users(), self.quantiles());
        match loss_step.fused() {
            Some(fused) => Ok(sampled.step(plan, |row| loss_step.row(fused, row))),
            None => {
                sampled.step(plan, |_| 0.0);
                Ok(sampled.set_weights(plan, &loss_step.rows(sampled.scored(plan), Extra::default())?.scores))
            }
        }
    }
}

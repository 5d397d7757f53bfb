//! An epoch whose steps touch few rows of the item table.
//!
//! Draws depend on no parameter, so the steps ahead are planned together, each by one thread: their negatives, and the rows that they
//! touch. A step then brings these rows up to date, scores them and moves them.

use super::{epoch::weigh_row, formula, learner::Learner};
use crate::{
    Result,
    sampler::{Purpose, Stream},
    scoring::{Few, Plan},
};
use rayon::prelude::*;

/// Steps that are planned at once.
const AHEAD: usize = 16;

impl Learner<'_> {
    /// Trains every pair once; returns the sum of the losses.
    pub(super) fn few_epoch(&mut self, epoch: u32, few: &mut Few, plans: &mut Vec<Plan>) -> Result<f64> {
        let (batch_size, mut total) = (self.learning.training.batch_size as usize, 0.0);
        let (mut step, steps) = (0, self.order.len().div_ceil(batch_size) as u32);
        plans.resize_with(AHEAD, Plan::default);
        while step < steps {
            let ahead = (steps - step).min(AHEAD as u32);
            let plans = &mut plans[..ahead as usize];
            plans.par_iter_mut().zip(step + 1..step + 1 + ahead).for_each(|(plan, step)| self.plan(epoch, step, plan));
            for plan in plans {
                step += 1;
                total += self.few_step(epoch, step, plan, few)?;
            }
        }
        Ok(total)
    }

    /// Plans a step, counted from 1.
    fn plan(&self, epoch: u32, step: u32, plan: &mut Plan) {
        let batch_size = self.learning.training.batch_size as usize;
        let order = self.order.chunks(batch_size).nth(step as usize - 1).expect("a step has pairs");
        let pairs = order.iter().map(|&pair| self.pairs[pair as usize]);
        let negatives = self.learning.sampler.negatives().expect("few rows are drawn");
        plan.make(pairs, negatives, |row, user, ids| {
            let mut stream = Stream::new(self.learning.seed, Purpose::Negatives, epoch, step, row as u32);
            self.negatives.draw(&mut stream, user, ids, None);
        });
    }

    /// One step of the optimizer; returns the sum of the rows' losses.
    fn few_step(&mut self, epoch: u32, step: u32, plan: &Plan, few: &mut Few) -> Result<f64> {
        few.resize(plan);
        let Self { stepper, parameters, user_moments, item_moments, .. } = self;
        rayon::join(
            || stepper.current(&plan.users.rows, &parameters.users, user_moments, &mut few.users.values),
            || stepper.current(&plan.items.rows, &parameters.items, item_moments, &mut few.items.values),
        );
        let total = self.weigh(plan, few)?;
        self.check_loss(epoch, step, total)?;
        let Self { stepper, parameters, user_moments, item_moments, .. } = self;
        let (users, items, few) = (&plan.users.rows, &plan.items.rows, &*few);
        rayon::join(
            || stepper.move_rows(users, &few.users.values, &mut parameters.users, user_moments, |k, g| few.user_gradient(plan, k, g)),
            || stepper.move_rows(items, &few.items.values, &mut parameters.items, item_moments, |k, g| few.item_gradient(plan, k, g)),
        );
        stepper.finish_step();
        Ok(total)
    }

    /// Turns scores into the derivatives of the mean loss by them; returns the sum of the losses.
    fn weigh(&self, plan: &Plan, few: &mut Few) -> Result<f64> {
        let scale = 1.0 / plan.rows() as f32;
        let quantile = |row: usize| self.quantiles.as_ref().map(|quantiles| quantiles.values[plan.user(row) as usize]);
        match self.learning.loss.fused() {
            Some(fused) => {
                Ok(few.step(plan, |row, positive, negatives| weigh_row(fused, positive, negatives, quantile(row).unwrap_or(0.0), scale)))
            }
            None => {
                few.step(plan, |_, _, _| 0.0);
                let (positives, negatives) = few.scores(plan);
                let quantiles: Option<Vec<f32>> = (0..plan.rows()).map(quantile).collect();
                let weighed = formula::weigh(&self.learning.loss, &positives, &negatives, quantiles.as_deref(), scale)?;
                Ok(few.set_weights(plan, &weighed))
            }
        }
    }
}

//! What a training keeps to go on from: written and read by rank 0, and the same of all ranks.

use crate::fit::{
    checkpoint::resume::{self, Position, Stored},
    learner::Learner,
    or_again,
    step::batches::Batches,
};
use crate::{Result, collective::Collective};
use optimizers::{Optimizer, Parameter, Stepper};

/// What ranks call the exchange of where they begin.
const POSITION: &str = "where the training stands";
/// Bytes of a position at most; each epoch has a point of some hundred.
const LONGEST_POSITION: usize = 1 << 30;

impl Learner<'_> {
    /// The optimizer with the learning rate of the epoch under way.
    fn optimizer(&self) -> Optimizer {
        self.learning.optimizer.in_epoch(self.position.epoch + 1)
    }

    /// Everything that the next step needs, by name; `pools` is what the sampler has of it.
    fn state<'s>(&'s mut self, pools: Vec<(String, &'s mut [f32])>) -> Vec<(String, &'s mut [f32])> {
        let is_within = self.position.is_within();
        let parameters = self.parameters.state(is_within);
        let quantiles = self.quantiles.iter_mut().map(|quantiles| ("quantiles".to_owned(), &mut quantiles.values[..]));
        parameters.into_iter().chain(quantiles).chain(pools).chain(self.loss_state.state()).collect()
    }

    /// Writes the state, unless it is the stored one.
    pub(crate) fn save(&mut self, pools: Vec<(String, &mut [f32])>) -> Result<()> {
        if !self.collective.leads() {
            return Ok(());
        }
        let at = (self.position.epoch, self.position.so_far.step);
        if at != self.stored {
            (self.position.steps, self.position.own_steps) = (self.stepper.steps, self.loss_state.steps());
            self.position.so_far.caught_up = self.stepper.caught_up();
            self.position.seconds = self.watch.seconds();
            self.resources.check_fence()?;
            let (folder, position, trial) = (self.folder, self.position.clone(), self.trial.id());
            resume::write(folder, &trial, &position, &self.state(pools))?;
            self.stored = at;
            if let Some(superseded) = self.superseded.take().filter(|superseded| Some(superseded) != position.checkpoint.as_ref()) {
                superseded.delete(folder)?;
            }
        }
        self.watch.wrote();
        Ok(())
    }

    pub(crate) fn save_between(&mut self) -> Result<()> {
        self.sync_to_host()?;
        let is_within = self.position.is_within();
        let (mut batches, path) = self.work.take().expect("no epoch runs");
        let saved = self.save(batches.state(is_within));
        self.work = Some((batches, path));
        saved
    }

    /// Goes on from what an earlier call left, if any; all ranks from what rank 0 has.
    pub(crate) fn restore(&mut self) -> Result<()> {
        let stored = if self.collective.leads() { or_again(Stored::find(self.folder, &self.trial.id()), self.observer)? } else { None };
        let (mut batches, path) = self.work.take().expect("no epoch runs");
        let goes_on = self.share_position(stored.as_ref())?;
        let is_within = self.position.is_within();
        if is_within && !batches.is_sized() {
            self.refresh(self.position.epoch + 1, &mut batches)?; // for its size
        }
        if goes_on {
            let optimizer = self.optimizer();
            self.stepper = Stepper::new(&optimizer, self.position.steps);
            self.loss_state.restart(&optimizer, self.position.own_steps);
            self.stored = (self.position.epoch, self.position.so_far.step);
        }
        if let Some(stored) = stored {
            self.fill(&stored, &mut batches)?;
        }
        self.share_state(batches.state(is_within))?;
        self.share_caught_up()?;
        if goes_on {
            batches.restored(is_within);
        }
        self.work = Some((batches, path));
        Ok(())
    }

    /// Has all ranks stand where rank 0 does; whether that is after a first step.
    fn share_position(&mut self, stored: Option<&Stored>) -> Result<bool> {
        let text = stored.map_or_else(Vec::new, |stored| serde_json::to_vec(&stored.position).expect("a position is plain data"));
        let text = self.collective.of_first(POSITION, &text, LONGEST_POSITION)?;
        let refuse = |error| self.collective.error(POSITION, format!("rank 0 gave no position: {error}"));
        let position = (!text.is_empty()).then(|| serde_json::from_slice::<Position>(&text).map_err(refuse)).transpose()?;
        let goes_on = position.is_some();
        self.position = position.unwrap_or_default();
        Ok(goes_on)
    }

    /// Has all ranks' optimizers count from the step at which rank 0's rows were all up to date.
    fn share_caught_up(&mut self) -> Result<()> {
        let caught_up = self.collective.of_first("the optimizer", &[self.stepper.caught_up()], 1)?;
        if let ([caught_up], false) = (&caught_up[..], self.collective.leads()) {
            self.stepper = Stepper::resumed(&self.optimizer(), self.position.steps, *caught_up);
        }
        Ok(())
    }

    /// Gives all ranks the parameters of rank 0, and all else that it has.
    fn share_state(&mut self, pools: Vec<(String, &mut [f32])>) -> Result<()> {
        if self.collective.ranks() == 1 {
            return Ok(());
        }
        let collective = std::mem::replace(&mut self.collective, Collective::Single);
        let shared = self.state(pools).into_iter().try_for_each(|(name, values)| collective.broadcast(&name, values));
        self.collective = collective;
        shared
    }

    /// Puts what was kept back in place. Rows are left behind by one rank alone, where a step touches few: if the state has such rows and this
    /// training none, they are brought up to date; if this training has them and the state none, all are up to date.
    fn fill(&mut self, stored: &Stored, batches: &mut Batches) -> Result<()> {
        let is_within = self.position.is_within();
        let leaves: Vec<bool> = self.parameters.iter().map(Parameter::is_left_behind).collect();
        if is_within {
            self.parameters.iter_mut().for_each(|parameter| parameter.leave_behind(stored.has(&format!("{}.left", parameter.name))));
        }
        let found: Vec<bool> = self.parameters.iter().map(Parameter::is_left_behind).collect();
        stored.fill(self.state(batches.state(is_within)))?;
        let caught_up = if is_within { self.position.so_far.caught_up } else { self.position.steps };
        self.stepper = Stepper::resumed(&self.optimizer(), self.position.steps, caught_up);
        if found != leaves {
            self.catch_up();
            self.parameters.iter_mut().zip(leaves).for_each(|(parameter, leaves)| parameter.leave_behind(leaves));
            self.position.so_far.add_part();
        }
        Ok(())
    }
}

//! What a training keeps to go on from: written and read by rank 0, and the same of all ranks.

use super::Learner;
use crate::fit::{
    checkpoint::resume::{Position, Stored},
    or_again,
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
        self.state.learning.optimizer.in_epoch(self.run.position.epoch + 1)
    }

    /// Writes the state between two epochs, unless it is the stored one.
    pub(super) fn save_between(&mut self) -> Result<()> {
        self.sync_to_host()?;
        let pools = self.batches.state(self.run.position.is_within());
        self.run.save(&mut self.state, pools)
    }

    /// Goes on from what an earlier call left, if any; all ranks from what rank 0 has.
    pub(super) fn restore(&mut self) -> Result<()> {
        let stored = if self.state.collective.leads() {
            or_again(Stored::find(self.run.folder, &self.run.trial.id()), self.run.observer)?
        } else {
            None
        };
        let goes_on = self.share_position(stored.as_ref())?;
        let is_within = self.run.position.is_within();
        if is_within && !self.batches.is_sized() {
            self.state.refresh(self.run.position.epoch + 1, &mut self.batches)?; // for its size
        }
        if goes_on {
            let optimizer = self.optimizer();
            self.state.stepper = Stepper::new(&optimizer, self.run.position.steps);
            self.state.loss_state.restart(&optimizer, self.run.position.own_steps);
            self.run.stored = (self.run.position.epoch, self.run.position.so_far.step);
        }
        if let Some(stored) = stored {
            self.fill(&stored)?;
        }
        self.share_state()?;
        self.share_caught_up()?;
        if goes_on {
            self.batches.restored(is_within);
        }
        Ok(())
    }

    /// Has all ranks stand where rank 0 does; whether that is after a first step.
    fn share_position(&mut self, stored: Option<&Stored>) -> Result<bool> {
        let text = stored.map_or_else(Vec::new, |stored| serde_json::to_vec(&stored.position).expect("a position is plain data"));
        let text = self.state.collective.of_first(POSITION, &text, LONGEST_POSITION)?;
        let refuse = |error| self.state.collective.error(POSITION, format!("rank 0 gave no position: {error}"));
        let position = (!text.is_empty()).then(|| serde_json::from_slice::<Position>(&text).map_err(refuse)).transpose()?;
        let goes_on = position.is_some();
        self.run.position = position.unwrap_or_default();
        Ok(goes_on)
    }

    /// Has all ranks' optimizers count from the step at which rank 0's rows were all up to date.
    fn share_caught_up(&mut self) -> Result<()> {
        let caught_up = self.state.collective.of_first("the optimizer", &[self.state.stepper.caught_up()], 1)?;
        if let ([caught_up], false) = (&caught_up[..], self.state.collective.leads()) {
            self.state.stepper = Stepper::resumed(&self.optimizer(), self.run.position.steps, *caught_up);
        }
        Ok(())
    }

    /// Gives all ranks the parameters of rank 0, and all else that it has.
    fn share_state(&mut self) -> Result<()> {
        let Self { state, run, batches, .. } = self;
        if state.collective.ranks() == 1 {
            return Ok(());
        }
        let is_within = run.position.is_within();
        let collective = std::mem::replace(&mut state.collective, Collective::Single);
        let shared =
            state.all(is_within, batches.state(is_within)).into_iter().try_for_each(|(name, values)| collective.broadcast(&name, values));
        state.collective = collective;
        shared
    }

    /// Puts what was kept back in place. Rows are left behind by one rank alone, where a step touches few: if the state has such rows and this
    /// training none, they are brought up to date; if this training has them and the state none, all are up to date.
    fn fill(&mut self, stored: &Stored) -> Result<()> {
        let is_within = self.run.position.is_within();
        let leaves: Vec<bool> = self.state.parameters.iter().map(Parameter::is_left_behind).collect();
        if is_within {
            self.state.parameters.iter_mut().for_each(|parameter| parameter.leave_behind(stored.has(&format!("{}.left", parameter.name))));
        }
        let found: Vec<bool> = self.state.parameters.iter().map(Parameter::is_left_behind).collect();
        stored.fill(self.state.all(is_within, self.batches.state(is_within)))?;
        let caught_up = if is_within { self.run.position.so_far.caught_up } else { self.run.position.steps };
        self.state.stepper = Stepper::resumed(&self.optimizer(), self.run.position.steps, caught_up);
        if found != leaves {
            self.state.catch_up();
            self.state.parameters.iter_mut().zip(leaves).for_each(|(parameter, leaves)| parameter.leave_behind(leaves));
            self.run.position.so_far.add_part();
        }
        Ok(())
    }
}

//! Where a training stands, who hears of it, and where it is kept.

use crate::fit::{
    Observer, Resources,
    checkpoint::{
        resume::{self, Position, SoFar},
        stored_files::Checkpoint,
    },
    step::{
        batches::Batches,
        callback::{StepCallback, SyncToHost},
    },
    train_state::TrainState,
    watch::{Due, Watch},
};
use crate::{Error, Result, Trial, collective::Collective};
use dataset::Location;

/// A call that trains.
pub(super) struct Run<'a> {
    pub(super) trial: &'a Trial,
    pub(super) folder: &'a Location,
    pub(super) resources: &'a Resources<'a>,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) watch: Watch<'a>,
    pub(super) position: Position,
    /// Epochs done and steps of the next one, of the stored state; of fresh parameters too, which need none.
    pub(super) stored: (u32, u32),
    /// The model that was the best before, which goes when the state names the new one.
    pub(super) superseded: Option<Checkpoint>,
}

impl<'a> Run<'a> {
    pub(super) fn new(trial: &'a Trial, folder: &'a Location, resources: &'a Resources<'a>, observer: &'a mut dyn Observer) -> Self {
        let (watch, position) = (Watch::new(resources, 0.0), Position::default());
        Self { trial, folder, resources, observer, watch, position, stored: (0, 0), superseded: None }
    }

    /// Starts the clock, after the seconds that were trained before.
    pub(super) fn begin(&mut self) {
        self.watch = Watch::new(self.resources, self.position.seconds());
    }

    /// Writes the state, unless it is the stored one; `pools` is what the sampler has of it.
    pub(super) fn save(&mut self, state: &mut TrainState<'_>, pools: Vec<(String, &mut [f32])>) -> Result<()> {
        if !state.collective.leads() {
            return Ok(());
        }
        let at = (self.position.epoch, self.position.so_far.step);
        if at != self.stored || self.watch.is_over_since(self.position.seconds) {
            (self.position.steps, self.position.own_steps) = (state.stepper.steps, state.loss_state.steps());
            self.position.so_far.caught_up = state.stepper.caught_up();
            self.position.seconds = self.watch.seconds();
            self.resources.check_fence()?;
            resume::write(self.folder, &self.trial.id(), &self.position, &state.all(self.position.is_within(), pools))?;
            self.stored = at;
            let kept = self.position.checkpoint.as_ref();
            if let Some(superseded) = self.superseded.take().filter(|superseded| Some(superseded) != kept) {
                superseded.delete(self.folder)?;
            }
        }
        self.watch.wrote();
        Ok(())
    }

    /// What is due by the clock of rank 0, or by an interrupt of any rank: of all ranks at the same step.
    pub(super) fn due(&self, collective: &Collective) -> Result<Option<Due>> {
        let own = self.watch.due();
        if collective.ranks() == 1 {
            return Ok(own);
        }
        let due = collective.each("what is due", own.map_or(0, Due::code))?;
        let interrupt = due.contains(&Due::Interrupt.code()).then_some(Due::Interrupt);
        Ok(interrupt.or_else(|| Due::of_code(due[0], self.resources.time_limit)))
    }

    /// Leaves the training where what is due stops it.
    pub(super) fn leave(&self, due: Due) -> Result<()> {
        let epoch = self.position.epoch + 1;
        match due {
            Due::Interrupt => Err(Error::Interrupted { epoch }),
            Due::TimeLimit(limit) => Err(Error::TimeLimit { limit, epoch }),
            Due::Checkpoint => Ok(()),
        }
    }
}

impl StepCallback for Run<'_> {
    fn so_far(&mut self) -> &mut SoFar {
        &mut self.position.so_far
    }

    fn on_step(&mut self) {
        self.observer.step(self.position.epoch + 1, self.position.so_far.step);
    }

    fn on_step_end(&mut self, state: &mut TrainState<'_>, batches: Option<&mut Batches<'_>>, sync: SyncToHost<'_>) -> Result<()> {
        self.on_step();
        let Some(due) = self.due(&state.collective)? else { return Ok(()) };
        sync(state, &mut self.position.so_far)?;
        self.save(state, batches.map_or_else(Vec::new, |batches| batches.state(true)))?;
        self.leave(due)
    }
}

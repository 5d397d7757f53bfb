//! Backbones that learn in epochs towards an objective of their own.

use crate::fit::{
    EpochReport, Finished, Observer, Reached, Resources,
    checkpoint::{
        curve::{self, Point},
        outcome::{Ended, Outcome},
        resume::{self, Position, Stored},
        rung::{self, Rung},
        stored_files::{Checkpoint, StoredCurve},
    },
    or_again,
    views::Views,
    watch::{Due, Watch},
};
use crate::{Error, Iterations, Result, Trial, validation::validate};
use dataset::Location;
use evaluator::Scorer;
use models::{Epochs, Trained};
use std::time::Instant;

/// Trains to the end, or as far as is asked for.
pub(crate) fn learn(
    trial: &Trial,
    iterations: &Iterations,
    views: &Views<'_>,
    folder: &Location,
    resources: &Resources,
    observer: &mut dyn Observer,
) -> Result<Reached> {
    let needs_more = || Error::impossible("this backbone needs a loss, a sampler and an optimizer");
    let model = trial.backbone.iterative().ok_or_else(needs_more)?.start(views.seen(), iterations.seed)?;
    let (position, watch) = (Position::default(), Watch::new(resources, 0.0));
    let stored = or_again(Stored::find(folder, &trial.id()), observer)?;
    let mut training =
        IterativeTraining { trial, iterations, views, folder, resources, observer, model, position, watch, stored: 0, superseded: None };
    if let Some(stored) = stored {
        stored.fill(training.model.state())?;
        training.stored = stored.position.epoch;
        training.watch = Watch::new(resources, stored.position.seconds());
        training.position = stored.position;
    }
    training.run()
}

struct IterativeTraining<'a, 'd> {
    trial: &'a Trial,
    iterations: &'a Iterations,
    views: &'d Views<'d>,
    folder: &'a Location,
    resources: &'a Resources<'a>,
    observer: &'a mut dyn Observer,
    model: Box<dyn Epochs + 'd>,
    position: Position,
    watch: Watch<'a>,
    /// Epochs done of the stored state.
    stored: u32,
    /// The model that was the best before, which goes when the state names the new one.
    superseded: Option<Checkpoint>,
}

impl IterativeTraining<'_, '_> {
    fn run(&mut self) -> Result<Reached> {
        let epochs = self.iterations.epochs;
        let until = self.resources.until.unwrap_or(epochs).min(epochs);
        while self.position.epoch < until && !self.has_ended() {
            self.after_step()?;
            let done = self.epoch(self.position.epoch + 1);
            if let Err(error) = &done
                && error.repeats()
            {
                self.fail(error)?;
            }
            done?;
        }
        let curve = self.write_curve()?;
        let fit = rung::up_to(&self.position.points, until, "cpu".to_owned());
        if self.has_ended() && fit.epochs == self.position.epoch {
            return Ok(Reached::Ended(Finished { fit, checkpoint: self.position.checkpoint.clone(), curve: Some(curve) }));
        }
        self.save()?;
        Rung { trial: self.trial.id(), epochs: until, fit: fit.clone(), curve }.write(self.folder)?;
        Ok(Reached::Paused(fit))
    }

    /// Whether all epochs are done, or patience is at its end.
    fn has_ended(&self) -> bool {
        self.position.epoch >= self.iterations.epochs || self.position.is_stale(self.iterations.patience)
    }

    fn epoch(&mut self, epoch: u32) -> Result<()> {
        let Iterations { epochs, evaluate_every, .. } = *self.iterations;
        let watch = Instant::now();
        let loss = rayon::scope(|_| self.model.epoch(epoch))?; // one way into the pool, not one for each loop
        let pairs_per_second = self.views.seen().train.len() as f64 / watch.elapsed().as_secs_f64().max(1e-9);
        self.observer.step(epoch, 1);
        let evaluates = epoch.is_multiple_of(evaluate_every) || epoch == epochs;
        let validation = if evaluates { self.validate(epoch)? } else { None };
        let seconds = self.watch.seconds();
        self.position.epoch = epoch;
        self.position.points.push(Point { epoch, seconds, loss, validation });
        if evaluates {
            self.save()?;
        }
        self.observer.epoch(&EpochReport { epoch, epochs, loss, seconds, pairs_per_second, validation });
        Ok(())
    }

    fn validate(&mut self, epoch: u32) -> Result<Option<f64>> {
        if self.views.holds_users_out() {
            let of_seen = Trained { scorer: self.model.scorer()?, parameters: self.model.parameters() };
            let of_all = self.views.scorer(self.trial, of_seen)?;
            return self.validate_scorer(epoch, &of_all);
        }
        let lent = self.model.lend_scorer()?;
        let validated = self.validate_scorer(epoch, &lent);
        self.model.take_back(lent);
        validated
    }

    /// Ranks the validation part and keeps the model if it is the best so far; the last one where there is no such part.
    fn validate_scorer(&mut self, epoch: u32, scorer: &Scorer) -> Result<Option<f64>> {
        let (dataset, select_by) = (self.views.whole(), self.trial.select_by);
        let validation = validate(scorer, dataset, select_by, self.resources.memory)?;
        let mean = validation.as_ref().map(|validation| validation.mean);
        if mean.is_none() || self.position.best.is_none_or(|(_, best)| mean > Some(best)) {
            self.resources.check_fence()?;
            let per_user = validation.map(|validation| validation.table(dataset, select_by)).transpose()?;
            let checkpoint = Checkpoint::write(self.folder, scorer, &self.model.parameters(), per_user)?;
            self.superseded = self.position.checkpoint.replace(checkpoint);
            self.position.best = mean.map(|mean| (epoch, mean));
        }
        Ok(mean)
    }

    fn write_curve(&self) -> Result<StoredCurve> {
        self.resources.check_fence()?;
        curve::write(self.folder, &self.position.points, self.trial.select_by)
    }

    /// Writes the marker of a training that failed, with the curve, which tells how it stood before.
    fn fail(&self, error: &Error) -> Result<()> {
        let curve = self.write_curve()?;
        if Ended::read(self.folder, &self.trial.id()).is_ok_and(|ended| ended.is_some()) {
            return Ok(());
        }
        Ended::new(self.trial, Outcome::Failed(error.to_string()), None, Some(curve)).write(self.folder)
    }

    /// Writes the state, unless it is the stored one.
    fn save(&mut self) -> Result<()> {
        if self.position.epoch != self.stored || self.position.epoch > 0 && self.watch.is_over_since(self.position.seconds) {
            self.position.seconds = self.watch.seconds();
            self.resources.check_fence()?;
            resume::write(self.folder, &self.trial.id(), &self.position, &self.model.state())?;
            self.stored = self.position.epoch;
            if let Some(superseded) = self.superseded.take().filter(|superseded| Some(superseded) != self.position.checkpoint.as_ref()) {
                superseded.delete(self.folder)?;
            }
        }
        self.watch.wrote();
        Ok(())
    }

    /// Between two epochs: writes the state or stops where that is due.
    fn after_step(&mut self) -> Result<()> {
        let Some(due) = self.watch.due() else { return Ok(()) };
        self.save()?;
        let epoch = self.position.epoch + 1;
        match due {
            Due::Interrupt => Err(Error::Interrupted { epoch }),
            Due::TimeLimit(limit) => Err(Error::TimeLimit { limit, epoch }),
            Due::Checkpoint => Ok(()),
        }
    }
}

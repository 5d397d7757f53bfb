//! A training under way: epochs, validation, the best model, and where it stands.

mod resume;
mod run;

use crate::fit::{
    Device, EpochReport, Finished, Observer, Reached, Resources,
    checkpoint::{
        curve::{self, Point},
        outcome::{Ended, Outcome},
        rung::{self, Rung},
        stored_files::{Checkpoint, StoredCurve},
    },
    label::label,
    loss_state::{LossState, quantiles, statistics::Statistics},
    step::{
        batches::Batches,
        path::{self, PathInputs, StepKind, StepPath},
    },
    train_state::TrainState,
    views::Views,
};
use crate::{Error, Learning, Result, Trial, collective::Collective, validation::validate};
use dataset::Location;
use embeddings::Vectors;
use evaluator::{Factors, Histories, Scorer};
use losses::{QuantileUpdate, Quantiles};
use models::Trained;
use optimizers::Stepper;
use run::Run;
use std::time::Instant;

/// A training under way.
pub(crate) struct Learner<'a> {
    views: &'a Views<'a>,
    state: TrainState<'a>,
    run: Run<'a>,
    batches: Batches<'a>,
    path: StepPath,
}

impl<'a> Learner<'a> {
    /// Makes a learner, fresh or as an interrupted training left it.
    pub(crate) fn new(
        trial: &'a Trial,
        learning: &'a Learning,
        views: &'a Views<'a>,
        folder: &'a Location,
        resources: &'a Resources<'a>,
        observer: &'a mut dyn Observer,
        collective: Collective,
    ) -> Result<Self> {
        let dataset = views.seen();
        let model =
            trial.backbone.learned().ok_or_else(|| Error::impossible("this backbone fits without a loss, a sampler and an optimizer"))?;
        let targets = model.targets(dataset)?;
        let (mut parameters, encoder) = (model.parameters(dataset, learning.seed), model.encoder(dataset, learning.seed));
        let kind = StepKind::new(&trial.backbone, learning, [dataset.users(), dataset.items(), dataset.train.len()]);
        let moves_all_rows = collective.ranks() > 1 && resources.device == Device::Cpu || path::by_candle(trial, resources);
        let kind = if moves_all_rows { kind.with_all_rows() } else { kind };
        let batches = Batches::new(learning, dataset, targets, resources.cache.filter(|_| collective.leads()))?;
        parameters.users.leave_behind(kind.sparse_users);
        parameters.items.leave_behind(kind.sparse_items);
        let dim = encoder.vectors(&parameters)[0].dim;
        let inputs = PathInputs { trial, learning, dataset, batches: &batches, kind, dim };
        let (path, collective) = path::of(inputs, resources, collective)?;
        let state = TrainState {
            learning,
            dataset,
            collective,
            encoder,
            network: model.network(learning.seed),
            quantiles: learning.loss.quantiles().map(|_| Quantiles::new(dataset.users())),
            loss_state: LossState::new(learning, dataset.users(), dataset.items()),
            stepper: Stepper::new(&learning.optimizer.in_epoch(1), 0),
            parameters,
        };
        let mut learner = Self { views, state, run: Run::new(trial, folder, resources, observer), batches, path };
        learner.set_columns(0)?;
        learner.restore()?;
        Ok(learner)
    }

    /// Trains to the end, or as far as is asked for.
    pub(crate) fn run(&mut self) -> Result<Reached> {
        self.run.begin();
        let epochs = self.state.learning.training.epochs;
        let until = self.run.resources.until.unwrap_or(epochs).min(epochs);
        while self.run.position.epoch < until && !self.has_ended() {
            self.save_or_stop()?;
            let done = self.run_epoch(self.run.position.epoch + 1);
            if let Err(error) = &done
                && error.repeats()
            {
                self.fail(error)?;
            }
            done?;
        }
        let curve = self.write_curve()?;
        let fit = rung::up_to(&self.run.position.points, until, label(self.run.resources.device, &self.run.resources.ranks)?);
        if self.has_ended() && fit.epochs == self.run.position.epoch {
            return Ok(Reached::Ended(Finished { fit, checkpoint: self.run.position.checkpoint.clone(), curve }));
        }
        self.save_between()?;
        if let Some(curve) = curve {
            Rung { trial: self.run.trial.id(), epochs: until, fit: fit.clone(), curve }.write(self.run.folder)?;
        }
        Ok(Reached::Paused(fit))
    }

    /// Rank 0 writes the curve.
    fn write_curve(&self) -> Result<Option<StoredCurve>> {
        if !self.state.collective.leads() {
            return Ok(None);
        }
        self.run.resources.check_fence()?;
        curve::write(self.run.folder, &self.run.position.points, self.run.trial.select_by).map(Some)
    }

    /// Writes the marker of a training that failed, with the curve, which tells how it stood before.
    fn fail(&self, error: &Error) -> Result<()> {
        let curve = self.write_curve()?;
        if curve.is_none() || Ended::read(self.run.folder, &self.run.trial.id()).is_ok_and(|ended| ended.is_some()) {
            return Ok(());
        }
        Ended::new(self.run.trial, Outcome::Failed(error.to_string()), None, curve).write(self.run.folder)
    }

    /// Whether all epochs are done, or patience is at its end.
    fn has_ended(&self) -> bool {
        let training = &self.state.learning.training;
        self.run.position.epoch >= training.epochs || self.run.position.is_stale(training.patience)
    }

    fn run_epoch(&mut self, epoch: u32) -> Result<()> {
        let training = &self.state.learning.training;
        self.state.collective.at(epoch, 0);
        if self.run.position.so_far.step == 0 {
            self.set_learning_rate(epoch);
            self.update_quantiles(epoch, QuantileUpdate::BeforeEpoch)?;
        }
        let (resumed_at, watch) = (self.run.position.so_far.step, Instant::now());
        let loss = match self.path.has_kernels() {
            true => self.train_epoch(epoch)?, // a thread of the pool would wait for the device, and for no other trial
            false => rayon::scope(|_| self.train_epoch(epoch))?, // one way into the pool, not one for each loop
        };
        let steps = f64::from(self.batches.steps() - resumed_at) / f64::from(self.batches.steps());
        let pairs_per_second = self.state.dataset.train.len() as f64 * steps / watch.elapsed().as_secs_f64().max(1e-9);
        self.update_quantiles(epoch, QuantileUpdate::AfterEpoch)?;
        self.set_columns(epoch)?;
        let evaluates = epoch.is_multiple_of(training.evaluate_every) || epoch == training.epochs;
        let validation = if evaluates { self.evaluate(epoch)? } else { None };
        let seconds = self.run.watch.seconds();
        self.run.position.epoch = epoch;
        self.run.position.points.push(Point { epoch, seconds, loss, validation });
        if evaluates {
            self.save_between()?;
        }
        self.run.observer.epoch(&EpochReport { epoch, epochs: training.epochs, loss, seconds, pairs_per_second, validation });
        Ok(())
    }

    /// Trains every pair once; returns the mean loss.
    fn train_epoch(&mut self, epoch: u32) -> Result<f64> {
        let Self { state, run, batches, path, .. } = self;
        state.train_epoch(epoch, batches, path, run)?;
        Ok(std::mem::take(&mut run.position.so_far).total / batches.len() as f64)
    }

    /// Has rank 0 rank the validation part and keep the model if it is the best so far. Without a validation part the last model is kept.
    fn evaluate(&mut self, epoch: u32) -> Result<Option<f64>> {
        self.sync_to_host()?;
        if let Some(tensor) = self.state.parameters.not_finite() {
            return Err(models::Error::NotFinite { epoch, step: self.batches.steps(), tensor }.into());
        }
        let mean = if self.state.collective.leads() { self.validate()? } else { None };
        let mean = self.state.collective.of_first("the validation metric", mean.as_slice(), 1)?.pop();
        if let Some(mean) = mean.filter(|&mean| self.is_best(Some(mean))) {
            self.run.position.best = Some((epoch, mean));
        }
        Ok(mean)
    }

    /// Writes the model if it is the best so far.
    fn validate(&mut self) -> Result<Option<f64>> {
        let (views, dataset, select_by) = (self.views, self.views.whole(), self.run.trial.select_by);
        // A device holds the vectors of users whom training sees alone, and masks what these have in train.
        let is_masked_there = !views.holds_users_out() && !dataset.one_node_set;
        let on_device = if is_masked_there { self.path.validate(dataset, select_by) } else { None };
        let (validation, scorer) = match on_device {
            Some(validation) => (validation?, None),
            None => {
                let scorer = self.scorer()?;
                let scorer = views.scorer(self.run.trial, Trained { scorer, parameters: self.state.parameters.named() })?;
                (validate(&scorer, dataset, select_by, self.run.resources.memory)?, Some(scorer))
            }
        };
        let mean = validation.as_ref().map(|validation| validation.mean);
        if self.is_best(mean) {
            self.run.resources.check_fence()?;
            let scorer = scorer.map_or_else(|| self.scorer(), Ok)?;
            let scorer = self.with_histories_before_test(scorer)?;
            let per_user = validation.map(|validation| validation.table(dataset, select_by)).transpose()?;
            let keeps = self.run.trial.backbone.how_to_fold_in().keeps_parameters();
            let parameters = if keeps { self.state.parameters.named() } else { Vec::new() };
            let checkpoint = Checkpoint::write(self.run.folder, &scorer, &parameters, per_user)?;
            self.run.superseded = self.run.position.checkpoint.replace(checkpoint);
        }
        Ok(mean)
    }

    fn is_best(&self, mean: Option<f64>) -> bool {
        mean.is_none() || self.run.position.best.is_none_or(|(_, best)| mean > Some(best))
    }

    /// Copies the model from a device to the host, between epochs.
    pub(crate) fn sync_to_host(&mut self) -> Result<()> {
        self.path.sync_to_host(&mut self.state.parameters)
    }

    fn scorer(&mut self) -> Result<Scorer> {
        if let Some(network) = &self.state.network {
            return Ok(network.scorer(&self.state.parameters));
        }
        let similarity = self.state.learning.loss.ranking();
        let [users, items] = self.state.vectors()?.map(Clone::clone);
        Ok(Factors { users, items, similarity }.into())
    }

    /// A model as it is stored: with the vectors that rank test, where these are not those that rank validation. Users who are held out have one history.
    fn with_histories_before_test(&self, scorer: Scorer) -> Result<Scorer> {
        if self.views.holds_users_out() {
            return Ok(scorer);
        }
        Ok(match (scorer, self.state.encoder.users_before_test(&self.state.parameters)?) {
            (Scorer::Factors(Factors { users, items, similarity }), Some(test)) => {
                Scorer::Histories(Histories { validation: users, test, items, similarity })
            }
            (scorer, _) => scorer,
        })
    }

    /// Sets the quantiles where this is the time for it.
    fn update_quantiles(&mut self, epoch: u32, time: QuantileUpdate) -> Result<()> {
        let schedule = self.state.learning.loss.quantiles().filter(|schedule| schedule.is_due(epoch) && schedule.update == time);
        let Some(schedule) = schedule else { return Ok(()) };
        let train = &self.state.dataset.train;
        self.path.load(&self.state.parameters, &self.state.stepper)?;
        if let Some(quantiles) = &mut self.state.quantiles
            && let Some(updated) = self.path.update_quantiles(quantiles, schedule, train, epoch)
        {
            return updated;
        }
        self.sync_to_host()?;
        if let Some(quantiles) = &mut self.state.quantiles {
            self.state.encoder.encode(&self.state.parameters)?;
            let [users, items] = self.state.encoder.vectors(&self.state.parameters);
            let vectors = Vectors { users, items, similarity: self.state.learning.loss.similarity() };
            let (candidates, seed) = (self.state.learning.candidates(), self.state.learning.seed);
            quantiles::update(quantiles, schedule, vectors, train, candidates, seed, epoch).map_err(Error::impossible)?;
        }
        Ok(())
    }

    /// Goes on with the learning rate of an epoch that has another one than the epoch before. All rows are up to date between epochs.
    fn set_learning_rate(&mut self, epoch: u32) {
        if self.state.learning.optimizer.changes_in(epoch) {
            let (optimizer, own_steps) = (self.state.learning.optimizer.in_epoch(epoch), self.state.loss_state.steps());
            self.state.stepper = Stepper::new(&optimizer, self.state.stepper.steps);
            self.state.loss_state.restart(&optimizer, own_steps);
        }
    }

    /// Has the loss set numbers of its own after so many epochs, where it does so.
    fn set_columns(&mut self, epochs: u32) -> Result<()> {
        if self.state.loss_state.is_set() {
            self.sync_to_host()?;
            self.state.encoder.encode(&self.state.parameters)?;
            let tables = self.state.encoder.vectors(&self.state.parameters);
            self.state.loss_state.set(&self.state.learning.loss, &Statistics::new(tables, &self.state.dataset.train), epochs);
        }
        Ok(())
    }

    /// Writes the state or stops where that is due, between two epochs.
    fn save_or_stop(&mut self) -> Result<()> {
        match self.run.due(&self.state.collective)? {
            None => Ok(()),
            Some(due) => self.save_between().and_then(|()| self.run.leave(due)),
        }
    }
}

//! A training under way: parameters, moments, loss state, and where it stands.

use crate::fit::{
    Device, EpochReport, Finished, Observer, Reached, Resources,
    checkpoint::{
        curve::{self, Point},
        outcome::{Ended, Outcome},
        resume::Position,
        rung::{self, Rung},
        stored_files::{Checkpoint, StoredCurve},
    },
    label::label,
    loss_state::{LossState, quantiles, statistics::Statistics},
    step::{
        batches::Batches,
        path::{self, PathInputs, StepKind, StepPath},
    },
    views::Views,
    watch::{Due, Watch},
};
use crate::{Error, Learning, Result, Trial, collective::Collective, validation::validate};
use dataset::{Dataset, Location};
use embeddings::Vectors;
use evaluator::{Factors, Histories, Matrix, Scorer};
use losses::{QuantileUpdate, Quantiles};
use models::{Trained, encoder::Encoder, pairs::PairNetwork, parameters::Parameters};
use optimizers::Stepper;

pub(crate) struct Learner<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) learning: &'a Learning,
    /// What training sees.
    pub(crate) dataset: &'a Dataset,
    pub(crate) views: &'a Views<'a>,
    pub(crate) folder: &'a Location,
    pub(crate) resources: &'a Resources<'a>,
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) collective: Collective,
    pub(crate) watch: Watch<'a>,
    pub(crate) parameters: Parameters,
    pub(crate) encoder: Box<dyn Encoder>,
    /// What scores pairs, where that is not the loss's similarity.
    pub(crate) network: Option<Box<dyn PairNetwork>>,
    pub(crate) quantiles: Option<Quantiles>,
    pub(crate) loss_state: LossState,
    pub(crate) stepper: Stepper,
    pub(crate) position: Position,
    /// Epochs done and steps of the next one, of the stored state; of fresh parameters too, which need none.
    pub(crate) stored: (u32, u32),
    /// The model that was the best before, which goes when the state names the new one.
    pub(crate) superseded: Option<Checkpoint>,
    /// Batches and buffers; taken out while an epoch runs.
    pub(crate) work: Option<(Batches<'a>, StepPath)>,
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
        let (mut parameters, encoder) = model.start(dataset, learning.seed);
        let kind = StepKind::new(&trial.backbone, learning, [dataset.users(), dataset.items(), dataset.train.len()]);
        let moves_all_rows = collective.ranks() > 1 && resources.device == Device::Cpu || path::by_candle(trial, resources);
        let kind = if moves_all_rows { kind.with_all_rows() } else { kind };
        let batches = Batches::new(learning, dataset, targets, resources.cache.filter(|_| collective.leads()))?;
        parameters.users.leave_behind(kind.sparse_users);
        parameters.items.leave_behind(kind.sparse_items);
        let dim = encoder.vectors(&parameters)[0].dim;
        let inputs = PathInputs { trial, learning, dataset, batches: &batches, kind, dim };
        let (path, collective) = path::of(inputs, resources, collective)?;
        let mut learner = Self {
            trial,
            learning,
            dataset,
            views,
            folder,
            resources,
            observer,
            collective,
            watch: Watch::new(resources, 0.0),
            encoder,
            network: model.network(learning.seed),
            quantiles: learning.loss.quantiles().map(|_| Quantiles::new(dataset.users())),
            loss_state: LossState::new(learning, dataset.users(), dataset.items()),
            stepper: Stepper::new(&learning.optimizer.in_epoch(1), 0),
            position: Position::default(),
            stored: (0, 0),
            superseded: None,
            work: Some((batches, path)),
            parameters,
        };
        learner.set_columns(0)?;
        learner.restore()?;
        Ok(learner)
    }

    /// Trains to the end, or as far as is asked for.
    pub(crate) fn run(&mut self) -> Result<Reached> {
        self.watch = Watch::new(self.resources, self.position.seconds());
        let epochs = self.learning.training.epochs;
        let until = self.resources.until.unwrap_or(epochs).min(epochs);
        while self.position.epoch < until && !self.has_ended() {
            self.save_or_stop()?;
            let done = self.run_epoch(self.position.epoch + 1);
            if let Err(error) = &done
                && error.repeats()
            {
                self.fail(error)?;
            }
            done?;
        }
        let curve = self.write_curve()?;
        let fit = rung::up_to(&self.position.points, until, label(self.resources.device, &self.resources.ranks)?);
        if self.has_ended() && fit.epochs == self.position.epoch {
            return Ok(Reached::Ended(Finished { fit, checkpoint: self.position.checkpoint.clone(), curve }));
        }
        self.save_between()?;
        if let Some(curve) = curve {
            Rung { trial: self.trial.id(), epochs: until, fit: fit.clone(), curve }.write(self.folder)?;
        }
        Ok(Reached::Paused(fit))
    }

    /// Rank 0 writes the curve.
    fn write_curve(&self) -> Result<Option<StoredCurve>> {
        if !self.collective.leads() {
            return Ok(None);
        }
        self.resources.check_fence()?;
        curve::write(self.folder, &self.position.points, self.trial.select_by).map(Some)
    }

    /// Writes the marker of a training that failed, with the curve, which tells how it stood before.
    fn fail(&self, error: &Error) -> Result<()> {
        let curve = self.write_curve()?;
        if curve.is_none() || Ended::read(self.folder, &self.trial.id()).is_ok_and(|ended| ended.is_some()) {
            return Ok(());
        }
        Ended::new(self.trial, Outcome::Failed(error.to_string()), None, curve).write(self.folder)
    }

    /// Whether all epochs are done, or patience is at its end.
    fn has_ended(&self) -> bool {
        let training = &self.learning.training;
        self.position.epoch >= training.epochs || self.position.is_stale(training.patience)
    }

    fn run_epoch(&mut self, epoch: u32) -> Result<()> {
        let training = &self.learning.training;
        self.collective.at(epoch, 0);
        if self.position.so_far.step == 0 {
            self.set_learning_rate(epoch);
            self.update_quantiles(epoch, QuantileUpdate::BeforeEpoch)?;
        }
        let loss = rayon::scope(|_| self.train_epoch(epoch))?; // one way into the pool, not one for each loop
        self.update_quantiles(epoch, QuantileUpdate::AfterEpoch)?;
        self.set_columns(epoch)?;
        let evaluates = epoch.is_multiple_of(training.evaluate_every) || epoch == training.epochs;
        let validation = if evaluates { self.evaluate(epoch)? } else { None };
        let seconds = self.watch.seconds();
        self.position.epoch = epoch;
        self.position.points.push(Point { epoch, seconds, loss, validation });
        if evaluates {
            self.save_between()?;
        }
        let pairs = self.dataset.train.len() as u64;
        self.observer.epoch(&EpochReport { epoch, epochs: training.epochs, loss, seconds, pairs, validation });
        Ok(())
    }

    /// Has rank 0 rank the validation part and keep the model if it is the best so far. Without a validation part the last model is kept.
    fn evaluate(&mut self, epoch: u32) -> Result<Option<f64>> {
        self.sync_to_host()?;
        if let Some(tensor) = self.parameters.not_finite() {
            return Err(models::Error::NotFinite {
                epoch,
                step: self.dataset.train.len().div_ceil(self.learning.training.batch_size as usize) as u32,
                tensor,
            }
            .into());
        }
        let mean = if self.collective.leads() { self.validate()? } else { None };
        let mean = self.collective.of_first("the validation metric", mean.as_slice(), 1)?.pop();
        if let Some(mean) = mean.filter(|&mean| self.is_best(Some(mean))) {
            self.position.best = Some((epoch, mean));
        }
        Ok(mean)
    }

    /// Writes the model if it is the best so far.
    fn validate(&mut self) -> Result<Option<f64>> {
        let (views, dataset, select_by) = (self.views, self.views.whole(), self.trial.select_by);
        // A device holds the vectors of users whom training sees alone, and masks what these have in train.
        let work = self.work.as_mut().filter(|_| !views.holds_users_out() && !dataset.one_node_set);
        let on_device = work.and_then(|(_, path)| path.validate(dataset, select_by));
        let (validation, scorer) = match on_device {
            Some(validation) => (validation?, None),
            None => {
                let scorer = self.scorer()?;
                let scorer = views.scorer(self.trial, Trained { scorer, parameters: self.parameters.named() })?;
                (validate(&scorer, dataset, select_by, self.resources.memory)?, Some(scorer))
            }
        };
        let mean = validation.as_ref().map(|validation| validation.mean);
        if self.is_best(mean) {
            self.resources.check_fence()?;
            let scorer = scorer.map_or_else(|| self.scorer(), Ok)?;
            let scorer = self.with_histories_before_test(scorer)?;
            let per_user = validation.map(|validation| validation.table(dataset, select_by)).transpose()?;
            let keeps = self.trial.backbone.how_to_fold_in().keeps_parameters();
            let parameters = if keeps { self.parameters.named() } else { Vec::new() };
            let checkpoint = Checkpoint::write(self.folder, &scorer, &parameters, per_user)?;
            self.superseded = self.position.checkpoint.replace(checkpoint);
        }
        Ok(mean)
    }

    fn is_best(&self, mean: Option<f64>) -> bool {
        mean.is_none() || self.position.best.is_none_or(|(_, best)| mean > Some(best))
    }

    /// Copies the model from a device to the host, between epochs.
    pub(crate) fn sync_to_host(&mut self) -> Result<()> {
        let Self { parameters, work, .. } = self;
        work.as_mut().map_or(Ok(()), |(_, path)| path.sync_to_host(parameters))
    }

    fn scorer(&mut self) -> Result<Scorer> {
        if let Some(network) = &self.network {
            return Ok(network.scorer(&self.parameters));
        }
        let similarity = self.learning.loss.ranking();
        let [users, items] = self.vectors()?.map(Clone::clone);
        Ok(Factors { users, items, similarity }.into())
    }

    /// A model as it is stored: with the vectors that rank test, where these are not those that rank validation. Users who are held out have one history.
    fn with_histories_before_test(&self, scorer: Scorer) -> Result<Scorer> {
        if self.views.holds_users_out() {
            return Ok(scorer);
        }
        Ok(match (scorer, self.encoder.users_before_test(&self.parameters)?) {
            (Scorer::Factors(Factors { users, items, similarity }), Some(test)) => {
                Scorer::Histories(Histories { validation: users, test, items, similarity })
            }
            (scorer, _) => scorer,
        })
    }

    /// The vectors of all users and items, as they are ranked.
    pub(crate) fn vectors(&mut self) -> Result<[&Matrix; 2]> {
        self.encoder.encode(&self.parameters)?;
        Ok(self.encoder.vectors(&self.parameters))
    }

    /// Quantiles of all users, for losses that have them.
    pub(crate) fn quantiles(&self) -> Option<&[f32]> {
        self.quantiles.as_ref().map(|quantiles| &quantiles.values[..])
    }

    /// Sets the quantiles where this is the time for it.
    fn update_quantiles(&mut self, epoch: u32, time: QuantileUpdate) -> Result<()> {
        let schedule = self.learning.loss.quantiles().filter(|schedule| schedule.is_due(epoch) && schedule.update == time);
        let Some(schedule) = schedule else { return Ok(()) };
        let train = &self.dataset.train;
        if let Some((_, path)) = &mut self.work {
            path.load(&self.parameters, &self.stepper)?;
        }
        if let Some(quantiles) = &mut self.quantiles {
            let on_device = self.work.as_mut().and_then(|(_, path)| path.update_quantiles(quantiles, schedule, train, epoch));
            if let Some(updated) = on_device {
                return updated;
            }
        }
        self.sync_to_host()?;
        if let Some(quantiles) = &mut self.quantiles {
            self.encoder.encode(&self.parameters)?;
            let [users, items] = self.encoder.vectors(&self.parameters);
            let vectors = Vectors { users, items, similarity: self.learning.loss.similarity() };
            let (candidates, seed) = (self.learning.candidates(), self.learning.seed);
            quantiles::update(quantiles, schedule, vectors, train, candidates, seed, epoch).map_err(Error::impossible)?;
        }
        Ok(())
    }

    /// Goes on with the learning rate of an epoch that has another one than the epoch before. All rows are up to date between epochs.
    fn set_learning_rate(&mut self, epoch: u32) {
        if self.learning.optimizer.changes_in(epoch) {
            let (optimizer, own_steps) = (self.learning.optimizer.in_epoch(epoch), self.loss_state.steps());
            self.stepper = Stepper::new(&optimizer, self.stepper.steps);
            self.loss_state.restart(&optimizer, own_steps);
        }
    }

    /// Has the loss set numbers of its own after so many epochs, where it does so.
    fn set_columns(&mut self, epochs: u32) -> Result<()> {
        if self.loss_state.is_set() {
            self.sync_to_host()?;
            self.encoder.encode(&self.parameters)?;
            let tables = self.encoder.vectors(&self.parameters);
            self.loss_state.set(&self.learning.loss, &Statistics::new(tables, &self.dataset.train), epochs);
        }
        Ok(())
    }

    /// Says that a step is made, and writes the state or stops where that is due.
    pub(crate) fn after_step<'s>(&mut self, pools: impl FnOnce() -> Vec<(String, &'s mut [f32])>) -> Result<()> {
        self.after_step_saving(|learner| learner.save(pools()))
    }

    /// Says that a step is made, and writes the state, in a way of its own, or stops where that is due.
    pub(crate) fn after_step_saving(&mut self, save: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.observe_step();
        match self.due()? {
            None => Ok(()),
            Some(due) => save(self).and_then(|()| self.leave(due)),
        }
    }

    /// Says that a step is made.
    pub(crate) fn observe_step(&mut self) {
        self.observer.step(self.position.epoch + 1, self.position.so_far.step);
    }

    /// Writes the state or stops where that is due, between two epochs.
    fn save_or_stop(&mut self) -> Result<()> {
        match self.due()? {
            None => Ok(()),
            Some(due) => self.save_between().and_then(|()| self.leave(due)),
        }
    }

    /// What is due by the clock of rank 0, or by an interrupt of any rank: of all ranks at the same step.
    fn due(&self) -> Result<Option<Due>> {
        let own = self.watch.due();
        if self.collective.ranks() == 1 {
            return Ok(own);
        }
        let due = self.collective.each("what is due", own.map_or(0, Due::code))?;
        let interrupt = due.contains(&Due::Interrupt.code()).then_some(Due::Interrupt);
        Ok(interrupt.or_else(|| Due::of_code(due[0], self.resources.time_limit)))
    }

    fn leave(&self, due: Due) -> Result<()> {
        let epoch = self.position.epoch + 1;
        match due {
            Due::Interrupt => Err(Error::Interrupted { epoch }),
            Due::TimeLimit(limit) => Err(Error::TimeLimit { limit, epoch }),
            Due::Checkpoint => Ok(()),
        }
    }
}

//! A training under way: parameters, moments, loss state, and where it stands.

use super::{
    EpochReport, Observer, Resources, Stand,
    batches::Batches,
    curve::{self, Point},
    own::Own,
    path::{Path, Shape},
    quantiles,
    resume::{self, Position},
    rung, sharpness,
    validation::validate,
    watch::{Due, Watch},
};
use crate::{
    Error, Learning, Loss, Result, Trial,
    backbone::{Encode, Wanted},
    loss::Quantiles,
    optimizer::{Moments, Stepper},
    scoring::Vectors,
    tables::Tables,
};
use dataset::{Dataset, Location};
use evaluator::Scorer;

pub(super) struct Learner<'a> {
    pub(super) trial: &'a Trial,
    pub(super) learning: &'a Learning,
    pub(super) dataset: &'a Dataset,
    folder: &'a Location,
    resources: &'a Resources<'a>,
    observer: &'a mut dyn Observer,
    watch: Watch<'a>,
    pub(super) parameters: Tables,
    pub(super) encoder: Box<dyn Encode>,
    pub(super) quantiles: Option<Quantiles>,
    pub(super) own: Own,
    pub(super) user_moments: Moments,
    pub(super) item_moments: Moments,
    pub(super) stepper: Stepper,
    pub(super) position: Position,
    /// Epochs done and steps of the next one, of the stored state; of fresh parameters too, which need none.
    stored: (u32, u32),
    /// Batches and buffers; taken out while an epoch runs.
    pub(super) work: Option<(Batches<'a>, Path)>,
}

impl<'a> Learner<'a> {
    /// Fresh, or as an interrupted training left it.
    pub(super) fn new(
        trial: &'a Trial,
        learning: &'a Learning,
        dataset: &'a Dataset,
        folder: &'a Location,
        resources: &'a Resources<'a>,
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        let (parameters, encoder) = trial
            .backbone
            .start(dataset, learning.seed)
            .ok_or_else(|| Error::Impossible("this backbone fits without a loss, a sampler and an optimizer".to_owned()))?;
        let shape = Shape::new(learning, (dataset.users(), dataset.items(), dataset.train.len()), encoder.is_identity());
        let mut learner = Self {
            trial,
            learning,
            dataset,
            folder,
            resources,
            observer,
            watch: Watch::new(resources, 0.0),
            encoder,
            quantiles: learning.loss.quantiles().map(|_| Quantiles::new(dataset.users())),
            own: Own::new(learning, dataset.users(), dataset.items()),
            user_moments: Moments::new(&parameters.users, shape.few_users),
            item_moments: Moments::new(&parameters.items, shape.few_items),
            stepper: Stepper::new(&learning.optimizer, 0),
            position: Position::default(),
            stored: (0, 0),
            work: Some((Batches::new(learning, dataset, resources.cache)?, Path::new(shape, &parameters, &learning.loss))),
            parameters,
        };
        learner.update_sharpness(0);
        learner.restore()?;
        Ok(learner)
    }

    /// Trains to the end, or as far as is asked for.
    pub(super) fn run(&mut self) -> Result<Stand> {
        self.watch = Watch::new(self.resources, self.position.seconds());
        let epochs = self.learning.training.epochs;
        let until = self.resources.until.unwrap_or(epochs).min(epochs);
        while self.position.epoch < until && !self.has_ended() {
            self.heed_between()?;
            let done = self.run_epoch(self.position.epoch + 1);
            if done.as_ref().is_err_and(Error::repeats) {
                self.write_curve()?; // it tells how the training stood before it failed
            }
            done?;
        }
        self.write_curve()?;
        let fit = rung::up_to(&self.position.points, until);
        if self.has_ended() && fit.epochs == self.position.epoch {
            return Ok(Stand::Ended(fit));
        }
        self.save_between()?;
        rung::write(self.folder, until, &fit)?;
        Ok(Stand::Paused(fit))
    }

    fn write_curve(&self) -> Result<()> {
        curve::write(&self.folder.join("curve.parquet"), &self.position.points, self.trial.select_by)
    }

    /// Whether all epochs are done, or patience is at its end.
    fn has_ended(&self) -> bool {
        let training = &self.learning.training;
        self.position.epoch >= training.epochs || self.position.is_stale(training.patience)
    }

    fn run_epoch(&mut self, epoch: u32) -> Result<()> {
        let training = &self.learning.training;
        let loss = rayon::scope(|_| self.train_epoch(epoch))?; // one way into the pool, not one for each loop
        self.update_quantiles(epoch)?;
        self.update_sharpness(epoch);
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

    /// Ranks the validation part and keeps the model if it is the best so far. Without a validation part the last model is kept.
    fn evaluate(&mut self, epoch: u32) -> Result<Option<f64>> {
        if let Some(tensor) = self.parameters.not_finite() {
            return Err(Error::NotFinite {
                epoch,
                step: self.dataset.train.len().div_ceil(self.learning.training.batch_size as usize) as u32,
                tensor,
            });
        }
        let scorer = self.scorer();
        let validation = validate(&scorer, self.dataset, self.trial.select_by, self.resources.memory)?;
        let mean = validation.as_ref().map(|validation| validation.mean);
        if mean.is_none() || self.position.best.is_none_or(|(_, best)| mean > Some(best)) {
            scorer.write(&self.folder.join("checkpoint"))?;
            self.position.best = mean.map(|mean| (epoch, mean));
            if let Some(validation) = validation {
                validation.write(&self.folder.join("per_user.parquet"), self.dataset, self.trial.select_by)?;
            }
        }
        Ok(mean)
    }

    fn scorer(&mut self) -> Scorer {
        self.encoder.encode(&self.parameters, Wanted::default());
        let vectors = self.encoder.vectors(&self.parameters).clone();
        Scorer::Factors { users: vectors.users, items: vectors.items, similarity: self.learning.loss.similarity() }
    }

    /// Of all users, for losses that have them.
    pub(super) fn quantiles(&self) -> Option<&[f32]> {
        self.quantiles.as_ref().map(|quantiles| &quantiles.values[..])
    }

    fn update_quantiles(&mut self, epoch: u32) -> Result<()> {
        let (Some(schedule), Some(quantiles)) = (self.learning.loss.quantiles(), &mut self.quantiles) else { return Ok(()) };
        if schedule.is_due(epoch) {
            self.encoder.encode(&self.parameters, Wanted::default());
            let tables = self.encoder.vectors(&self.parameters);
            let vectors = Vectors { users: &tables.users, items: &tables.items, similarity: self.learning.loss.similarity() };
            let (train, candidates, seed) = (&self.dataset.train, self.learning.candidates(), self.learning.seed);
            quantiles::update(quantiles, schedule, vectors, train, candidates, (seed, epoch))
                .map_err(|error| Error::Impossible(error.to_string()))?;
        }
        Ok(())
    }

    /// Sets adap-tau's numbers after so many epochs.
    fn update_sharpness(&mut self, epochs: u32) {
        if let Loss::AdapTau(settings) = &self.learning.loss {
            self.encoder.encode(&self.parameters, Wanted::default());
            let tables = self.encoder.vectors(&self.parameters);
            sharpness::update(&mut self.own, settings, tables, &self.dataset.train, epochs);
        }
    }

    /// Everything that the next step needs, by name; `pools` is what the sampler has of it.
    fn state<'s>(&'s mut self, pools: Vec<(&'static str, &'s mut [f32])>) -> Vec<(String, &'s mut [f32])> {
        let is_within = self.position.is_within();
        let tables = [
            ("users", &mut self.parameters.users.values),
            ("users.first", &mut self.user_moments.first),
            ("users.second", &mut self.user_moments.second),
            ("items", &mut self.parameters.items.values),
            ("items.first", &mut self.item_moments.first),
            ("items.second", &mut self.item_moments.second),
        ];
        let left = [("users.left", &mut self.user_moments.left), ("items.left", &mut self.item_moments.left)];
        let left = left.into_iter().filter(|(_, left)| is_within && !left.is_empty());
        let left = left.map(|(name, left)| (name, bytemuck::cast_slice_mut(left))); // as the numbers of the same bits
        let quantiles = self.quantiles.iter_mut().map(|quantiles| ("quantiles", &mut quantiles.values));
        let named = tables.into_iter().chain(quantiles).map(|(name, values)| (name, &mut values[..])).chain(left).chain(pools);
        let own = self.own.state().into_iter().map(|(name, values)| (name, &mut values[..]));
        named.map(|(name, values)| (name.to_owned(), values)).chain(own).collect()
    }

    /// After a step: says so, and writes the state or stops where that is due.
    pub(super) fn heed<'s>(&mut self, pools: impl FnOnce() -> Vec<(&'static str, &'s mut [f32])>) -> Result<()> {
        self.observer.step(self.position.epoch + 1, self.position.so_far.step);
        match self.watch.due() {
            None => Ok(()),
            Some(due) => self.save(pools()).and_then(|()| self.leave(due)),
        }
    }

    /// The same between two epochs.
    fn heed_between(&mut self) -> Result<()> {
        match self.watch.due() {
            None => Ok(()),
            Some(due) => self.save_between().and_then(|()| self.leave(due)),
        }
    }

    fn leave(&self, due: Due) -> Result<()> {
        let epoch = self.position.epoch + 1;
        match due {
            Due::Interrupt => Err(Error::Interrupted { epoch }),
            Due::TimeLimit(limit) => Err(Error::TimeLimit { limit, epoch }),
            Due::Checkpoint => Ok(()),
        }
    }

    /// Writes the state, unless it is the stored one.
    fn save(&mut self, pools: Vec<(&'static str, &mut [f32])>) -> Result<()> {
        let at = (self.position.epoch, self.position.so_far.step);
        if at != self.stored {
            (self.position.steps, self.position.own_steps) = (self.stepper.steps, self.own.steps());
            self.position.so_far.caught_up = self.stepper.caught_up();
            self.position.seconds = self.watch.seconds();
            let (folder, position) = (self.folder, self.position.clone());
            resume::write(folder, &position, &self.state(pools))?;
            self.stored = at;
        }
        self.watch.wrote();
        Ok(())
    }

    fn save_between(&mut self) -> Result<()> {
        let is_within = self.position.is_within();
        let (mut batches, path) = self.work.take().expect("no epoch runs");
        let saved = self.save(batches.state(is_within));
        self.work = Some((batches, path));
        saved
    }

    fn restore(&mut self) -> Result<()> {
        let Some(stored) = resume::Stored::read(self.folder)? else { return Ok(()) };
        let (mut batches, path) = self.work.take().expect("no epoch runs");
        self.position = stored.position.clone();
        let (is_within, so_far) = (self.position.is_within(), self.position.so_far);
        if is_within && !batches.is_sized() {
            self.refresh(self.position.epoch + 1, &mut batches); // for its size
        }
        stored.fill(self.state(batches.state(is_within)))?;
        batches.restored(is_within);
        let caught_up = if is_within { so_far.caught_up } else { self.position.steps };
        self.stepper = Stepper::resumed(&self.learning.optimizer, self.position.steps, caught_up);
        self.own.restart(&self.learning.optimizer, self.position.own_steps);
        self.stored = (self.position.epoch, so_far.step);
        self.work = Some((batches, path));
        Ok(())
    }
}

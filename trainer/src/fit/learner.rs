//! A training under way: parameters, moments, loss state, and where it stands.

use super::{
    EpochReport, Fit, Observer, Resources,
    batches::Batches,
    curve::{self, Point},
    own::Own,
    path::{Path, Shape},
    quantiles,
    resume::{self, Position},
    sharpness,
    validation::validate,
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
use std::time::Instant;

pub(super) struct Learner<'a> {
    pub(super) trial: &'a Trial,
    pub(super) learning: &'a Learning,
    pub(super) dataset: &'a Dataset,
    folder: &'a Location,
    resources: &'a Resources<'a>,
    pub(super) parameters: Tables,
    pub(super) encoder: Box<dyn Encode>,
    pub(super) quantiles: Option<Quantiles>,
    pub(super) own: Own,
    pub(super) user_moments: Moments,
    pub(super) item_moments: Moments,
    pub(super) stepper: Stepper,
    position: Position,
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
            encoder,
            quantiles: learning.loss.quantiles().map(|_| Quantiles::new(dataset.users())),
            own: Own::new(learning, dataset.users(), dataset.items()),
            user_moments: Moments::new(&parameters.users, shape.few_users),
            item_moments: Moments::new(&parameters.items, shape.few_items),
            stepper: Stepper::new(&learning.optimizer, 0),
            position: Position::default(),
            work: Some((Batches::new(learning, dataset, resources.cache)?, Path::new(shape, &parameters, &learning.loss))),
            parameters,
        };
        learner.update_sharpness(0);
        learner.restore()?;
        Ok(learner)
    }

    /// Trains to the end.
    pub(super) fn run(&mut self, observer: &mut dyn Observer) -> Result<Fit> {
        let training = &self.learning.training;
        let (start, before) = (Instant::now(), self.position.seconds());
        while self.position.epoch < training.epochs && !self.position.is_stale(training.patience) {
            let epoch = self.position.epoch + 1;
            let loss = rayon::scope(|_| self.train_epoch(epoch))?; // one way into the pool, not one for each loop
            self.update_quantiles(epoch)?;
            self.update_sharpness(epoch);
            let evaluates = epoch.is_multiple_of(training.evaluate_every) || epoch == training.epochs;
            let validation = if evaluates { self.evaluate(epoch)? } else { None };
            let seconds = before + start.elapsed().as_secs_f64();
            self.position.epoch = epoch;
            self.position.points.push(Point { epoch, seconds, loss, validation });
            if evaluates {
                self.save()?;
            }
            let pairs = self.dataset.train.len() as u64;
            observer.epoch(&EpochReport { epoch, epochs: training.epochs, loss, seconds, pairs, validation });
        }
        curve::write(&self.folder.join("curve.parquet"), &self.position.points, self.trial.select_by)?;
        let (best_epoch, validation) = match self.position.best {
            Some((epoch, value)) => (epoch, Some(value)),
            None => (self.position.epoch, None),
        };
        Ok(Fit { epochs: self.position.epoch, best_epoch, validation, seconds: self.position.seconds(), device: "cpu".to_owned() })
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

    /// Everything that the next epoch needs, by name.
    fn state(&mut self) -> Vec<(String, &mut [f32])> {
        let tables = [
            ("users", &mut self.parameters.users.values),
            ("users.first", &mut self.user_moments.first),
            ("users.second", &mut self.user_moments.second),
            ("items", &mut self.parameters.items.values),
            ("items.first", &mut self.item_moments.first),
            ("items.second", &mut self.item_moments.second),
        ];
        let quantiles = self.quantiles.iter_mut().map(|quantiles| ("quantiles", &mut quantiles.values));
        let pools = self.work.iter_mut().flat_map(|(batches, _)| batches.state()).map(|(name, values)| (name.to_owned(), values));
        let named = tables.into_iter().chain(quantiles).map(|(name, values)| (name.to_owned(), values));
        named.chain(self.own.state()).map(|(name, values)| (name, &mut values[..])).chain(pools).collect()
    }

    fn save(&mut self) -> Result<()> {
        (self.position.steps, self.position.own_steps) = (self.stepper.steps, self.own.steps());
        let (folder, position) = (self.folder, self.position.clone());
        resume::write(folder, &position, &self.state())
    }

    fn restore(&mut self) -> Result<()> {
        let folder = self.folder;
        if let Some(position) = resume::read(folder, self.state())? {
            self.stepper = Stepper::new(&self.learning.optimizer, position.steps);
            self.own.restart(&self.learning.optimizer, position.own_steps);
            self.position = position;
        }
        Ok(())
    }
}

//! What an optimizer is to the rest.

use super::{Moments, Optimizer, Step, StepDecay};

/// An optimizer: the values that all have, and the constants of its steps. What it says beyond that is said here where it says nothing.
pub trait OptimizerKind {
    /// What `docs/kinds.md` says of it.
    fn facts(&self) -> Facts;

    /// The values that every optimizer has.
    fn shared(&self) -> Shared;

    /// This optimizer with another learning rate.
    fn with_learning_rate(&self, learning_rate: f64) -> Optimizer;

    /// The constants of a step, counted from 1.
    fn step(&self, step: u64) -> Step;

    /// Whether a step moves rows without a gradient too.
    fn moves_all_rows(&self) -> bool;

    /// Adam's values, where a row without a gradient moves by Adam's moments alone: any number of such steps can be made at once.
    fn idles(&self) -> Option<Moments> {
        None
    }

    /// Whether its own values can be used, those beside [`shared`](Self::shared).
    ///
    /// # Errors
    /// A sentence that names the key.
    fn check_own_values(&self) -> Result<(), String> {
        Ok(())
    }

    /// Whether the values can be used.
    ///
    /// # Errors
    /// A sentence that names the key.
    fn check(&self) -> Result<(), String> {
        self.shared().check()?;
        self.check_own_values()
    }

    /// Whether the values can be used by a model that learns towards an objective of its own.
    ///
    /// # Errors
    /// A sentence that names the key.
    fn check_without_loss(&self) -> Result<(), String> {
        self.check()?;
        let Shared { learning_rate_decay, batch_l2, .. } = self.shared();
        let keys = [("learning_rate_decay", learning_rate_decay.is_some()), ("batch_l2", batch_l2.is_some())];
        match keys.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => Err(format!("{key} is given, expected of models alone that learn from a loss and a sampler: leave it out")),
            None => Ok(()),
        }
    }

    /// This optimizer with so many times the learning rate.
    fn scale_learning_rate(&self, times: f64) -> Optimizer {
        self.with_learning_rate(self.shared().learning_rate * times)
    }

    /// This optimizer with the learning rate of an epoch, counted from 1.
    fn in_epoch(&self, epoch: u32) -> Optimizer {
        self.scale_learning_rate(self.shared().learning_rate_decay.map_or(1.0, |decay| decay.in_epoch(epoch)))
    }

    /// Whether an epoch, counted from 1, has another learning rate than the one before.
    fn changes_in(&self, epoch: u32) -> bool {
        self.shared().learning_rate_decay.is_some_and(|decay| decay.changes_in(epoch))
    }

    /// The weight of the squared norms of the batch's rows, where they are in the loss.
    fn batch_l2(&self) -> Option<f64> {
        self.shared().batch_l2.filter(|&weight| weight > 0.0)
    }
}

/// What `docs/kinds.md` says of an optimizer.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Where it is from.
    pub paper: &'static str,
    /// What a step does with rows that have no gradient.
    pub idle_rows: &'static str,
    /// The numbers that a step moves, where B of m users and n items have a gradient.
    pub cost: &'static str,
}

/// The values that every optimizer has.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    /// Length of a step, above 0.
    pub learning_rate: f64,
    /// How the learning rate falls from epoch to epoch.
    pub learning_rate_decay: Option<StepDecay>,
    /// Weight of the squared norm of all parameters.
    pub weight_decay: f64,
    /// Weight of the squared norms of the vectors, before propagation, of a batch's users, positives and negatives.
    pub batch_l2: Option<f64>,
}

impl Shared {
    fn check(self) -> Result<(), String> {
        let Self { learning_rate, learning_rate_decay, weight_decay, batch_l2 } = self;
        if !(learning_rate as f32 > 0.0 && (learning_rate as f32).is_finite()) {
            return Err(format!("learning_rate is {learning_rate}, expected a number above 0 that an `f32` can hold"));
        }
        learning_rate_decay.map_or(Ok(()), StepDecay::check)?;
        check_within("weight_decay", weight_decay, 0.0..f64::INFINITY)?;
        check_within("batch_l2", batch_l2.unwrap_or_default(), 0.0..f64::INFINITY)
    }
}

/// Whether a value is within a range.
pub(super) fn check_within(key: &str, value: f64, range: std::ops::Range<f64>) -> Result<(), String> {
    match range.contains(&value) {
        true => Ok(()),
        false if range.end == f64::INFINITY => Err(format!("{key} is {value}, expected a number of at least {}", range.start)),
        false => Err(format!("{key} is {value}, expected at least {} and below {}", range.start, range.end)),
    }
}

/// Whether what is added to a root can be divided by.
pub(super) fn check_epsilon(epsilon: f64) -> Result<(), String> {
    match epsilon as f32 > 0.0 && (epsilon as f32).is_finite() {
        true => Ok(()),
        false => Err(format!(
            "epsilon is {epsilon}, expected a number above 0 that an `f32` can hold: a row without gradient would divide by it"
        )),
    }
}

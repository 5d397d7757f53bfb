//! How Adam's moments decay, and what corrects them for their start at zero.

/// The values of Adam that its steps without gradient depend on.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    /// Length of a step, above 0.
    pub learning_rate: f64,
    /// Decay of the first moment, from 0 to below 1.
    pub beta1: f64,
    /// Decay of the second moment, from 0 to below 1.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub epsilon: f64,
}

impl Moments {
    /// The bias-corrected learning rate of a step, counted from 1.
    pub(super) fn rate(&self, step: u64) -> f64 {
        self.learning_rate / (1.0 - self.beta1.powf(step as f64))
    }

    /// What the root of the second moment is multiplied by in a step, counted from 1.
    pub(super) fn root_scale(&self, step: u64) -> f64 {
        1.0 / (1.0 - self.beta2.powf(step as f64)).sqrt()
    }
}

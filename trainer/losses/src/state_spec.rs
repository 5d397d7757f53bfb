//! The numbers that a loss keeps of its own: for each user, for each item, or for the whole training.
//!
//! They are state: checkpointed with the parameters, and the same after any resume.

/// A list of numbers under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSpec {
    /// The list's name in the state of a training.
    pub name: &'static str,
    /// What has a number of the list.
    pub per: Per,
    /// What the numbers are at first.
    pub initial: InitialValue,
    /// How the numbers change.
    pub update: Update,
}

/// First values of a [`StateSpec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitialValue {
    /// All the same.
    Same(f32),
    /// Uniform between minus and plus this, from the trial's seed.
    Uniform(f32),
}

/// What has a number of a [`StateSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// Each user; a loss sees those of the rows' users.
    Users,
    /// Each item; a loss sees those of the rows' positives.
    Items,
    /// The training: so many numbers.
    Whole(usize),
}

/// How the numbers of a [`StateSpec`] change.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// The numbers are learned by the loss's gradient, under the trial's optimizer.
    Learned(Learned),
    /// The numbers are set after each step to what [`remembered`](super::LossKind::remembered) gives; the mean where a user has several rows.
    Remembered,
    /// What [`remembered`](super::LossKind::remembered) gives is added up through an epoch; [`set_columns`](super::LossKind::set_columns) starts the sums anew.
    Summed,
    /// The numbers are set by [`set_columns`](super::LossKind::set_columns), between epochs.
    Set,
}

impl Update {
    /// Whether [`remembered`](super::LossKind::remembered) gives a list for it.
    pub fn remembers(&self) -> bool {
        matches!(self, Self::Remembered | Self::Summed)
    }
}

/// How a learned number moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    /// The learning rate over that of the model.
    pub rate: f64,
    /// Whether the number moves up the gradient and not down.
    pub ascends: bool,
    /// The least and the largest value; every step ends between them.
    pub bounds: (f32, f32),
}

impl Default for Learned {
    fn default() -> Self {
        Self { rate: 1.0, ascends: false, bounds: (f32::NEG_INFINITY, f32::INFINITY) }
    }
}

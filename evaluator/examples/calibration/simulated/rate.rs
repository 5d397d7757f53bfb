//! How often something happened.

/// The number of times that something happened, of how many.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    hits: usize,
    of: usize,
}

impl Rate {
    /// Counts what happened.
    pub(crate) fn of(outcomes: impl IntoIterator<Item = bool>) -> Self {
        outcomes.into_iter().fold(Self::default(), |rate, hit| Self { hits: rate.hits + usize::from(hit), of: rate.of + 1 })
    }

    /// The share.
    pub(crate) fn value(self) -> f64 {
        self.hits as f64 / self.of as f64
    }

    /// The standard error that a share has after as many repeats, where it is truly `rate`.
    pub(crate) fn standard_error_at(self, rate: f64) -> f64 {
        (rate * (1.0 - rate) / self.of as f64).sqrt()
    }
}

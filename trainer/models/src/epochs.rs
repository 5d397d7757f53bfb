//! Models that learn in epochs towards an objective of their own.

use crate::{NamedMatrices, Result};
use evaluator::Scorer;

/// A training of an [`Iterative`](crate::kind::Iterative) model under way.
pub trait Epochs: Send {
    /// Trains one epoch, counted from 1; its mean objective. Random draws are keyed by seed and epoch, so that the same state gives the same
    /// next state.
    ///
    /// # Errors
    /// [`Error::NotFinite`](crate::Error::NotFinite) when it diverges, [`Error::Impossible`](crate::Error::Impossible) for systems that have
    /// no solution.
    fn epoch(&mut self, epoch: u32) -> Result<f64>;

    /// Everything that the next epoch needs, by name; a training that was stopped fills it again.
    fn state(&mut self) -> Vec<(String, &mut [f32])>;

    /// The model as it is ranked.
    ///
    /// # Errors
    /// [`Error::Impossible`](crate::Error::Impossible) where there is none.
    fn scorer(&self) -> Result<Scorer>;

    /// The model as it is ranked, as [`scorer`](Self::scorer) makes it, but of the training's own vectors where these are what is ranked: no second model
    /// is in memory. Nothing but [`parameters`](Self::parameters) may be asked of the training before [`take_back`](Self::take_back).
    ///
    /// # Errors
    /// Those of [`scorer`](Self::scorer).
    fn lend_scorer(&mut self) -> Result<Scorer> {
        self.scorer()
    }

    /// Takes back what [`lend_scorer`](Self::lend_scorer) gave.
    fn take_back(&mut self, _lent: Scorer) {}

    /// The parameters by name, for a model that needs them to fold users in ([`FoldIn::keeps_parameters`](crate::FoldIn::keeps_parameters)).
    fn parameters(&self) -> NamedMatrices<'_> {
        Vec::new()
    }
}

//! What steps move, and what they need to know.

use crate::fit::{loss_state::LossState, step_id::StepId};
use crate::{Learning, Result, collective::Collective};
use dataset::Dataset;
use evaluator::Matrix;
use losses::Quantiles;
use models::{encoder::Encoder, pairs::PairNetwork, parameters::Parameters};
use optimizers::Stepper;

/// A model under training: parameters, moments, what its loss keeps, and what it learns from.
pub(crate) struct TrainState<'a> {
    pub(crate) learning: &'a Learning,
    /// What training sees.
    pub(crate) dataset: &'a Dataset,
    pub(crate) collective: Collective,
    pub(crate) parameters: Parameters,
    pub(crate) encoder: Box<dyn Encoder>,
    /// What scores pairs, where that is not the loss's similarity.
    pub(crate) network: Option<Box<dyn PairNetwork>>,
    pub(crate) quantiles: Option<Quantiles>,
    pub(crate) loss_state: LossState,
    pub(crate) stepper: Stepper,
}

impl TrainState<'_> {
    /// The vectors of all users and items, as they are ranked.
    pub(crate) fn vectors(&mut self) -> Result<[&Matrix; 2]> {
        self.encoder.encode(&self.parameters)?;
        Ok(self.encoder.vectors(&self.parameters))
    }

    /// Everything that the next step needs, by name; `pools` is what the sampler has of it.
    pub(crate) fn all<'s>(&'s mut self, is_within: bool, pools: Vec<(String, &'s mut [f32])>) -> Vec<(String, &'s mut [f32])> {
        let parameters = self.parameters.state(is_within);
        let quantiles = self.quantiles.iter_mut().map(|quantiles| ("quantiles".to_owned(), &mut quantiles.values[..]));
        parameters.into_iter().chain(quantiles).chain(pools).chain(self.loss_state.state()).collect()
    }

    /// Quantiles of all users, for losses that have them.
    pub(crate) fn quantiles(&self) -> Option<&[f32]> {
        self.quantiles.as_ref().map(|quantiles| &quantiles.values[..])
    }

    /// Brings all rows of the tables up to date.
    pub(crate) fn catch_up(&mut self) {
        self.stepper.catch_up(self.parameters.iter_mut());
    }

    /// Stops a training whose loss is not a number.
    pub(crate) fn check_loss(&self, at: StepId, total: f64) -> Result<()> {
        if total.is_finite() {
            return Ok(());
        }
        let tensor = self.parameters.not_finite().or_else(|| self.loss_state.not_finite()).unwrap_or_else(|| "the loss".to_owned());
        Err(models::Error::NotFinite { epoch: at.epoch, step: at.step, tensor }.into())
    }
}

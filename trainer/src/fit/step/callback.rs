//! What follows a step.

use crate::{
    Result,
    fit::{checkpoint::resume::SoFar, step::batches::Batches, train_state::TrainState},
};

/// Brings what a device has to the host: parameters, and the losses of the steps.
pub(crate) type SyncToHost<'a> = &'a mut dyn FnMut(&mut TrainState<'_>, &mut SoFar) -> Result<()>;

/// Is told of the steps of an epoch, and saves or stops a training between two of them.
pub(crate) trait StepCallback: Send {
    /// What is done of the epoch.
    fn so_far(&mut self) -> &mut SoFar;

    /// A step is made, of several that a device makes together.
    fn on_step(&mut self);

    /// A step is made: the state is written, after a `sync`, or the training left where that is due. `batches` have a part in the state where the sampler's pool looks at the
    /// model.
    ///
    /// # Errors
    /// Those of an interrupt, of a time limit, and of the store.
    fn on_step_end(&mut self, state: &mut TrainState<'_>, batches: Option<&mut Batches<'_>>, sync: SyncToHost<'_>) -> Result<()>;
}

/// Nothing to bring: what the state is made of is on the host.
pub(crate) fn on_host(_: &mut TrainState<'_>, _: &mut SoFar) -> Result<()> {
    Ok(())
}

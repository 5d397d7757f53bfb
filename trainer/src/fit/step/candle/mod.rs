//! Steps in candle's operations alone, on whichever device: of any model, loss, sampler and optimizer.
//!
//! ```text
//! parameters on the device --> vectors, layers or pairs of rows        the model's formula (`models::Forward`)
//! rows of the batch, block by block --> scores, on the host           products and gathers (`scoring`)
//! masks, the sampler's rule, what the loss asks for beside scores      on the host, by the code of the other paths
//! the loss's formula --> derivatives by the scores                     on the device
//! rows, block by block --> gradients of what was scored                candle's backward, with the derivatives as weights
//! gradients of all ranks                                               from device to device (`all_reduce`), or on the host
//! gradients --> parameters --> the optimizer's step                    candle's backward; dense, or of the rows that were touched
//! ```
//! Draws are those of the other ways, id by id. Candidates, ranks, quantiles, an adversary and the numbers of a loss are the host's: they are ids, counts, or small
//! beside a model. A block is recomputed on the way back, so that no more than one is ever held. On a CPU these steps are the reference of the faster
//! ways, on a GPU they train what has no kernels.

#[cfg(any(test, feature = "cuda"))]
mod all_reduce;
pub(crate) mod blocks;
mod epoch;
mod gradients;
mod largest_tensor;
mod parameters;
pub(crate) mod scoring;
mod touched;

#[cfg(any(test, feature = "cuda"))]
use crate::device::drawn::DrawnScores;
#[cfg(any(test, feature = "nccl"))]
pub(crate) use all_reduce::all_reduce;
#[cfg(any(test, feature = "nccl"))]
pub(crate) use touched::Reach;

#[cfg(any(test, feature = "cuda"))]
use crate::fit::step::on_device;
use crate::fit::{Resources, step::auxiliary_inputs::AuxiliaryInputs};
use crate::{Error, Learning, Result, Trial, collective::Collective, device::DrawnScoring};
use candle_core::Device;
use dataset::Dataset;
use models::{Forward, parameters::Parameters};
use parameters::OnDevice;

/// A training's parameters on a device, and what makes steps of them.
pub(crate) struct CandleSteps {
    device: Device,
    /// The same device, where ranks give each other what lies on it; `None` on a CPU.
    #[cfg(any(test, feature = "cuda"))]
    gpu: Option<gpu::Gpu>,
    model: Box<dyn Forward>,
    /// The parameters, once they have been taken from the host.
    parameters: Option<OnDevice>,
    /// Whether those on the host are the same.
    is_on_host: bool,
    auxiliary: AuxiliaryInputs,
    /// The device's own code for scores of drawn items, where it has some.
    drawn: Option<Box<dyn DrawnScoring>>,
}

impl CandleSteps {
    /// Prepares the steps of a trial, and the ranks, who meet on their devices: a process's ranks have GPUs one after the other.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a trial with a tensor that a GPU would not come to the end of; those of the device.
    pub(crate) fn new(
        trial: &Trial,
        learning: &Learning,
        dataset: &Dataset,
        resources: &Resources,
        collective: Collective,
    ) -> Result<(Self, Collective)> {
        let model = trial.backbone.learned().ok_or_else(|| Error::impossible("the backbone learns by no loss"))?;
        resources.check_device()?;
        if resources.device != crate::fit::Device::Cpu {
            largest_tensor::check(trial, learning, [dataset.users(), dataset.items(), dataset.train.len()], collective.ranks())?;
        }
        #[cfg(any(test, feature = "cuda"))]
        let (gpu, collective) = match on_device::gpu(resources.device, &collective)? {
            Some(gpu) => {
                let collective = collective.on(&gpu, resources.ranks.limit)?;
                (Some(gpu), collective)
            }
            None => (None, collective),
        };
        #[cfg(any(test, feature = "cuda"))]
        let drawn = gpu.clone().map(|gpu| Box::new(DrawnScores::new(gpu)) as Box<dyn DrawnScoring>);
        #[cfg(not(any(test, feature = "cuda")))]
        let drawn = None;
        let steps = Self {
            drawn,
            #[cfg(any(test, feature = "cuda"))]
            device: gpu.as_ref().map_or(Device::Cpu, gpu::Gpu::candle),
            #[cfg(not(any(test, feature = "cuda")))]
            device: Device::Cpu,
            #[cfg(any(test, feature = "cuda"))]
            gpu,
            model: model.formula(dataset, learning.seed),
            parameters: None,
            is_on_host: true,
            auxiliary: AuxiliaryInputs::new(&learning.loss),
        };
        Ok((steps, collective))
    }

    /// Takes parameters and moments from the host, if it has not yet.
    fn load(&mut self, parameters: &Parameters) -> Result<()> {
        if self.parameters.is_none() {
            self.parameters = Some(OnDevice::load(parameters, &self.device)?);
        }
        Ok(())
    }

    /// Copies parameters and moments to the host, where they are newer.
    pub(crate) fn store(&mut self, parameters: &mut Parameters) -> Result<()> {
        if let Some(on_device) = self.parameters.as_ref().filter(|_| !self.is_on_host) {
            on_device.store(parameters)?;
        }
        self.is_on_host = true;
        Ok(())
    }
}

//! An epoch on a GPU, and what is copied to the host from it.

use crate::fit::{
    Device,
    checkpoint::resume::SoFar,
    step::{batches::Batches, callback::StepCallback},
    train_state::TrainState,
};
use crate::{
    Result,
    collective::Collective,
    device::{DeviceTraining, Step},
};
use gpu::Gpu;

/// The device of a rank, where it is not the CPU: a process's ranks have devices one after the other.
pub(crate) fn gpu(device: Device, collective: &Collective) -> Result<Option<Gpu>> {
    let local = collective.local_rank() as usize;
    match device {
        Device::Cpu => Ok(None),
        #[cfg(feature = "cuda")]
        Device::Cuda { ordinal } => Ok(Some(Gpu::cuda(ordinal + local)?)),
        #[cfg(not(feature = "cuda"))]
        Device::Cuda { ordinal } => Err(crate::Error::NoCuda { ordinal: ordinal + local }),
        #[cfg(test)]
        Device::Emulated => Ok(Some(Gpu::emulated())),
    }
}

impl TrainState<'_> {
    /// Makes the steps of an epoch that are not made yet.
    pub(crate) fn device_epoch(
        &mut self,
        epoch: u32,
        batches: &Batches,
        device: &mut DeviceTraining,
        callback: &mut dyn StepCallback,
    ) -> Result<()> {
        if !device.takes(self.stepper.steps - self.stepper.caught_up()) {
            self.catch_up(); // the state is of a CPU, which brings rows up to date at the end of an epoch alone
        }
        device.begin(&self.parameters, self.quantiles(), &self.stepper)?;
        device.set_order(batches.whole_order())?;
        let of_number = |step: u32| {
            let places = batches.places(step);
            Step { epoch, step, first: places.start, rows: places.len() }
        };
        for step in callback.so_far().step + 1..=batches.steps() {
            self.collective.at(epoch, step);
            let next = (step < batches.steps()).then(|| of_number(step + 1));
            device.step(of_number(step), next, &self.stepper, &self.collective)?;
            self.stepper.finish_step();
            if device.finish_step(&self.stepper)? {
                device.catch_up(&mut self.stepper)?;
            }
            callback.so_far().step = step;
            if self.collective.ranks() > 1 && !step.is_multiple_of(device.steps_together()) && step < batches.steps() {
                callback.on_step();
                continue;
            }
            if self.collective.ranks() > 1 {
                device.finish(&self.collective)?;
            }
            callback.on_step_end(self, None, &mut |state, so_far| state.fetch(epoch, device, so_far))?;
        }
        device.catch_up(&mut self.stepper)?;
        self.add_losses(epoch, device, callback.so_far())
    }

    /// Copies tables, moments and losses to the host.
    fn fetch(&mut self, epoch: u32, device: &mut DeviceTraining, so_far: &mut SoFar) -> Result<()> {
        device.finish(&self.collective)?;
        device.store(&mut self.parameters)?;
        self.add_losses(epoch, device, so_far)
    }

    /// Adds up the losses of the steps since it was last done.
    fn add_losses(&mut self, epoch: u32, device: &mut DeviceTraining, so_far: &mut SoFar) -> Result<()> {
        device.finish(&self.collective)?;
        let (total, broken) = device.take_total()?;
        let broken = self.collective.join("steps without a loss", broken.into_iter().collect(), 1)?.into_iter().min(); // of any rank
        so_far.total += self.collective.total("the losses", total)?;
        let Some(step) = broken else { return Ok(()) };
        device.store(&mut self.parameters)?;
        let tensor = self.parameters.not_finite().unwrap_or_else(|| "the loss".to_owned());
        Err(models::Error::NotFinite { epoch, step, tensor }.into())
    }
}

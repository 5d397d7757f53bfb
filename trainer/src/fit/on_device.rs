//! An epoch on a GPU, and what is copied to the host from it.

use crate::fit::{
    Device,
    learner::Learner,
    step::{batches::Batches, path::StepPath},
};
use crate::{
    Result,
    collective::Collective,
    device::{DeviceTraining, Setting, Step},
};
use gpu::Gpu;
use optimizers::Stepper;

/// Steps after which several ranks wait for their devices and ask what is due. A device that runs behind takes few launches more, and where a rank is
/// lost none of them returns: the host must never get there.
const TOGETHER: u32 = 8;

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

/// The way of a trial on a device.
pub(crate) fn path(gpu: Gpu, setting: &Setting) -> Result<StepPath> {
    let stepper = Stepper::new(&setting.learning.optimizer, 0);
    Ok(StepPath::Device(Box::new(DeviceTraining::new(gpu, setting, &stepper)?)))
}

impl Learner<'_> {
    /// Makes the steps of an epoch that are not made yet.
    pub(crate) fn device_epoch(&mut self, epoch: u32, batches: &Batches, device: &mut DeviceTraining) -> Result<()> {
        if !device.takes(self.stepper.steps - self.stepper.caught_up()) {
            self.catch_up(); // the state is of a CPU, which brings rows up to date at the end of an epoch alone
        }
        device.begin(&self.parameters, self.quantiles(), &self.stepper)?;
        device.set_order(batches.whole_order())?;
        for step in self.position.so_far.step + 1..=batches.steps() {
            self.collective.at(epoch, step);
            let places = batches.places(step);
            device.step(Step { epoch, step, first: places.start, rows: places.len() }, &self.stepper, &self.collective)?;
            self.stepper.finish_step();
            if device.finish_step(&self.stepper)? {
                device.catch_up(&mut self.stepper)?;
            }
            self.position.so_far.step = step;
            if self.collective.ranks() > 1 && !step.is_multiple_of(TOGETHER) && step < batches.steps() {
                self.observe_step();
                continue;
            }
            if self.collective.ranks() > 1 {
                device.finish(&self.collective)?;
            }
            self.after_step_saving(|learner| {
                learner.fetch(epoch, device)?;
                learner.save(Vec::new())
            })?;
        }
        device.catch_up(&mut self.stepper)?;
        self.add_losses(epoch, device)
    }

    /// Copies tables, moments and losses to the host.
    fn fetch(&mut self, epoch: u32, device: &mut DeviceTraining) -> Result<()> {
        device.finish(&self.collective)?;
        device.store(&mut self.parameters)?;
        self.add_losses(epoch, device)
    }

    /// Adds up the losses of the steps since it was last done.
    fn add_losses(&mut self, epoch: u32, device: &mut DeviceTraining) -> Result<()> {
        device.finish(&self.collective)?;
        let (total, broken) = device.take_total()?;
        let broken = self.collective.join("steps without a loss", broken.into_iter().collect(), 1)?.into_iter().min(); // of any rank
        self.position.so_far.total += self.collective.total("the losses", total)?;
        let Some(step) = broken else { return Ok(()) };
        device.store(&mut self.parameters)?;
        let tensor = self.parameters.not_finite().unwrap_or_else(|| "the loss".to_owned());
        Err(models::Error::NotFinite { epoch, step, tensor }.into())
    }
}

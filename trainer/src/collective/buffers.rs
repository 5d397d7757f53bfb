//! The same on the memory of devices.

use super::Collective;
use crate::Result;
use gpu::{Buffer, Gpu};

impl Collective {
    /// Adds up the values of all ranks' devices, in the order of the ranks.
    pub(crate) fn sum_buffer(&self, what: &'static str, gpu: &Gpu, values: &mut Buffer<f32>) -> Result<()> {
        match self {
            Self::Single => Ok(()),
            Self::Threads(_) => {
                let mut home = gpu.read(values)?;
                self.sum(what, &mut home)?;
                Ok(gpu.write(values, &home)?)
            }
        }
    }
}

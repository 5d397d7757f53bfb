//! The same on the memory of devices.

use super::Collective;
use crate::Result;
use gpu::{Buffer, Element, Gpu};

impl Collective {
    /// Adds up the values of all ranks' devices, in the order of the ranks.
    pub(crate) fn sum_buffer(&self, gpu: &Gpu, what: &'static str, values: &mut Buffer<f32>) -> Result<()> {
        match self {
            Self::Single => Ok(()),
            Self::Threads(_) => {
                let mut home = gpu.read(values)?;
                self.sum(what, &mut home)?;
                Ok(gpu.write(values, &home)?)
            }
        }
    }

    /// Buffers of one length of all ranks, one after the other.
    pub(crate) fn gather_buffers<T: Element>(&self, gpu: &Gpu, what: &'static str, own: &Buffer<T>, all: &mut Buffer<T>) -> Result<()> {
        Ok(gpu.write(all, &self.join(what, gpu.read(own)?)?)?)
    }
}

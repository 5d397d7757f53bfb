//! What ranks tell each other of what lies on their devices: by NCCL, and through the host where there is none.
//!
//! A call of NCCL's returns before it is done, and goes on beside kernels that are asked for after it, until they [`join`](Collective::join_buffers) it.
//! Before the host reads what followed from one it must [`finish`](Collective::finish), which gives up when another rank is lost; reading
//! would wait for ever.

use super::Collective;
use crate::Result;
use gpu::{Buffer, Element, Gpu};
use std::time::Duration;

/// What is under way between the ranks' devices; what it reads and writes may not be touched before it is joined.
#[derive(Debug)]
#[must_use = "it is to be joined"]
pub(crate) enum Pending {
    /// It is done.
    Done,
    /// NCCL is at it.
    #[cfg(feature = "nccl")]
    Nccl(gpu::nccl::Pending),
}

impl Collective {
    /// The same ranks, each now on a device of its own.
    ///
    /// # Errors
    /// [`Error::Collective`](crate::Error::Collective) when NCCL finds no way between them.
    #[cfg_attr(not(feature = "nccl"), expect(unused_variables, reason = "the host needs no other way"))]
    pub(crate) fn on(self, gpu: &Gpu, limit: Duration) -> Result<Self> {
        match gpu {
            #[cfg(feature = "nccl")]
            Gpu::Cuda(_) if self.ranks() > 1 => super::nccl::Member::new(self, gpu, limit).map(Self::Nccl),
            _ => Ok(self),
        }
    }

    /// Adds up the numbers of all ranks, in an order that follows from the ranks alone.
    pub(crate) fn sum_buffer(&self, what: &'static str, gpu: &Gpu, buffer: &mut Buffer<f32>) -> Result<Pending> {
        match self {
            Self::Single => {}
            #[cfg(feature = "nccl")]
            Self::Nccl(member) => return member.sum(what, buffer).map(Pending::Nccl),
            _ => {
                let mut values = gpu.read(buffer)?;
                self.sum(what, &mut values)?;
                gpu.write(buffer, &values)?;
            }
        }
        Ok(Pending::Done)
    }

    /// Puts the numbers of all ranks, as many of each, one after the other in the order of the ranks.
    ///
    /// # Panics
    /// When there is no such room.
    pub(crate) fn gather_buffers<T: Element>(
        &self,
        what: &'static str,
        gpu: &Gpu,
        own: &Buffer<T>,
        all: &mut Buffer<T>,
    ) -> Result<Pending> {
        assert_eq!(own.len() * self.ranks() as usize, all.len(), "there is room for the numbers of all ranks");
        match self {
            #[cfg(feature = "nccl")]
            Self::Nccl(member) => return member.gather(what, own, all).map(Pending::Nccl),
            Self::Single => gpu.copy(own, all)?,
            _ => {
                let values = self.gather_equal(what, &gpu.read(own)?)?.concat();
                gpu.write(all, &values)?;
            }
        }
        Ok(Pending::Done)
    }

    /// Has what is asked of this rank's device from now on wait for it.
    #[cfg_attr(not(feature = "nccl"), expect(unused_variables, reason = "NCCL alone is not done at once"))]
    pub(crate) fn join_buffers(&self, what: &'static str, pending: &Pending) -> Result<()> {
        match (self, pending) {
            #[cfg(feature = "nccl")]
            (Self::Nccl(member), Pending::Nccl(pending)) => member.join(what, pending),
            _ => Ok(()),
        }
    }

    /// Waits until this rank's device has done everything that was asked of it.
    pub(crate) fn finish(&self, what: &'static str, gpu: &Gpu) -> Result<()> {
        match self {
            #[cfg(feature = "nccl")]
            Self::Nccl(member) => member.finish(what),
            _ => gpu.wait().map_err(|error| self.error(what, error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::*, *};

    const LONG: Duration = Duration::from_secs(60);

    /// What a rank's buffer holds: three numbers that follow from the rank.
    fn own(gpu: &Gpu, collective: &Collective) -> Buffer<f32> {
        gpu.upload(&[1.0, 10.0, 100.0].map(|value: f32| value * (collective.rank() + 1) as f32)).unwrap()
    }

    #[test]
    fn buffers_meet_as_slices_do() {
        let work = |collective: Collective| {
            let gpu = Gpu::emulated();
            let collective = collective.on(&gpu, LONG)?;
            let mut sum = own(&gpu, &collective);
            let mut all = gpu.zeros::<f32>(9).unwrap();
            for pending in [
                collective.sum_buffer("a sum", &gpu, &mut sum)?,
                collective.gather_buffers("all", &gpu, &own(&gpu, &collective), &mut all)?,
            ] {
                collective.join_buffers("both", &pending)?;
            }
            collective.finish("the end", &gpu)?;
            let found = [sum, all].map(|buffer| gpu.read(&buffer).unwrap()).concat();
            let all = collective.gather_equal("results", &found)?;
            assert!(all.iter().all(|of_rank| *of_rank == found), "every rank has the same");
            Ok(found)
        };
        let expected = [6.0, 60.0, 600.0, 1.0, 10.0, 100.0, 2.0, 20.0, 200.0, 3.0, 30.0, 300.0];
        assert_eq!(run(threads(3, LONG), work, work).unwrap(), expected);
    }

    #[test]
    fn one_rank_has_what_it_has() {
        let (gpu, collective) = (Gpu::emulated(), Collective::Single);
        let mut sum = own(&gpu, &collective);
        let mut all = gpu.zeros::<f32>(3).unwrap();
        let _done = collective.sum_buffer("a sum", &gpu, &mut sum).unwrap();
        let _done = collective.gather_buffers("all", &gpu, &sum, &mut all).unwrap();
        assert_eq!(gpu.read(&all).unwrap(), [1.0, 10.0, 100.0]);
    }
}

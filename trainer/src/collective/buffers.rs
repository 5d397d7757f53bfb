//! What ranks tell each other of what lies on their devices: by NCCL, and through the host where there is none.
//!
//! A call of NCCL's returns before it is done, and goes on beside kernels that are asked for after it, until they [`join`](Collective::join_buffers) it.
//! It takes the buffers with it, and gives them back there.
//! Before the host reads what followed from one it must [`finish`](Collective::finish), which gives up when another rank is lost; reading
//! would wait for ever.

use super::Collective;
use crate::Result;
use gpu::{Buffer, CollectiveCall, Element, Gpu};
use std::time::Duration;

/// What is under way between the ranks' devices, with the buffers that it reads and writes.
#[derive(Debug)]
#[must_use = "its buffers are there again when it is joined"]
pub(crate) enum Pending<B> {
    /// Nothing is under way any more.
    Done(B),
    /// NCCL is at it.
    #[cfg(feature = "nccl")]
    Nccl(gpu::nccl::Pending<B>),
}

/// The place of buffers that are there, or under way between the ranks.
#[derive(Debug)]
pub(crate) struct Lent<B>(Option<B>);

impl<B> Lent<B> {
    /// Makes the place with its buffers.
    pub(crate) fn new(buffers: B) -> Self {
        Self(Some(buffers))
    }

    /// The buffers.
    ///
    /// # Panics
    /// While they are under way.
    pub(crate) fn get(&self) -> &B {
        self.0.as_ref().expect("the buffers have been joined")
    }

    /// The buffers, to be written.
    ///
    /// # Panics
    /// While they are under way.
    pub(crate) fn get_mut(&mut self) -> &mut B {
        self.0.as_mut().expect("the buffers have been joined")
    }

    /// Takes the buffers out.
    ///
    /// # Panics
    /// While they are under way.
    pub(crate) fn lend(&mut self) -> B {
        self.0.take().expect("the buffers have been joined")
    }

    /// Puts the buffers back, and shows them.
    pub(crate) fn put(&mut self, buffers: B) -> &mut B {
        self.0.insert(buffers)
    }
}

impl Collective {
    /// These ranks, each now on a device of its own.
    ///
    /// # Errors
    /// [`Error::Collective`](crate::Error::Collective) when NCCL finds no way between them.
    #[cfg_attr(not(feature = "nccl"), expect(unused_variables, reason = "the host needs no other way"))]
    pub(crate) fn on(self, gpu: &Gpu, limit: Duration) -> Result<Self> {
        match gpu {
            #[cfg(feature = "nccl")]
            Gpu::Cuda(_) if self.ranks() > 1 => self.by_nccl(gpu, limit),
            _ => Ok(self),
        }
    }

    /// These ranks, which may be one alone, joined by NCCL.
    ///
    /// # Errors
    /// [`Error::Collective`](crate::Error::Collective) when NCCL finds no way between them.
    #[cfg(feature = "nccl")]
    pub(crate) fn by_nccl(self, gpu: &Gpu, limit: Duration) -> Result<Self> {
        super::nccl::NcclMember::new(self, gpu, limit).map(Self::Nccl)
    }

    /// Has all ranks make these calls, in an order of addition that follows from the ranks alone; NCCL makes all of them at once. Every rank asks for the same ones.
    ///
    /// # Panics
    /// When there is no room for what all ranks bring.
    pub(crate) fn exchange_buffers<B: AsMut<[CollectiveCall]>>(&self, what: &str, gpu: &Gpu, mut calls: B) -> Result<Pending<B>> {
        #[cfg(feature = "nccl")]
        if let Self::Nccl(member) = self {
            return member.exchange(what, calls).map(Pending::Nccl);
        }
        for call in calls.as_mut() {
            call.check_room(self.ranks() as usize);
            match call {
                CollectiveCall::AllReduce(buffer) if self.ranks() > 1 => {
                    let mut values = gpu.read(buffer)?;
                    self.sum(what, &mut values)?;
                    gpu.write(buffer, &values)?;
                }
                CollectiveCall::AllReduce(_) => {}
                CollectiveCall::AllGatherIds([own, all]) => self.gather_buffer(what, gpu, own, all)?,
                CollectiveCall::AllGather([own, all]) => self.gather_buffer(what, gpu, own, all)?,
            }
        }
        Ok(Pending::Done(calls))
    }

    /// Puts the numbers of all ranks one after the other, by way of the host.
    fn gather_buffer<T: Element>(&self, what: &str, gpu: &Gpu, own: &Buffer<T>, all: &mut Buffer<T>) -> Result<()> {
        match self.ranks() {
            1 => Ok(gpu.copy(own, all)?),
            _ => Ok(gpu.write(all, &self.gather_equal(what, &gpu.read(own)?)?.concat())?),
        }
    }

    /// Has what is asked of this rank's device from now on wait for what is under way, and gives the buffers back.
    #[cfg_attr(not(feature = "nccl"), expect(unused_variables, reason = "NCCL alone is not done at once"))]
    pub(crate) fn join_buffers<B>(&self, what: &str, pending: Pending<B>) -> Result<B> {
        match pending {
            Pending::Done(buffers) => Ok(buffers),
            #[cfg(feature = "nccl")]
            Pending::Nccl(pending) => pending.join().map_err(|error| self.error(what, error.to_string())),
        }
    }

    /// Waits until this rank's device has done everything that was asked of it.
    pub(crate) fn finish(&self, what: &str, gpu: &Gpu) -> Result<()> {
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
            let calls = [
                CollectiveCall::AllReduce(own(&gpu, &collective)),
                CollectiveCall::AllGather([own(&gpu, &collective), gpu.zeros(9).unwrap()]),
            ];
            let under_way = collective.exchange_buffers("numbers", &gpu, calls)?;
            let [CollectiveCall::AllReduce(sum), CollectiveCall::AllGather([_, all])] = collective.join_buffers("numbers", under_way)?
            else {
                unreachable!()
            };
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
        let ids = [gpu.upload(&[7u32, 3]).unwrap(), gpu.zeros(2).unwrap()];
        let calls = vec![CollectiveCall::AllReduce(own(&gpu, &collective)), CollectiveCall::AllGatherIds(ids)];
        let under_way = collective.exchange_buffers("numbers", &gpu, calls).unwrap();
        let exchanged = collective.join_buffers("numbers", under_way).unwrap();
        let [CollectiveCall::AllReduce(all), CollectiveCall::AllGatherIds([_, ids])] = &exchanged[..] else { unreachable!() };
        assert_eq!(gpu.read(ids).unwrap(), [7, 3]);
        assert_eq!(gpu.read(all).unwrap(), [1.0, 10.0, 100.0]);
    }

    #[test]
    #[should_panic(expected = "the buffers have been joined")]
    fn what_is_under_way_is_not_there() {
        let gpu = Gpu::emulated();
        let mut lent = Lent::new(own(&gpu, &Collective::Single));
        let pending = Collective::Single.exchange_buffers("a sum", &gpu, [CollectiveCall::AllReduce(lent.lend())]).unwrap();
        let [CollectiveCall::AllReduce(back)] = Collective::Single.join_buffers("a sum", pending).unwrap() else { unreachable!() };
        assert_eq!(lent.put(back).len(), 3);
        let _under_way = lent.lend();
        let _nothing = lent.get();
    }
}

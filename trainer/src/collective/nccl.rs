//! Ranks on NVIDIA's GPUs: NCCL takes what lies on the devices from one to the other; what the host has goes the host's way.

use super::Collective;
use crate::Result;
use gpu::{
    CollectiveCall, Gpu,
    nccl::{Id, Party, Patience, Pending},
};
use std::time::Duration;

/// One rank's seat.
pub(crate) struct NcclMember {
    /// Before the host's, which others look at to see that this rank has left: the communicator ends first.
    party: Party,
    host: Box<Collective>,
    limit: Duration,
}

impl NcclMember {
    /// Joins the ranks of the host's collective by a communicator as well.
    pub(super) fn new(host: Collective, gpu: &Gpu, limit: Duration) -> Result<Self> {
        const WHAT: &str = "the communicator";
        let error = |error: gpu::Error| host.error(WHAT, error.to_string());
        let own = if host.leads() { gpu::nccl::id().map_err(error)?.to_vec() } else { Vec::new() };
        let id = host.of_first(WHAT, &own, size_of::<Id>())?;
        let id = id.try_into().map_err(|_| host.error(WHAT, "rank 0 gave no id".to_owned()))?;
        let patience = Patience { limit, lost: &|| host.lost() };
        let party = Party::new(gpu, host.rank(), host.ranks(), &id, patience).map_err(error)?;
        Ok(Self { party, host: Box::new(host), limit })
    }

    /// Where numbers of the host are exchanged.
    pub(super) fn host(&self) -> &Collective {
        &self.host
    }

    pub(super) fn exchange<B: AsMut<[CollectiveCall]>>(&self, what: &str, calls: B) -> Result<Pending<B>> {
        self.call(what, |patience| self.party.exchange(calls, patience))
    }

    pub(super) fn finish(&self, what: &str) -> Result<()> {
        self.call(what, |patience| self.party.finish(patience))
    }

    fn call<T>(&self, what: &str, work: impl FnOnce(Patience) -> gpu::Result<T>) -> Result<T> {
        let lost = || self.host.lost();
        work(Patience { limit: self.limit, lost: &lost }).map_err(|error: gpu::Error| self.host.error(what, error.to_string()))
    }
}

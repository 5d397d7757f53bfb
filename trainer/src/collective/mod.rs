//! Several ranks that train one trial together: what they tell each other.
//!
//! Every rank makes the same calls in the same order, each with the same name. A call returns when all ranks have made it. It fails, for all
//! of them, when a rank has left or does not come within the time limit; nothing can be called after that.

#[cfg(any(test, feature = "cuda"))]
mod buffers;
mod link;
mod message;
#[cfg(feature = "nccl")]
mod nccl;
mod processes;
mod ranks;
mod rendezvous;
mod secret;
mod team;
mod threads;
mod timed;

#[cfg(any(test, feature = "cuda"))]
pub(crate) use buffers::{Lent, Pending};
pub(crate) use link::Link;
pub use ranks::{Ranks, Rendezvous};
pub(crate) use rendezvous::meet;
pub use secret::Secret;
pub(crate) use team::run;

use crate::Result;
use bytemuck::Pod;
use rayon::prelude::*;
use std::{ops::Range, sync::Arc, time::Duration};

/// Numbers of one parallel task.
const BLOCK: usize = 1 << 14;

/// What joins a rank to the others.
pub(crate) enum Collective {
    /// One rank: there are no others.
    Single,
    /// Threads of this process.
    Threads(threads::ThreadMember),
    /// Threads of several processes.
    Processes(processes::ProcessMember),
    /// Threads of one or several processes, each on a GPU.
    #[cfg(feature = "nccl")]
    Nccl(nccl::NcclMember),
}

/// So many ranks that are threads of this process.
pub(crate) fn threads(ranks: u32, limit: Duration) -> Vec<Collective> {
    threads::members(ranks, limit).into_iter().map(Collective::Threads).collect()
}

/// The ranks of this process, joined to each other and, by the link, to those of other processes.
pub(crate) fn members(ranks: &Ranks, link: Option<&Arc<Link>>) -> Vec<Collective> {
    match (link, &ranks.nodes) {
        (Some(link), Some(nodes)) => {
            let members = processes::members(link, ranks.local, nodes.rank, nodes.world, ranks.limit);
            members.into_iter().map(Collective::Processes).collect()
        }
        _ if ranks.local == 1 => vec![Collective::Single],
        _ => threads(ranks.local, ranks.limit),
    }
}

impl Collective {
    /// This rank's number, from 0.
    pub(crate) fn rank(&self) -> u32 {
        match self {
            Self::Single => 0,
            Self::Threads(member) => member.rank(),
            Self::Processes(member) => member.rank(),
            #[cfg(feature = "nccl")]
            Self::Nccl(member) => member.host().rank(),
        }
    }

    /// This rank's number among the ranks of this process, from 0.
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) fn local_rank(&self) -> u32 {
        match self {
            Self::Single => 0,
            Self::Threads(member) => member.rank(),
            Self::Processes(member) => member.local_rank(),
            #[cfg(feature = "nccl")]
            Self::Nccl(member) => member.host().local_rank(),
        }
    }

    /// How many ranks there are.
    pub(crate) fn ranks(&self) -> u32 {
        match self {
            Self::Single => 1,
            Self::Threads(member) => member.ranks(),
            Self::Processes(member) => member.ranks(),
            #[cfg(feature = "nccl")]
            Self::Nccl(member) => member.host().ranks(),
        }
    }

    /// Whether this rank is the one that writes and decides.
    pub(crate) fn leads(&self) -> bool {
        self.rank() == 0
    }

    /// The rows, of so many, that are this rank's: as many as the others have, or one more.
    pub(crate) fn part(&self, rows: usize) -> Range<usize> {
        let start = |rank: u32| (rows as u64 * u64::from(rank) / u64::from(self.ranks())) as usize;
        start(self.rank())..start(self.rank() + 1)
    }

    /// Says where the training is, for errors to name.
    pub(crate) fn at(&self, epoch: u32, step: u32) {
        match self {
            Self::Single => {}
            Self::Threads(member) => member.at(epoch, step),
            Self::Processes(member) => member.at(epoch, step),
            #[cfg(feature = "nccl")]
            Self::Nccl(member) => member.host().at(epoch, step),
        }
    }

    /// Gives its values to the other ranks and takes theirs: those of all, in the order of the ranks. Of each there are `most` at most.
    fn exchange<T: Pod + Send + Sync>(&self, what: &str, values: Vec<T>, most: usize) -> Result<Vec<Arc<Vec<T>>>> {
        let all = match self {
            Self::Single => vec![Arc::new(values)],
            Self::Threads(member) => member.exchange(what, values)?,
            Self::Processes(member) => member.exchange(what, &values, most)?,
            #[cfg(feature = "nccl")]
            Self::Nccl(member) => member.host().exchange(what, values, most)?,
        };
        self.check_counts(what, &all, |_, count| (count > most).then(|| format!("at most {most}")))?;
        Ok(all)
    }

    /// Exchanges values as [`exchange`](Self::exchange) does, where each rank brings as many as this one.
    fn exchange_equal<T: Pod + Send + Sync>(&self, what: &str, values: Vec<T>) -> Result<Vec<Arc<Vec<T>>>> {
        let own = values.len();
        let all = self.exchange(what, values, own)?;
        self.check_counts(what, &all, |_, count| (count != own).then(|| own.to_string()))?;
        Ok(all)
    }

    /// Refuses what ranks bring in another number than was expected, which the function says for a rank and its number.
    fn check_counts<T>(&self, what: &str, all: &[Arc<Vec<T>>], expected: impl Fn(usize, usize) -> Option<String>) -> Result<()> {
        let wrong = |(rank, values): (usize, &Arc<Vec<T>>)| {
            let (count, expected) = (values.len(), expected(rank, values.len())?);
            Some(self.error(what, format!("rank {rank} brings {count} numbers: expected {expected}")))
        };
        all.iter().enumerate().find_map(wrong).map_or(Ok(()), Err)
    }

    /// Values of any number up to `most` from each rank, in the order of the ranks.
    ///
    /// # Errors
    /// [`Error::Collective`](crate::Error::Collective), as of all calls.
    pub(crate) fn gather<T: Pod + Send + Sync>(&self, what: &str, values: &[T], most: usize) -> Result<Vec<Vec<T>>> {
        Ok(self.exchange(what, values.to_vec(), most)?.iter().map(|values| values.to_vec()).collect())
    }

    /// As many values from each rank as this one has, in the order of the ranks.
    pub(crate) fn gather_equal<T: Pod + Send + Sync>(&self, what: &str, values: &[T]) -> Result<Vec<Vec<T>>> {
        Ok(self.exchange_equal(what, values.to_vec())?.iter().map(|values| values.to_vec()).collect())
    }

    /// Adds up the values of all ranks, in the order of the ranks.
    pub(crate) fn sum(&self, what: &str, values: &mut [f32]) -> Result<()> {
        if self.ranks() == 1 {
            return Ok(());
        }
        let all = self.exchange_equal(what, values.to_vec())?;
        values.par_chunks_mut(BLOCK).enumerate().for_each(|(block, sums)| {
            let range = block * BLOCK..block * BLOCK + sums.len();
            sums.copy_from_slice(&all[0][range.clone()]);
            for values in &all[1..] {
                sums.iter_mut().zip(&values[range.clone()]).for_each(|(sum, value)| *sum += value);
            }
        });
        Ok(())
    }

    /// Gives all ranks the values of rank 0, which are as many.
    pub(crate) fn broadcast<T: Pod + Send + Sync>(&self, what: &str, values: &mut [T]) -> Result<()> {
        if self.ranks() == 1 {
            return Ok(());
        }
        let own = if self.leads() { values.to_vec() } else { Vec::new() };
        let all = self.exchange(what, own, values.len())?;
        self.check_counts(what, &all, |rank, count| (rank == 0 && count != values.len()).then(|| values.len().to_string()))?;
        values.copy_from_slice(&all[0]);
        Ok(())
    }

    /// Gives all ranks the values of rank 0, of which the others know only that there are `most` at most.
    pub(crate) fn of_first<T: Pod + Send + Sync>(&self, what: &str, values: &[T], most: usize) -> Result<Vec<T>> {
        let own = if self.leads() { values } else { &[] };
        Ok(self.gather(what, own, most)?.swap_remove(0))
    }

    /// The values of all ranks, one after the other; of each there are `most` at most.
    pub(crate) fn join<T: Pod + Send + Sync>(&self, what: &str, values: Vec<T>, most: usize) -> Result<Vec<T>> {
        match self.ranks() {
            1 => Ok(values),
            _ => Ok(self.gather(what, &values, most)?.concat()),
        }
    }

    /// A value of each rank, in the order of the ranks.
    pub(crate) fn each<T: Pod + Send + Sync>(&self, what: &str, value: T) -> Result<Vec<T>> {
        Ok(self.gather_equal(what, &[value])?.concat())
    }

    /// The sum of a number of each rank, in the order of the ranks.
    pub(crate) fn total(&self, what: &str, value: f64) -> Result<f64> {
        Ok(self.each(what, value)?.into_iter().reduce(|sum, value| sum + value).unwrap_or_default())
    }

    /// Makes sure that all ranks have the same number.
    ///
    /// # Errors
    /// Also when they have not; it names what each has.
    pub(crate) fn agree(&self, what: &str, value: u64) -> Result<()> {
        let values = self.each(what, value)?;
        if values.iter().all(|&other| other == value) {
            return Ok(());
        }
        let each: Vec<String> = values.iter().enumerate().map(|(rank, value)| format!("{value} of rank {rank}")).collect();
        Err(self.error(what, format!("expected the same number of all ranks, found {}", each.join(", "))))
    }

    /// Why no rank need be waited for any more, once that is so.
    #[cfg(feature = "nccl")]
    fn lost(&self) -> Option<String> {
        match self {
            Self::Single => None,
            Self::Threads(member) => member.lost(),
            Self::Processes(member) => member.lost(),
            Self::Nccl(member) => member.host().lost(),
        }
    }

    fn place(&self) -> (u32, u32) {
        match self {
            Self::Single => (0, 0),
            Self::Threads(member) => member.place(),
            Self::Processes(member) => member.place(),
            #[cfg(feature = "nccl")]
            Self::Nccl(member) => member.host().place(),
        }
    }

    /// What goes wrong in a call, with this rank and its place.
    pub(crate) fn error(&self, operation: &str, reason: String) -> crate::Error {
        let (epoch, step) = self.place();
        crate::Error::Collective { rank: self.rank(), epoch, step, operation: operation.to_owned(), reason }
    }
}

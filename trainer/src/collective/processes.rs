//! Ranks that are threads of several processes: those of a process meet first, and one of them meets the other processes.
//!
//! Everything passes through process 0. That suits what ranks on GPUs tell each other beside NCCL, and trainings on CPUs that are small.

use super::{
    link::{Bring, Link},
    message::Round,
    threads,
};
use crate::{Error, Result};
use bytemuck::Pod;
use std::{sync::Arc, time::Duration};

/// One rank's seat.
pub(crate) struct ProcessMember {
    local: threads::ThreadMember,
    /// The first rank of this process, and all that there are.
    first: u32,
    ranks: u32,
    limit: Duration,
    link: Arc<Link>,
}

/// The seats of this process's ranks: so many in each process of so many, of which this is the one of that number.
pub(crate) fn members(link: &Arc<Link>, local: u32, process: u32, processes: u32, limit: Duration) -> Vec<ProcessMember> {
    let member =
        |local_member| ProcessMember { local: local_member, first: process * local, ranks: processes * local, limit, link: link.clone() };
    // The others wait for the one that waits for the other processes, which is given its limit for each of them.
    threads::members(local, limit.saturating_mul(processes + 1)).into_iter().map(member).collect()
}

impl ProcessMember {
    /// This rank's number among all, from 0.
    pub(crate) fn rank(&self) -> u32 {
        self.first + self.local.rank()
    }

    /// This rank's number among the ranks of this process, from 0.
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) fn local_rank(&self) -> u32 {
        self.local.rank()
    }

    /// How many ranks there are.
    pub(crate) fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Says where the training is.
    pub(crate) fn at(&self, epoch: u32, step: u32) {
        self.local.at(epoch, step);
    }

    /// Epoch and step, as it was told.
    pub(crate) fn place(&self) -> (u32, u32) {
        self.local.place()
    }

    /// Why no rank need be waited for any more, once that is so.
    #[cfg(any(test, feature = "nccl"))]
    pub(crate) fn lost(&self) -> Option<String> {
        self.local.lost().or_else(|| self.link.lost())
    }

    /// Gives its values to the other ranks and takes theirs: those of all, in the order of the ranks. Of each there are `most` at most.
    ///
    /// # Errors
    /// [`Error::Collective`] when not all come, or they bring different things, or more.
    pub(crate) fn exchange<T: Pod>(&self, what: &str, values: &[T], most: usize) -> Result<Vec<Arc<Vec<T>>>> {
        let (epoch, step) = self.place();
        let error = |reason: String| Error::Collective { rank: self.rank(), epoch, step, operation: what.to_owned(), reason };
        let own = self.local.exchange(what, bytemuck::cast_slice::<T, u8>(values).to_vec())?;
        let met = match self.local.rank() {
            0 => {
                let round = Round { what: what.to_owned(), epoch, step };
                let own = own.iter().map(|values| values.to_vec()).collect();
                let (ranks, most) = (self.ranks as usize, most.saturating_mul(size_of::<T>()));
                vec![self.link.round(Bring { round, own, ranks, most, limit: self.limit })]
            }
            _ => Vec::new(),
        };
        let all = self.local.exchange(what, met)?;
        let all = all[0].first().cloned().unwrap_or_else(|| Err("the first rank of this process was not there".to_owned()));
        let numbers = |(rank, bytes): (usize, &Vec<u8>)| numbers(rank, bytes).map(Arc::new).map_err(error);
        all.map_err(error)?.iter().enumerate().map(numbers).collect()
    }
}

/// Bytes that came from a rank, as numbers.
fn numbers<T: Pod>(rank: usize, bytes: &[u8]) -> Result<Vec<T>, String> {
    let size = size_of::<T>();
    if !bytes.len().is_multiple_of(size) {
        return Err(format!("rank {rank} brings {} bytes: expected numbers of {size} bytes", bytes.len()));
    }
    Ok(bytes.chunks_exact(size).map(bytemuck::pod_read_unaligned).collect())
}

#[cfg(test)]
mod tests {
    use super::{super::link::tests::pair, *};
    use std::thread;

    const LONG: Duration = Duration::from_secs(60);

    /// Two processes of two ranks, each in a thread of its own; what becomes of them in the order of the ranks.
    fn each<T: Send>(work: impl Fn(ProcessMember) -> T + Sync) -> Vec<T> {
        let seats = pair().into_iter().zip(0..).flat_map(|(link, process)| members(&Arc::new(link), 2, process, 2, LONG));
        thread::scope(|scope| {
            let threads: Vec<_> = seats.map(|member| scope.spawn(|| work(member))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn values_come_in_the_order_of_all_ranks() {
        let found = each(|member| {
            let round = |round: u32| {
                member
                    .exchange("numbers", &vec![10 * round + member.rank(); 3 - member.rank() as usize], 3)
                    .unwrap()
                    .iter()
                    .map(|values| values.to_vec())
                    .collect::<Vec<_>>()
            };
            (member.ranks(), (0..50).map(round).collect::<Vec<_>>())
        });
        let expected = |round: u32| (0..4u32).map(|rank| vec![10 * round + rank; 3 - rank as usize]).collect::<Vec<_>>();
        let expected: Vec<_> = (0..50).map(expected).collect();
        assert!(found.into_iter().all(|found| found == (4, expected.clone())));
    }

    #[test]
    fn a_rank_that_leaves_ends_all_processes() {
        let found = each(|member| {
            member.at(2, 5);
            let error = (member.rank() != 3).then(|| member.exchange("losses", &[1.0f64], 1).unwrap_err().to_string());
            assert!(error.is_none() || member.rank() == 0 || member.lost().is_some());
            error.unwrap_or_default()
        });
        assert!(found[2].contains("rank 1 left at epoch 2, step 5"), "{found:?}");
        assert!(found[..2].iter().all(|found| found.contains("`losses`") && found.contains("process 1 has ended")), "{found:?}");
    }

    #[test]
    fn processes_that_are_out_of_step_are_told_so() {
        let found = each(|member| {
            member.at(1, 4 + member.rank() / 2);
            member.exchange("losses", &[1.0f64], 1).unwrap_err().to_string()
        });
        assert!(found[0].contains("out of step: process 1 is at `losses`, epoch 1, step 5"), "{found:?}");
    }

    #[test]
    fn a_rank_brings_whole_numbers_and_no_more_than_it_may() {
        let found =
            each(|member| member.exchange("losses", &vec![1.0f64; 1 + member.rank() as usize / 2], 1).map(|_| ()).unwrap_err().to_string());
        assert!(found[..2].iter().all(|found| found.contains("it announces 16 bytes of a rank: expected at most 8")), "{found:?}");
        assert_eq!(numbers::<u32>(3, &[0; 6]).unwrap_err(), "rank 3 brings 6 bytes: expected numbers of 4 bytes");
    }
}

//! What ranks make of each other's numbers by NCCL: one rank on a GPU, and two where NCCL lets them share it.

use super::{Comparison, all_reduce, wave};
use crate::{
    Error, Result,
    collective::{self, Collective},
};
use gpu::{
    CollectiveCall, Gpu,
    nccl::{Id, Party, Patience},
};
use std::time::Duration;

/// Two ranks on one GPU are for tests alone, and NCCL allows them from this version on, where this variable is 1.
const SHARED: (i32, &str) = (23_000, "NCCL_MULTI_RANK_GPU_ENABLE");
/// Numbers of a rank, and as many as a large table has, for which NCCL may add in another way.
const LENGTH: usize = 100_003;
const LARGE: usize = 5_000_011;
const LIMIT: Duration = Duration::from_secs(60);

/// Compares sums and what is gathered with the same by hand.
pub(super) fn check(ordinal: usize) -> Result<Vec<Comparison>> {
    let (since, variable) = SHARED;
    let shares = gpu::nccl::version()? >= since && std::env::var(variable).is_ok_and(|value| value == "1");
    let counts = if shares { vec![1, 2] } else { vec![1] };
    counts.into_iter().map(|ranks| compare(ordinal, ranks)).collect::<Result<Vec<_>>>().map(|comparisons| comparisons.concat())
}

/// What rank 0 finds of so many: of bare numbers, and of the gradients of candle's steps.
fn compare(ordinal: usize, ranks: u32) -> Result<Vec<Comparison>> {
    let id = gpu::nccl::id()?;
    let rank = |rank: u32| Ok::<_, Error>(compare_numbers(&Gpu::cuda(ordinal)?, rank, ranks, &id)?);
    let of_numbers = collective::run((0..ranks).collect(), rank, rank)?;
    let seats = if ranks == 1 { vec![Collective::Single] } else { collective::threads(ranks, LIMIT) };
    let gradients = |seat: Collective| {
        let gpu = Gpu::cuda(ordinal)?;
        all_reduce::check(&gpu, &seat.by_nccl(&gpu, LIMIT)?)
    };
    let of_gradients = collective::run(seats, gradients, gradients)?;
    Ok([of_numbers, of_gradients].concat())
}

fn compare_numbers(gpu: &Gpu, rank: u32, ranks: u32, id: &Id) -> gpu::Result<Vec<Comparison>> {
    let patience = Patience { limit: LIMIT, lost: &|| None };
    let party = Party::new(gpu, rank, ranks, id, patience)?;
    let own = |rank: u32| wave(LENGTH, 3.0, 90 + rank);
    let all = gpu.zeros(LENGTH * ranks as usize)?;
    let calls = [CollectiveCall::AllGather([gpu.upload(&own(rank))?, all]), CollectiveCall::AllReduce(gpu.upload(&own(rank))?)];
    let calls = party.exchange(calls, patience)?.join()?;
    let [CollectiveCall::AllGather([_, all]), CollectiveCall::AllReduce(sum)] = calls else {
        unreachable!("calls come back as they were made")
    };
    drop(party.exchange([CollectiveCall::AllReduce(gpu.upload(&own(rank))?)], patience)?); // is freed when NCCL is done with it
    let large = || -> gpu::Result<Vec<f32>> {
        let calls = party.exchange([CollectiveCall::AllReduce(gpu.upload(&wave(LARGE, 3.0, 70 + rank))?)], patience)?.join()?;
        let [CollectiveCall::AllReduce(sum)] = calls else { unreachable!("calls come back as they were made") };
        gpu.read(&sum)
    };
    let (first, again) = (large()?, large()?);
    party.finish(patience)?;
    let each: Vec<Vec<f32>> = (0..ranks).map(own).collect();
    let sums: Vec<f32> = (0..LENGTH).map(|at| each.iter().map(|values| values[at]).sum()).collect();
    let what = |what: &str| format!("NCCL: {what}, {ranks} ranks on a GPU");
    Ok(vec![
        Comparison::new(what("all-reduce"), &gpu.read(&sum)?, &sums, 1e-6),
        Comparison::new(what("all-gather"), &gpu.read(&all)?, &each.concat(), 0.0),
        Comparison::new(what("a large all-reduce twice"), &again, &first, 0.0),
    ])
}

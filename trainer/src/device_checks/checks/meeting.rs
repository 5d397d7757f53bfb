//! What ranks make of each other's numbers by NCCL: one rank on a GPU, and two where NCCL lets them share it.

use super::{Comparison, wave};
use crate::{Error, Result, collective};
use gpu::{
    Gpu,
    nccl::{Id, Party, Patience},
};
use std::time::Duration;

/// Two ranks on one GPU are for tests alone, and NCCL allows them from this version on, where this variable is 1.
const SHARED: (i32, &str) = (23_000, "NCCL_MULTI_RANK_GPU_ENABLE");
/// Numbers of a rank.
const LENGTH: usize = 100_003;
const LIMIT: Duration = Duration::from_secs(60);

/// Compares sums and what is gathered with the same by hand.
pub(super) fn check(ordinal: usize) -> Result<Vec<Comparison>> {
    let (since, variable) = SHARED;
    let shares = gpu::nccl::version()? >= since && std::env::var(variable).is_ok_and(|value| value == "1");
    let counts = if shares { vec![1, 2] } else { vec![1] };
    counts.into_iter().map(|ranks| meet(ordinal, ranks)).collect::<Result<Vec<_>>>().map(|comparisons| comparisons.concat())
}

/// What rank 0 finds of so many.
fn meet(ordinal: usize, ranks: u32) -> Result<Vec<Comparison>> {
    let id = gpu::nccl::id()?;
    let rank = |rank: u32| Ok::<_, Error>(compare(&Gpu::cuda(ordinal)?, (rank, ranks), &id)?);
    collective::run((0..ranks).collect(), rank, rank)
}

fn compare(gpu: &Gpu, (rank, ranks): (u32, u32), id: &Id) -> gpu::Result<Vec<Comparison>> {
    let patience = Patience { limit: LIMIT, lost: &|| None };
    let party = Party::new(gpu, (rank, ranks), id, patience)?;
    let own = |rank: u32| wave(LENGTH, 3.0, 90 + rank);
    let (sum, all) = (gpu.upload(&own(rank))?, gpu.zeros(LENGTH * ranks as usize)?);
    let [sum, all] = party.gather(sum, all, patience)?.join()?;
    let sum = party.sum(sum, patience)?.join()?;
    drop(party.sum(gpu.upload(&own(rank))?, patience)?); // is freed when NCCL is done with it
    party.finish(patience)?;
    let each: Vec<Vec<f32>> = (0..ranks).map(own).collect();
    let sums: Vec<f32> = (0..LENGTH).map(|at| each.iter().map(|values| values[at]).sum()).collect();
    let what = |what: &str| format!("NCCL: {what}, {ranks} ranks on a GPU");
    Ok(vec![
        Comparison::new(what("all-reduce"), &gpu.read(&sum)?, &sums, 1e-6),
        Comparison::new(what("all-gather"), &gpu.read(&all)?, &each.concat(), 0.0),
    ])
}

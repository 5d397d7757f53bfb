//! The memory of a ranking.

/// Bytes of a float of the vectors.
const FLOAT: u64 = 4;
/// Of a ranked user: its id, candidates, AUC, mark and end; twice, as blocks are joined to one list.
const USER: u64 = 2 * 25;
/// Of a held-out item: its rank, twice.
const HELD_OUT: u64 = 2 * 4;
/// Of a thread: a block of users, their vectors and their scores for a tile of items.
const THREAD: u64 = 1 << 20;

/// Bytes that [`rank`](crate::rank::rank()) needs beside the scorer for `items` vectors of length `dim`, `users` with `held_out` items in all:
/// the items packed for the product, up to half of `memory`, and the ranks.
pub fn memory(items: usize, dim: usize, users: usize, held_out: usize, memory: usize) -> u64 {
    let packed = items as u64 * dim as u64 * FLOAT;
    let packed = if packed <= memory as u64 / 2 { packed } else { 0 };
    packed + USER * users as u64 + HELD_OUT * held_out as u64 + THREAD * rayon::current_num_threads() as u64
}

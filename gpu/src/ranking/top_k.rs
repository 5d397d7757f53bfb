//! The best items of users: tiles of scores stream by, and each user keeps the best so far.

use super::{Lists, NotFinite, Sides, THREADS, TILE};
use crate::{
    Buffer, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, LaunchArgument, count, nothing},
    vectors::{Similarity, View},
};

/// Blocks that run at once: two on each of the H200's multiprocessors.
const AT_ONCE: usize = 264;

/// The best items of some users, best first, equal scores by item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Best {
    /// `[users, k]`; `u32::MAX` behind the last where there are fewer.
    pub ids: Vec<u32>,
    /// `[users, k]`; minus infinity where there is no item.
    pub scores: Vec<f32>,
}

/// The `k` best items of each of the users `who`, without those that are masked. `memory` in bytes bounds the working space, down to that of 128
/// users; it does not change results.
///
/// # Errors
/// [`Error::NotFinite`](crate::Error::NotFinite) for the first of the users, by id, and its first item whose score is NaN or infinite; those of the
/// device.
pub fn top_k(gpu: &Gpu, users: View, items: View, who: &[u32], masked: Option<Lists>, k: usize, memory: usize) -> Result<Best> {
    let sides = Sides::new(users, items);
    let [rows, catalogue] = sides.rows();
    assert!(masked.is_none_or(|masked| masked.starts.len() == rows + 1), "lists of {rows} users");
    assert!(who.iter().all(|&user| (user as usize) < rows), "a user behind the {rows} of the vectors");
    let mut all = Best::default();
    if k == 0 || catalogue == 0 {
        return Ok(Best { ids: vec![u32::MAX; who.len() * k], scores: vec![f32::NEG_INFINITY; who.len() * k] });
    }
    let blocks = (memory / (TILE * width(k) * size_of::<u64>())).max(1);
    let mut first = NotFinite::new(gpu)?;
    for who in who.chunks(blocks * TILE) {
        let parts = (blocks.min(AT_ONCE) / who.len().div_ceil(TILE)).clamp(1, catalogue.div_ceil(TILE));
        let who = gpu.upload(who)?;
        let of_parts = of_tiles(gpu, sides, &who, masked, parts, k, &mut first)?;
        let best = of_all(gpu, sides, &who, &of_parts, parts, k)?;
        all.ids.extend(best.ids);
        all.scores.extend(best.scores);
    }
    first.check(gpu)?;
    Ok(all)
}

/// Candidates that a user has room for: twice the best, and those of two tiles.
fn width(k: usize) -> usize {
    2 * k + 2 * TILE
}

/// The best items of each part of the catalogue for each user, `[parts, users, k]`.
fn of_tiles(
    gpu: &Gpu,
    sides: Sides,
    who: &Buffer<u32>,
    masked: Option<Lists>,
    parts: usize,
    k: usize,
    first: &mut NotFinite,
) -> Result<Buffer<u64>> {
    let [_, catalogue] = sides.rows();
    let user_blocks = who.len().div_ceil(TILE);
    let mut work = gpu.zeros::<u64>(user_blocks * parts * TILE * width(k))?;
    let mut best = gpu.zeros(parts * who.len() * k)?;
    let [starts, masked] = match masked {
        Some(lists) => [read(lists.starts), read(lists.items)],
        None => [nothing("const unsigned*"), nothing("const unsigned*")],
    };
    let own = [
        read(who),
        count(who.len()),
        count(user_blocks),
        count(catalogue),
        starts,
        masked,
        count(parts),
        count(k),
        write(&mut work),
        write(&mut best),
        write(&mut first.0),
    ];
    let arguments: Vec<LaunchArgument> = sides.arguments().into_iter().chain(own).collect();
    gpu.launch("best_of_tiles", Grid::blocks(user_blocks * parts, THREADS), &arguments)?;
    Ok(best)
}

/// The best items for each user, of the bests of all parts.
fn of_all(gpu: &Gpu, sides: Sides, who: &Buffer<u32>, of_parts: &Buffer<u64>, parts: usize, k: usize) -> Result<Best> {
    let (mut ids, mut scores) = (gpu.zeros(who.len() * k)?, gpu.zeros(who.len() * k)?);
    let arguments =
        [read(of_parts), sides.user_norms(), read(who), count(who.len()), count(parts), count(k), write(&mut ids), write(&mut scores)];
    gpu.launch("best_of_parts", Grid::blocks(who.len(), THREADS), &arguments)?;
    Ok(Best { ids: gpu.read(&ids)?, scores: gpu.read(&scores)? })
}

impl<'a> Sides<'a> {
    /// The users' norms as an argument of a kernel, which takes them from the scores; null for other similarities than distances.
    pub(crate) fn user_norms(self) -> LaunchArgument<'a> {
        let [users, _] = self.0;
        if users.similarity == Similarity::NegativeSquaredDistance { read(users.norms) } else { nothing("const float*") }
    }
}

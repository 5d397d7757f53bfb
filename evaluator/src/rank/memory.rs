//! What ranking needs beside the scorer and the interactions.

use super::{
    product::PANEL,
    scores::{TILE, USERS},
};

/// Bytes that [`rank`](super::rank()) takes at most beside the scorer and the interactions, for vectors of `dim` dimensions, `held_out`
/// held-out items in all, so many threads, and the `memory` that it is given.
///
/// The held-out items of known users once more, where others are left out; the items' vectors once more, packed, where half of `memory`
/// holds them, and the items' order; for each thread the vectors and scores of a block of users; and the ranks, once by block and once
/// joined. Item weights are scored as they lie: 0 dimensions.
pub fn rank_memory(users: usize, items: usize, dim: usize, held_out: usize, threads: usize, memory: usize) -> usize {
    // Negative squared distances have one dimension more.
    let dim = dim + usize::from(dim > 0);
    let packed = items.next_multiple_of(PANEL) * dim * size_of::<f32>();
    let packed = if packed <= memory / 2 { packed } else { 0 };
    // Their permutation and its inverse, and while it is made the key and the length of each.
    let order = items * (2 * size_of::<u32>() + 2 * size_of::<f64>());
    let thread = (USERS * (dim + TILE) + TILE * dim) * size_of::<f32>();
    // Of a user its id, candidates, end, area and whether it is tied; a growing list holds up to twice what is in it.
    let rankings = 3 * (users * (4 + 4 + 8 + 8 + 1) + held_out * size_of::<u32>());
    let known = (users + 1) * size_of::<usize>() + held_out * size_of::<u32>();
    known + packed + order + threads * thread + rankings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_packed_where_half_of_the_memory_holds_them() {
        let needs = |memory: usize| rank_memory(29_858, 40_988, 64, 217_336, 2, memory);
        // 40,992 places of 65 numbers.
        let packed = 40_992 * 65 * 4;
        assert_eq!(needs(2 * packed) - needs(2 * packed - 1), packed);
        assert!(needs(0) < 8 << 20);
    }
}

//! What ranking needs beside the scorer and the interactions.

use crate::scorer::scores::{FEWEST_USERS, PANEL, TILE, USERS, space_of_block, space_of_user};

/// What the working space of a ranking follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkingSpace {
    /// Vectors of so many dimensions.
    Vectors {
        /// Numbers of a vector.
        dim: usize,
    },
    /// Vectors of so many dimensions, whose pairs a network scores.
    Pairs {
        /// Numbers of a vector.
        dim: usize,
    },
    /// Weights that are scored as they lie.
    Weights,
    /// Sparse weights, whose sums are kept for all items that rows name for a user.
    SparseWeights,
}

impl WorkingSpace {
    /// Bytes that all threads share: the items' vectors once more, packed, where half of `memory` holds them, and the items' order.
    fn shared(self, items: usize, memory: usize) -> usize {
        let dim = match self {
            // Negative squared distances have one dimension more.
            Self::Vectors { dim } => dim + 1,
            Self::Pairs { dim } => dim,
            Self::Weights | Self::SparseWeights => 0,
        };
        let packed = items.next_multiple_of(PANEL) * dim * size_of::<f32>();
        // A network has its items' numbers one beside the other, whatever the memory.
        let packed = if packed <= memory / 2 || matches!(self, Self::Pairs { .. }) { packed } else { 0 };
        // Their permutation and its inverse, and while it is made the key and the length of each.
        packed + items * (2 * size_of::<u32>() + 2 * size_of::<f64>())
    }

    /// Bytes of a thread: the scores of a block of users, and their vectors, or the sums that are kept.
    fn of_thread(self, items: usize) -> usize {
        match self {
            Self::Vectors { dim } | Self::Pairs { dim } => (USERS * (dim + 1 + TILE) + TILE * (dim + 1)) * size_of::<f32>(),
            Self::Weights => USERS * TILE * size_of::<f32>(),
            Self::SparseWeights => space_of_block(items) + FEWEST_USERS * space_of_user(items),
        }
    }
}

/// Bytes that [`rank`](super::rank()) takes at most beside the scorer and the interactions, for `held_out` held-out items in all, so many
/// threads, and the `memory` that it is given.
///
/// The held-out items of known users once more, where others are left out; what scores are made in; and the ranks, once by block and once joined.
pub fn rank_memory(users: usize, items: usize, space: WorkingSpace, held_out: usize, threads: usize, memory: usize) -> usize {
    // Of a user its id, candidates, the ends of its ranks and of its list, area and whether it is tied; a growing list holds up to twice what is in it.
    let rankings = 3 * (users * (4 + 4 + 8 + 8 + 8 + 1) + held_out * size_of::<u32>());
    let known = (users + 1) * size_of::<usize>() + held_out * size_of::<u32>();
    known + space.shared(items, memory) + threads * space.of_thread(items) + rankings
}

/// Bytes that lists of so many items take at most beside [`rank_memory`]: once by block and once joined, and in the making twice of what is kept of each
/// user of a block.
pub(crate) fn list_memory(users: usize, list: usize, threads: usize) -> usize {
    let entry = size_of::<(u32, f32)>();
    list * (3 * users * size_of::<u32>() + threads * USERS * 2 * entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes on Gowalla, by two threads.
    fn needs(space: WorkingSpace, memory: usize) -> usize {
        rank_memory(29_858, 40_988, space, 217_336, 2, memory)
    }

    #[test]
    fn items_are_packed_where_half_of_the_memory_holds_them() {
        let vectors = WorkingSpace::Vectors { dim: 64 };
        // 40,992 places of 65 numbers.
        let packed = 40_992 * 65 * 4;
        assert_eq!(needs(vectors, 2 * packed) - needs(vectors, 2 * packed - 1), packed);
        assert!(needs(vectors, 0) < 9 << 20);
        // A network's items are there once more whatever the memory.
        assert_eq!(needs(WorkingSpace::Pairs { dim: 64 }, 0) - needs(vectors, 0), 40_992 * 64 * 4);
    }

    #[test]
    fn sums_of_sparse_rows_are_those_of_eight_users() {
        // A user's scores of a tile and lists of 2 * 8 * 40,988 bytes at most, sums of 4 * 40,988 and 641 words of bits; otherwise 256 users' scores.
        let more = 2 * (163_952 + 641 * 8 + 8 * (1_536 + 655_808)) - 2 * 256 * 1_536;
        assert_eq!(needs(WorkingSpace::SparseWeights, 1 << 30) - needs(WorkingSpace::Weights, 1 << 30), more);
    }
}

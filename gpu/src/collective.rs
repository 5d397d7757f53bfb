//! What the devices of several ranks give each other.

use crate::Buffer;

/// A collective operation of all ranks' devices, with its buffers. Each rank has as many numbers in it as every other.
#[derive(Debug)]
pub enum CollectiveCall {
    /// The numbers of all ranks are added up, in place.
    AllReduce(Buffer<f32>),
    /// The numbers of all ranks are put one after the other, in the order of the ranks: this rank's, and the room for all.
    AllGather([Buffer<f32>; 2]),
    /// The ids of all ranks are put one after the other, in the order of the ranks: this rank's, and the room for all.
    AllGatherIds([Buffer<u32>; 2]),
}

impl CollectiveCall {
    /// Makes sure that there is room for what so many ranks bring.
    ///
    /// # Panics
    /// When there is not.
    pub fn check_room(&self, ranks: usize) {
        let (own, all) = match self {
            Self::AllReduce(_) => return,
            Self::AllGather([own, all]) => (own.len(), all.len()),
            Self::AllGatherIds([own, all]) => (own.len(), all.len()),
        };
        assert_eq!(own * ranks, all, "there is room for the numbers of all ranks");
    }
}

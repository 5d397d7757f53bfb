//! What the ranks of a training share out, and put together again.

pub(crate) mod all_reduce;
pub(crate) mod batch_shard;

//! A trial by several ranks.

pub(crate) mod all_reduce;
pub(crate) mod ranks;

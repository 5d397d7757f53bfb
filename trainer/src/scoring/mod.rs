//! Scores of users with items, and the gradient back, without ever forming `[B, N, D]`.
//!
//! [`Sampled`] scores each query with its own drawn items, [`Few`] does so where they are few among many, and [`Catalogue`] scores it
//! with all items. They use vectors that are prepared so that every similarity is a dot product, and return gradients of the original
//! vectors.

mod catalogue;
mod few;
mod kernels;
mod lists;
mod sampled;
mod similarity;
#[cfg(test)]
mod tests;
mod touched;

pub(crate) use catalogue::{Catalogue, MASKED};
pub(crate) use few::{Few, Plan};
pub(crate) use kernels::{dot, dots};
pub(crate) use lists::reduce_lists;
pub(crate) use sampled::{BUCKET, Batch, LARGEST_BATCH, Row, Sampled, Scored, Vectors, Weighed};
pub(crate) use touched::Touched;

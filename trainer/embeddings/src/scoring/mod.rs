//! Scores of users with items, and the gradient back, without ever forming `[B, N, D]`.
//!
//! [`Sampled`] scores each query with its own drawn items, [`SparseSampled`] does so where they are few among many, and [`Catalogue`] scores it
//! with all items; [`Neighbours`] and [`Pairs`] compare rows of one table; [`Ranks`] and [`Others`] count. They use vectors that are prepared
//! so that every similarity is a dot product, and return gradients of the original vectors.

mod catalogue;
pub mod inner_product;
mod kernels;
mod lists;
mod others;
mod ranks;
mod relations;
mod sampled;
mod similarity;
mod sparse_sampled;
#[cfg(test)]
mod tests;
mod touched;

pub use catalogue::{Catalogue, MASKED, Masks};
pub use kernels::{combine, dot, dots, project, weighted_sum};
pub use lists::{mean_vector, reduce_lists};
pub use others::Others;
pub use ranks::Ranks;
pub use relations::{Neighbours, Pairs};
pub use sampled::{BUCKET, Batch, LARGEST_BATCH, Row, Sampled, ScoreGradients, Scored, Vectors};
pub use similarity::Prepared;
pub use sparse_sampled::{Plan, SparseSampled};
pub use touched::Touched;

//! Scores of users with items, and the gradient back, without ever forming `[B, N, D]`.
//!
//! [`Sampled`] scores each query with its own drawn items, [`Few`] does so where they are few among many, and [`Catalogue`] scores it
//! with all items; [`Neighbours`] and [`Pairs`] compare rows of one table; [`Ranks`] and [`Others`] count. They use vectors that are prepared
//! so that every similarity is a dot product, and return gradients of the original vectors.

mod catalogue;
mod few;
pub mod inner_product;
mod kernels;
mod lists;
mod others;
mod ranks;
mod relations;
mod sampled;
mod similarity;
#[cfg(test)]
mod tests;
mod touched;

pub use catalogue::{Catalogue, MASKED, Masks};
pub use few::{Few, Plan};
pub use kernels::{combine, dot, dots, project, weighted_sum};
pub use lists::{mean_vector, reduce_lists};
pub use others::Others;
pub use ranks::Ranks;
pub use relations::{Neighbours, Pairs};
pub use sampled::{BUCKET, Batch, LARGEST_BATCH, Row, Sampled, Scored, Vectors, Weighed};
pub use similarity::Prepared;
pub use touched::Touched;

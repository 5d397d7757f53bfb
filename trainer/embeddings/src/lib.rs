//! The tables that models are made of: first values, gradients, products, and scores of their rows with the gradient back.
//!
//! Nothing here knows a loss, a sampler or a model: [`Sampled`], [`SparseSampled`] and [`Catalogue`] make scores of vectors, whatever made these,
//! and take the gradient of a score back to the vectors.

mod gradient;
mod init;
pub mod product;
mod scoring;
mod tables;

pub use gradient::RowGradients;
pub use init::{Init, Normal, XavierNormal, XavierUniform};
pub use scoring::{
    BUCKET, Batch, Catalogue, LARGEST_BATCH, MASKED, Masks, Neighbours, Others, Pairs, Plan, Prepared, Ranks, Row, Sampled, ScoreGradients,
    Scored, SparseSampled, Touched, Vectors, combine, dot, dots, inner_product, mean_vector, project, reduce_lists, weighted_sum,
};
pub use tables::Tables;

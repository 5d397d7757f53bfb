//! The network between the lookup of W_1 and the last layer, forward and back, in parallel over blocks of users.

use super::dense::{self, ROWS};
use crate::{by_users::Numbered, operations::tanh_in_place};
use embeddings::weighted_sum;
use rayon::prelude::*;
use std::ops::Range;
use vectors::Matrix;

/// What a batch of B users has in the middle of the network.
pub(super) struct Middle {
    /// `[B, hidden]`
    pub(super) hidden: Vec<f32>,
    /// mu and log sigma^2 `[B, 2 dim]`
    latent: Vec<f32>,
    /// z `[B, dim]`
    pub(super) drawn: Vec<f32>,
    /// `[B, hidden]`
    pub(super) decoded: Vec<f32>,
}

/// What the middle of the network gives back.
pub(super) struct Derivatives {
    /// By mu and log sigma^2, `[B, 2 dim]`.
    pub(super) of_latent: Vec<f32>,
    /// By the inputs of the first tanh, `[B, hidden]`.
    pub(super) of_hidden: Vec<f32>,
    /// The sum of the KL divergences.
    pub(super) divergence: f64,
}

impl Middle {
    /// From x / |x| to the decoder's hidden layer; without `noise` by the mean.
    pub(super) fn forward(weights: [&Matrix; 8], rows: &[Numbered], noise: Option<&[f32]>) -> Self {
        let [first, first_bias, second, second_bias, third, third_bias, ..] = weights;
        let (width, dim, users) = (first.dim, third.dim, rows.len());
        let [mut hidden, mut latent, mut drawn, mut decoded] = [width, 2 * dim, dim, width].map(|width| vec![0.0; users * width]);
        let layers = hidden.par_chunks_mut(ROWS * width).zip(latent.par_chunks_mut(ROWS * 2 * dim));
        let layers = layers.zip(drawn.par_chunks_mut(ROWS * dim).zip(decoded.par_chunks_mut(ROWS * width)));
        layers.zip(rows.par_chunks(ROWS)).enumerate().for_each(|(block, (((hidden, latent), (drawn, decoded)), rows))| {
            for (sum, row) in hidden.chunks_exact_mut(width).zip(rows) {
                sum.copy_from_slice(&first_bias.values);
                weighted_sum(&first.values, &row.ids, &row.numbers, sum);
            }
            tanh_in_place(hidden);
            dense::forward(hidden, second, &second_bias.values, latent);
            for (drawn, latent) in drawn.chunks_exact_mut(dim).zip(latent.chunks_exact(2 * dim)) {
                drawn.copy_from_slice(&latent[..dim]);
            }
            if let Some(noise) = noise {
                let noise = rows_of(noise, &(block * ROWS..block * ROWS + rows.len()), dim);
                let logs = latent.chunks_exact(2 * dim).flat_map(|latent| &latent[dim..]);
                drawn.iter_mut().zip(logs).zip(noise).for_each(|((value, log), noise)| *value += (0.5 * log).exp() * noise);
            }
            dense::forward(drawn, third, &third_bias.values, decoded);
            tanh_in_place(decoded);
        });
        Self { hidden, latent, drawn, decoded }
    }

    /// From the derivatives by the decoder's hidden layer, which become those by the inputs of its tanh, by W_2 and W_3; `share` is what a user's
    /// divergence weighs.
    pub(super) fn backward(&self, weights: [&Matrix; 2], noise: &[f32], share: f32, of_decoded: &mut [f32]) -> Derivatives {
        let [second, third] = weights;
        let (width, dim) = (third.rows, third.dim);
        let (mut of_latent, mut of_hidden) = (vec![0.0; self.latent.len()], vec![0.0; self.hidden.len()]);
        let blocks = of_decoded.par_chunks_mut(ROWS * width).zip(of_latent.par_chunks_mut(ROWS * 2 * dim));
        let blocks = blocks.zip(of_hidden.par_chunks_mut(ROWS * width)).enumerate();
        let divergences = blocks.map(|(block, ((of_decoded, of_latent), of_hidden))| {
            let users = block * ROWS..block * ROWS + of_hidden.len() / width;
            dense::tanh_backward(of_decoded, rows_of(&self.decoded, &users, width));
            let mut of_drawn = vec![0.0; users.len() * dim];
            dense::backward(of_decoded, third, &mut of_drawn);
            let (latent, noise) = (rows_of(&self.latent, &users, 2 * dim), rows_of(noise, &users, dim));
            let divergence = of_distribution(latent, noise, &of_drawn, share, of_latent, dim);
            dense::backward(of_latent, second, of_hidden);
            dense::tanh_backward(of_hidden, rows_of(&self.hidden, &users, width));
            divergence
        });
        let divergences: Vec<f64> = divergences.collect();
        Derivatives { of_latent, of_hidden, divergence: divergences.iter().sum() }
    }
}

/// Derivatives by mu and log sigma^2 from those by z; the sum of the divergences.
fn of_distribution(latent: &[f32], noise: &[f32], of_drawn: &[f32], share: f32, of_latent: &mut [f32], dim: usize) -> f64 {
    let mut divergence = 0.0;
    let users = of_latent.chunks_exact_mut(2 * dim).zip(latent.chunks_exact(2 * dim));
    for ((target, latent), (of_drawn, noise)) in users.zip(of_drawn.chunks_exact(dim).zip(noise.chunks_exact(dim))) {
        for at in 0..dim {
            let (mean, log, variance) = (latent[at], latent[dim + at], latent[dim + at].exp());
            divergence += 0.5 * f64::from(mean * mean + variance - log - 1.0);
            target[at] = of_drawn[at] + share * mean;
            target[dim + at] = 0.5 * (of_drawn[at] * noise[at] * variance.sqrt() + share * (variance - 1.0));
        }
    }
    divergence
}

/// Some rows of a matrix.
fn rows_of<'a>(values: &'a [f32], rows: &Range<usize>, dim: usize) -> &'a [f32] {
    &values[rows.start * dim..rows.end * dim]
}

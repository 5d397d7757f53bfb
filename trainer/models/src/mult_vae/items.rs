//! The last layer: a softmax over all items, some at a time.
//!
//! ```text
//! L = sum over users of [ |R_u| log sum_j exp(l_uj) - sum over train items of l_ui ]        l = g W^T + b
//! ```

use crate::operations::column_sums;
use dataset::Interactions;
use embeddings::product::{View, multiply};
use losses::fused::{exponentials, scale};
use optimizers::{Parameter, Stepper};
use rayon::prelude::*;
use std::sync::OnceLock;

/// Items of a chunk, at most.
const ITEMS: usize = 2048;
/// Chunks that a catalogue has at least, so that threads can share it, but for one of a few hundred items.
const CHUNKS: usize = 4;
/// Exponentials of a batch that are kept from one pass to the next; of a larger catalogue they are made twice.
const KEPT: usize = 1 << 26;

/// Items of a chunk of a catalogue: a multiple of what a product holds in its registers.
pub(super) fn chunk_items(items: usize) -> usize {
    items.div_ceil(CHUNKS).next_multiple_of(32).min(ITEMS)
}

/// The hidden layer of a batch of users, `hidden [B, dim]`.
pub(super) struct Batch<'a> {
    pub(super) train: &'a Interactions,
    pub(super) users: &'a [u32],
    pub(super) hidden: &'a [f32],
}

/// The softmax of the users over some items.
struct Chunk {
    /// `[B, items]`: exp(l - max), with the largest l of each user among these items.
    exponentials: Vec<f32>,
    /// That largest l, and the sum of the exponentials, of each user.
    sums: Vec<(f32, f64)>,
    /// The sum of l over train pairs.
    positives: f64,
}

/// What a chunk gives back.
struct Back {
    /// `[B, dim]`
    of_hidden: Vec<f32>,
    /// `[items]`
    of_bias: Vec<f32>,
}

impl Batch<'_> {
    /// The train items of a user from `first` on, below `first + count`, counted from `first`.
    fn positives(&self, user: u32, first: usize, count: usize) -> impl Iterator<Item = usize> {
        let row = self.train.row(user as usize);
        let from = row.partition_point(|&item| (item as usize) < first);
        row[from..].iter().map(move |&item| item as usize - first).take_while(move |&at| at < count)
    }

    fn chunk(&self, first: usize, weights: &[f32], bias: &[f32], dim: usize) -> Chunk {
        let count = bias.len();
        let mut logits = bias.repeat(self.users.len());
        let (hidden, weights) = (View { values: self.hidden, row: dim, column: 1 }, View { values: weights, row: 1, column: dim });
        multiply([self.users.len(), dim, count], &mut logits, true, hidden, weights);
        let of_user = |(row, &user): (&[f32], &u32)| self.positives(user, first, count).map(|at| f64::from(row[at])).sum::<f64>();
        let positives = logits.chunks_exact(count).zip(self.users).map(of_user).sum();
        let sums = logits.chunks_exact_mut(count).map(|row| exponentials(row, 1.0)).collect();
        Chunk { exponentials: logits, sums, positives }
    }

    /// A step of weights `[items, dim]` and bias by the mean of L over the users: the sum of L, and the derivatives of the mean by `hidden`.
    pub(super) fn step(&self, [weights, bias]: [&mut Parameter; 2], stepper: &Stepper) -> (f64, Vec<f32>) {
        let (dim, items) = (weights.values.dim, weights.values.rows);
        let size = chunk_items(items);
        let keeps = self.users.len() * items <= KEPT;
        let parts = weights.values.values.par_chunks(size * dim).zip(bias.values.values.par_chunks(size)).enumerate();
        let chunks: Vec<Chunk> = parts
            .map(|(at, (weights, bias))| {
                let mut chunk = self.chunk(at * size, weights, bias, dim);
                if !keeps {
                    chunk.exponentials = Vec::new();
                }
                chunk
            })
            .collect();
        let sums: Vec<(f32, f64)> = (0..self.users.len()).map(|user| total(chunks.iter().map(|chunk| chunk.sums[user]))).collect();
        let log_sum = |(user, &(max, sum)): (&u32, &(f32, f64))| self.train.row(*user as usize).len() as f64 * (f64::from(max) + sum.ln());
        let positives: f64 = chunks.iter().map(|chunk| chunk.positives).sum();
        let loss = self.users.iter().zip(&sums).map(log_sum).sum::<f64>() - positives;

        let share = 1.0 / self.users.len() as f64;
        let kept: Vec<OnceLock<Back>> = chunks.iter().map(|_| OnceLock::new()).collect();
        let (bias_values, chunks) = (&bias.values.values, &chunks);
        stepper.move_blocks(weights, size, |at, values, gradients, touched| {
            touched.fill(true);
            let (first, count) = (at * size, touched.len());
            let again = (!keeps).then(|| self.chunk(first, values, &bias_values[first..first + count], dim).exponentials);
            let mut derivatives = again.unwrap_or_else(|| chunks[at].exponentials.clone());
            for (place, (row, &user)) in derivatives.chunks_exact_mut(count).zip(self.users).enumerate() {
                let ((max, _), (all_max, all_sum)) = (chunks[at].sums[place], sums[place]);
                let count_of_user = self.train.row(user as usize).len() as f64;
                scale(row, (share * count_of_user * f64::from(max - all_max).exp() / all_sum) as f32);
                self.positives(user, first, count).for_each(|at| row[at] -= share as f32);
            }
            let (by_items, hidden) =
                (View { values: &derivatives, row: 1, column: count }, View { values: self.hidden, row: dim, column: 1 });
            multiply([count, self.users.len(), dim], gradients, false, by_items, hidden);
            let mut of_hidden = vec![0.0; self.hidden.len()];
            let by_users = View { values: &derivatives, row: count, column: 1 };
            multiply([self.users.len(), count, dim], &mut of_hidden, false, by_users, View { values, row: dim, column: 1 });
            let of_bias = column_sums(&derivatives, count);
            assert!(kept[at].set(Back { of_hidden, of_bias }).is_ok(), "a chunk is visited once");
        });
        let mut of_hidden = vec![0.0; self.hidden.len()];
        let mut of_bias = Vec::with_capacity(items);
        for back in kept.into_iter().map(|back| back.into_inner().expect("every chunk is visited")) {
            let rows = of_hidden.par_chunks_mut(dim).zip(back.of_hidden.par_chunks(dim));
            rows.for_each(|(sums, values)| sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value));
            of_bias.extend(back.of_bias);
        }
        stepper.move_by(bias, of_bias);
        (loss, of_hidden)
    }
}

/// The largest of some numbers, and the sum of exponentials below it, of parts that have theirs.
fn total(parts: impl Iterator<Item = (f32, f64)> + Clone) -> (f32, f64) {
    let max = parts.clone().map(|(max, _)| max).fold(f32::NEG_INFINITY, f32::max);
    (max, parts.map(|(own, sum)| sum * f64::from(own - max).exp()).sum())
}

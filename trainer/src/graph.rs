//! Propagation over the bipartite graph of users and items.
//!
//! ```text
//! E(k+1) = A E(k)        A_ui = 1 / sqrt(d_u d_i) for each train interaction, and A_iu = A_ui
//! P = (E(0) + A E(0) + ... + A^L E(0)) / (L + 1)
//! ```
//! In Horner's form, `Y = E; L times: Y = E + A Y; P = Y / (L + 1)`, which needs no layer but the last. P is a symmetric function
//! of A, so the gradient of E is the same propagation of the gradient of P. He et al., SIGIR 2020.

use crate::{scoring::neighbour_sum, tables::Tables};
use dataset::Interactions;
use rayon::prelude::*;

/// Rows of one parallel task.
const BLOCK: usize = 64;

/// The train interactions in both directions, with 1 / sqrt(degree) of each side.
pub(crate) struct Graph {
    by_user: Interactions,
    by_item: Interactions,
    user_scale: Vec<f32>,
    item_scale: Vec<f32>,
}

impl Graph {
    pub(crate) fn new(train: &Interactions, items: usize) -> Self {
        let by_item = train.transpose(items);
        let scale = |rows: &Interactions| (0..rows.users()).map(|row| 1.0 / (rows.row(row).len().max(1) as f32).sqrt()).collect();
        Self { user_scale: scale(train), item_scale: scale(&by_item), by_user: train.clone(), by_item }
    }

    /// `P` after `layers` propagations of the given vectors (users, items) into `out`; `spare` is overwritten.
    pub(crate) fn propagate(&self, (users, items): (&[f32], &[f32]), layers: u32, out: &mut Tables, spare: &mut Tables) {
        out.users.values.copy_from_slice(users);
        out.items.values.copy_from_slice(items);
        let dim = out.users.dim;
        for layer in 1..=layers {
            let scale = if layer == layers { 1.0 / (layers + 1) as f32 } else { 1.0 };
            let (user_scale, item_scale) = (&self.user_scale[..], &self.item_scale[..]);
            half(&self.by_user, (user_scale, item_scale), users, &out.items.values, &mut spare.users.values, dim, scale);
            half(&self.by_item, (item_scale, user_scale), items, &out.users.values, &mut spare.items.values, dim, scale);
            std::mem::swap(out, spare);
        }
    }
}

/// `out = scale * (start + D^-1/2 R D^-1/2 from)` for the rows of one side.
fn half(rows: &Interactions, (own, other): (&[f32], &[f32]), start: &[f32], from: &[f32], out: &mut [f32], dim: usize, scale: f32) {
    out.par_chunks_mut(BLOCK * dim).enumerate().for_each(|(block, out)| {
        for (at, out) in out.chunks_exact_mut(dim).enumerate() {
            let row = block * BLOCK + at;
            out.fill(0.0);
            neighbour_sum(from, rows.row(row), other, out);
            let start = &start[row * dim..][..dim];
            for (out, start) in out.iter_mut().zip(start) {
                *out = scale * (own[row] * *out + start);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dense matrices on users {0: (0, 1), 1: (1, 2), 2: (2, 3)}, one value a node.
    #[test]
    fn propagation_is_the_mean_of_the_powers_of_the_adjacency() {
        let train = Interactions::from_pairs(3, [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3)].into_iter());
        let start = [0.5f64, -1.0, 2.0, 1.0, 0.25, -0.5, 3.0];
        let mut adjacency = [[0.0f64; 7]; 7];
        let degree = [2.0f64, 2.0, 2.0, 1.0, 2.0, 2.0, 1.0];
        for (user, item) in train.pairs() {
            let (u, i) = (user as usize, item as usize + 3);
            adjacency[u][i] = 1.0 / (degree[u] * degree[i]).sqrt();
            adjacency[i][u] = adjacency[u][i];
        }
        let (mut power, mut total) = (start, start);
        for _ in 0..3 {
            power = std::array::from_fn(|row| (0..7).map(|column| adjacency[row][column] * power[column]).sum());
            for (total, power) in total.iter_mut().zip(power) {
                *total += power;
            }
        }
        let values: Vec<f32> = start.iter().map(|&value| value as f32).collect();
        let (mut out, mut spare) = (Tables::zeros(3, 4, 1), Tables::zeros(3, 4, 1));
        Graph::new(&train, 4).propagate((&values[..3], &values[3..]), 3, &mut out, &mut spare);
        for (value, total) in out.users.values.iter().chain(&out.items.values).zip(total) {
            assert!((f64::from(*value) - total / 4.0).abs() < 1e-6, "{value} {}", total / 4.0);
        }
    }
}

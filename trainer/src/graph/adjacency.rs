//! The train graph as an operation of candle: each node's vector becomes the weighted sum of its neighbours'.
//!
//! ```text
//! Y = A X        A_ui = A_iu = 1 / sqrt(d_u d_i) for each train interaction
//! ```
//! Users are the first nodes, items follow. A is symmetric, so that the gradient of X is A times the gradient of Y. A row is formed by one
//! thread in the order of its neighbours: the bits do not depend on the number of threads.

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor, WithDType, bail};
use dataset::Interactions;
use pulp::Arch;
use rayon::prelude::*;
use std::{
    ops::{AddAssign, Mul},
    sync::Arc,
};

/// Rows of one parallel task.
const BLOCK: usize = 64;

/// The symmetrically normalised adjacency of users and items, without self-loops.
#[derive(Clone)]
pub(crate) struct Adjacency(Arc<Edges>);

/// The neighbours of each node, ascending, and the weights of the edges to them.
struct Edges {
    /// `[nodes + 1]`
    starts: Vec<usize>,
    /// `[edges]`
    neighbours: Vec<u32>,
    /// `[edges]`
    weights: Vec<f32>,
}

impl Adjacency {
    /// Of the train interactions of all users with so many items.
    pub(crate) fn new(train: &Interactions, items: usize) -> Self {
        let (users, of_items) = (train.users(), train.transpose(items));
        let degree = |side: &Interactions, row: usize| side.row(row).len() as f64;
        let (mut starts, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
        for (side, other, first) in [(train, &of_items, users), (&of_items, train, 0)] {
            for row in 0..side.users() {
                neighbours.extend(side.row(row).iter().map(|&neighbour| first as u32 + neighbour));
                weights.extend(
                    side.row(row).iter().map(|&neighbour| (1.0 / (degree(side, row) * degree(other, neighbour as usize)).sqrt()) as f32),
                );
                starts.push(neighbours.len());
            }
        }
        Self(Arc::new(Edges { starts, neighbours, weights }))
    }

    /// Bytes that it needs.
    pub(crate) fn memory(nodes: u64, train: u64) -> u64 {
        nodes * 8 + 2 * train * 8
    }

    /// `A X` of `X [nodes, dim]`.
    ///
    /// # Errors
    /// When the shape does not fit.
    pub(crate) fn propagate(&self, nodes: &Tensor) -> Result<Tensor> {
        nodes.contiguous()?.apply_op1(self.clone())
    }

    fn nodes(&self) -> usize {
        self.0.starts.len() - 1
    }

    fn product<T: Number>(&self, from: &[T], dim: usize) -> Vec<T> {
        let mut to = vec![T::zero(); from.len()];
        to.par_chunks_mut(BLOCK * dim).enumerate().for_each(|(block, to)| T::rows(&self.0, block * BLOCK, from, to, dim));
        to
    }
}

/// What vectors are made of.
trait Number: WithDType {
    /// Some rows of the product, from `first` on.
    fn rows(edges: &Edges, first: usize, from: &[Self], to: &mut [Self], dim: usize);
}

impl Number for f32 {
    fn rows(edges: &Edges, first: usize, from: &[f32], to: &mut [f32], dim: usize) {
        Arch::new().dispatch(|| rows(edges, first, from, to, dim, |weight| weight));
    }
}

impl Number for f64 {
    fn rows(edges: &Edges, first: usize, from: &[f64], to: &mut [f64], dim: usize) {
        rows(edges, first, from, to, dim, f64::from);
    }
}

/// Rows of the product, as plain loops that the machine's instructions are found for.
#[inline(always)]
fn rows<T: Copy + AddAssign + Mul<Output = T>>(
    edges: &Edges,
    first: usize,
    from: &[T],
    to: &mut [T],
    dim: usize,
    weight_of: impl Fn(f32) -> T,
) {
    for (node, to) in (first..).zip(to.chunks_exact_mut(dim)) {
        let range = edges.starts[node]..edges.starts[node + 1];
        for (&neighbour, &weight) in edges.neighbours[range.clone()].iter().zip(&edges.weights[range]) {
            let (weight, from) = (weight_of(weight), &from[neighbour as usize * dim..][..dim]);
            to.iter_mut().zip(from).for_each(|(to, &from)| *to += weight * from);
        }
    }
}

impl CustomOp1 for Adjacency {
    fn name(&self) -> &'static str {
        "propagate"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let ((nodes, dim), offsets) = (layout.shape().dims2()?, layout.contiguous_offsets());
        let (Some((start, end)), true) = (offsets, nodes == self.nodes()) else {
            bail!("vectors of {nodes} nodes where the graph has {}", self.nodes())
        };
        let product = match storage {
            CpuStorage::F32(values) => CpuStorage::F32(self.product(&values[start..end], dim)),
            CpuStorage::F64(values) => CpuStorage::F64(self.product(&values[start..end], dim)),
            _ => bail!("vectors are f32 or f64"),
        };
        Ok((product, (nodes, dim).into()))
    }

    fn bwd(&self, _from: &Tensor, _to: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        self.propagate(gradient).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{Device, Var};

    /// Users 0 and 1, items 0, 1 and 2: user 0 has items 0 and 1, user 1 item 1; no one has item 2.
    fn small() -> Adjacency {
        Adjacency::new(&Interactions::from_pairs(2, [(0, 0), (0, 1), (1, 1)].into_iter()), 3)
    }

    /// By hand: 1 / sqrt(2 * 1) between user 0 and item 0, 1 / sqrt(2 * 2) between user 0 and item 1, 1 / sqrt(1 * 2) between user 1 and
    /// item 1.
    #[test]
    fn a_node_is_the_weighted_sum_of_its_neighbours() {
        let half = 0.5f64.sqrt();
        let expected = [[half * 3.0 + 0.5 * 4.0, 0.0], [half * 4.0, 0.0], [half, 1.0 * half * 10.0], [0.5 + half * 2.0, 5.0], [0.0, 0.0]];
        let nodes = [[1.0f64, 10.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [7.0, 7.0]];
        let found: Vec<Vec<f64>> = small().propagate(&Tensor::new(&nodes, &Device::Cpu).unwrap()).unwrap().to_vec2().unwrap();
        let single = Tensor::new(&nodes, &Device::Cpu).unwrap().to_dtype(candle_core::DType::F32).unwrap();
        let single: Vec<Vec<f32>> = small().propagate(&single).unwrap().to_vec2().unwrap();
        for ((found, single), expected) in found.concat().iter().zip(single.concat()).zip(expected.concat()) {
            assert!((found - expected).abs() < 1e-6 && (f64::from(single) - expected).abs() < 1e-6, "{found} {single} {expected}");
        }
    }

    /// The derivative of `sum(C * A X)` by X is `A C`, as A is symmetric: here one number at a time, by differences, which are exact.
    #[test]
    fn the_gradient_is_that_of_differences() {
        let nodes = Var::from_tensor(&Tensor::arange(0.0f64, 10.0, &Device::Cpu).unwrap().reshape((5, 2)).unwrap()).unwrap();
        let weights = Tensor::new(&[[1.0f64, -2.0], [0.5, 3.0], [4.0, 0.0], [-1.0, 1.0], [2.0, 2.0]], &Device::Cpu).unwrap();
        let total = |nodes: &Tensor| (small().propagate(nodes).unwrap() * &weights).unwrap().sum_all().unwrap();
        let gradients = total(&nodes).backward().unwrap();
        let found: Vec<f64> = gradients.get(&nodes).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        for (at, found) in found.into_iter().enumerate() {
            let moved = |by: f64| {
                let mut values: Vec<f64> = nodes.flatten_all().unwrap().to_vec1().unwrap();
                values[at] += by;
                total(&Tensor::from_vec(values, (5, 2), &Device::Cpu).unwrap()).to_scalar::<f64>().unwrap()
            };
            assert!((found - (moved(0.5) - moved(-0.5))).abs() < 1e-9, "{at}");
        }
    }

    #[test]
    fn vectors_of_another_graph_are_refused() {
        let message = small().propagate(&Tensor::zeros((4, 2), candle_core::DType::F32, &Device::Cpu).unwrap()).unwrap_err().to_string();
        assert!(message.contains("vectors of 4 nodes where the graph has 5"), "{message}");
    }
}

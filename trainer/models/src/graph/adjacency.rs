//! The train graph as an operation of candle: each node's vector becomes the weighted sum of its neighbours'.
//!
//! ```text
//! Y = A X
//! symmetric:        A_ui = A_iu = 1 / sqrt(d_u d_i) for each train interaction
//! with self-loops:  A_ui = A_iu = 1 / sqrt((d_u + 1) (d_i + 1)), and A_vv = 1 / (d_v + 1)
//! sum:              A_ui = A_iu = 1
//! mean of items:    A_ui = 1 / d_u, and A_iu = 0
//! ```
//! Users are the first nodes, items follow; of users who are attached (`links.rs`) A_iu is 0. The gradient of X is A, transposed, times the gradient of Y. A row is formed by one
//! thread in the order of its neighbours: the bits do not depend on the number of threads. Other devices than a CPU have the same of candle's own operations.

use super::{
    links::Links,
    weighted::{EdgeLists, Number, copy_memory},
};
use crate::{
    operations::{given, is_ours},
    segments::Segments,
};
use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor, bail};
use std::sync::{Arc, OnceLock};

/// Bytes of an edge elsewhere: neighbour and weight, and two places and a weight in each of the levels.
const OF_EDGE: u64 = 8 + 2 * 12;

/// A matrix over users and items.
#[derive(Clone)]
pub struct Adjacency {
    matrix: Arc<Weighted>,
    /// The transposed matrix: `matrix` itself where it is symmetric.
    transposed: Arc<Weighted>,
}

/// The neighbours of each node, ascending, and the weights of the edges to them.
struct Weighted {
    /// `[nodes + 1]`
    starts: Vec<usize>,
    /// `[edges]`
    neighbours: Vec<u32>,
    /// `[edges]`
    weights: Vec<f32>,
    /// The same on the device that asked first.
    elsewhere: OnceLock<AdjacencyTensors>,
}

/// A matrix in candle's operations.
struct AdjacencyTensors {
    segments: Segments,
    neighbours: Tensor,
    /// `[edges, 1]`
    weights: Tensor,
}

impl Adjacency {
    /// The matrix with weights by the degrees of both ends, without loops.
    pub fn symmetric(links: &Links) -> Self {
        Self::new(links, |one, other| 1.0 / (one * other).sqrt(), None)
    }

    /// The matrix with weights by the degrees of both ends and a loop at each node.
    pub fn with_self_loops(links: &Links) -> Self {
        Self::new(links, |one, other| 1.0 / ((one + 1.0) * (other + 1.0)).sqrt(), Some(|degree| 1.0 / (degree + 1.0)))
    }

    /// The bare interactions.
    pub fn sum(links: &Links) -> Self {
        Self::new(links, |_, _| 1.0, None)
    }

    /// The mean of a user's items; zeros for items, and for users without any.
    pub fn mean_of_items(links: &Links) -> Self {
        let [of_users, of_items] = links.sides();
        let (users, items) = (of_users.users(), of_items.users());
        let of_user = |user: usize| {
            let row = of_users.row(user);
            row.iter().map(|&item| (users as u32 + item, 1.0 / row.len() as f32)).collect::<Vec<_>>()
        };
        let matrix = Weighted::new((0..users).map(of_user).chain((0..items).map(|_| Vec::new())));
        Self { transposed: Arc::new(matrix.transposed()), matrix: Arc::new(matrix) }
    }

    /// The nodes that a node takes from.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        &self.matrix.neighbours[self.matrix.starts[node]..self.matrix.starts[node + 1]]
    }

    /// The square of each weight.
    pub fn squared(&self) -> Self {
        let squared = |matrix: &Weighted| {
            let weights = matrix.weights.iter().map(|weight| weight * weight).collect();
            let (starts, neighbours) = (matrix.starts.clone(), matrix.neighbours.clone());
            Arc::new(Weighted { starts, neighbours, weights, elsewhere: OnceLock::new() })
        };
        let matrix = squared(&self.matrix);
        let transposed = if Arc::ptr_eq(&self.matrix, &self.transposed) { matrix.clone() } else { squared(&self.transposed) };
        Self { matrix, transposed }
    }

    /// Links weighed by the degrees of their ends; a loop by its node's.
    fn new(links: &Links, weight: impl Fn(f64, f64) -> f64, of_loop: Option<fn(f64) -> f64>) -> Self {
        let sides @ [of_users, of_items] = links.sides();
        let (users, items) = (of_users.users(), of_items.users());
        let degree = |side: usize, row: usize| sides[side].row(row).len() as f64;
        let rows = |side: usize, row: usize| {
            let [own, first] = if side == 0 { [0, users] } else { [users, 0] };
            let itself = of_loop.map(|of_loop| ((own + row) as u32, of_loop(degree(side, row)) as f32));
            let others = sides[side].row(row).iter().map(|&neighbour| {
                let weight = weight(degree(side, row), degree(1 - side, neighbour as usize));
                (first as u32 + neighbour, weight as f32)
            });
            // A user stands before all items, an item after all users.
            itself.filter(|_| own == 0).into_iter().chain(others).chain(itself.filter(|_| own > 0)).collect::<Vec<_>>()
        };
        let matrix = Arc::new(Weighted::new((0..users).map(|row| rows(0, row)).chain((0..items).map(|row| rows(1, row)))));
        let transposed = if links.are_attached() { Arc::new(matrix.transposed()) } else { matrix.clone() };
        Self { matrix, transposed }
    }

    /// Bytes that it needs, with loops, or transposed, and for a product with `[nodes, dim]`.
    pub fn memory(nodes: u64, train: u64, dim: u64) -> u64 {
        2 * nodes * 8 + (2 * train + nodes) * 8 + copy_memory(nodes, dim)
    }

    /// Bytes of so many edges on another device than a CPU, with what a product with `[nodes, dim]` leaves at its peak: the rows of all edges as they are and weighed,
    /// and the first of the levels in which they are added up.
    pub fn elsewhere_memory(edges: u64, dim: u64) -> u64 {
        edges * (4 * dim * 4 + OF_EDGE)
    }

    /// `A X` of `X [nodes, dim]`.
    ///
    /// # Errors
    /// When the shape does not fit.
    pub fn propagate(&self, nodes: &Tensor) -> Result<Tensor> {
        if is_ours(nodes) { nodes.contiguous()?.apply_op1(self.clone()) } else { self.propagate_elsewhere(nodes) }
    }

    /// The same in candle's operations.
    fn propagate_elsewhere(&self, nodes: &Tensor) -> Result<Tensor> {
        let transposed = self.transposed.clone();
        given(nodes, &self.matrix.product_elsewhere(nodes)?, move |gradient| transposed.product_elsewhere(gradient))
    }

    fn nodes(&self) -> usize {
        self.matrix.starts.len() - 1
    }

    fn product<T: Number + From<f32>>(&self, from: &[T], dim: usize) -> Vec<T> {
        let Weighted { starts, neighbours: sources, weights, .. } = &*self.matrix;
        T::weighted_sums(EdgeLists { starts, sources }, |edge| weights[edge].into(), from, dim)
    }
}

impl Weighted {
    /// The neighbours of each node with their weights.
    fn new(rows: impl Iterator<Item = Vec<(u32, f32)>>) -> Self {
        let (mut starts, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            neighbours.extend(row.iter().map(|&(neighbour, _)| neighbour));
            weights.extend(row.iter().map(|&(_, weight)| weight));
            starts.push(neighbours.len());
        }
        Self { starts, neighbours, weights, elsewhere: OnceLock::new() }
    }

    /// The edges in the other direction, with the same weights.
    fn transposed(&self) -> Self {
        let mut rows = vec![Vec::new(); self.starts.len() - 1];
        for node in 0..rows.len() {
            let range = self.starts[node]..self.starts[node + 1];
            for (&neighbour, &weight) in self.neighbours[range.clone()].iter().zip(&self.weights[range]) {
                rows[neighbour as usize].push((node as u32, weight));
            }
        }
        Self::new(rows.into_iter())
    }

    /// The product with `[nodes, dim]` in candle's operations, without a graph back.
    fn product_elsewhere(&self, nodes: &Tensor) -> Result<Tensor> {
        let AdjacencyTensors { segments, neighbours, weights } = match self.elsewhere.get() {
            Some(found) => found,
            None => {
                let made = AdjacencyTensors {
                    segments: Segments::new(&self.starts, nodes.device(), nodes.dtype())?,
                    neighbours: Tensor::from_slice(&self.neighbours, self.neighbours.len(), nodes.device())?,
                    weights: Tensor::from_slice(&self.weights, (self.weights.len(), 1), nodes.device())?.to_dtype(nodes.dtype())?,
                };
                self.elsewhere.get_or_init(|| made)
            }
        };
        segments.sum(&nodes.detach().index_select(neighbours, 0)?.broadcast_mul(weights)?)
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
        Self { matrix: self.transposed.clone(), transposed: self.matrix.clone() }.propagate(gradient).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_derivatives, assert_same, matrix};
    use candle_core::Device;
    use dataset::Interactions;
    use testing::dataset_of;

    /// Users 0 and 1, items 0, 1 and 2: user 0 has items 0 and 1, user 1 item 1; no one has item 2.
    fn small() -> Adjacency {
        Adjacency::symmetric(&Links::train(&Interactions::from_pairs(2, [(0, 0), (0, 1), (1, 1)].into_iter()), 3))
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

    /// Degrees 2 and 1 of the users, 1, 2 and 0 of the items: loops weigh 1/3, 1/2, 1/2, 1/3 and 1, edges 1/sqrt(6), 1/3 and 1/sqrt(6).
    #[test]
    fn loops_and_sums_are_those_by_hand() {
        let train = Interactions::from_pairs(2, [(0, 0), (0, 1), (1, 1)].into_iter());
        let links = Links::train(&train, 3);
        let sixth = 1.0 / 6.0f64.sqrt();
        let (with_self_loops, sum) = (Adjacency::with_self_loops(&links), Adjacency::sum(&links));
        let squares =
            [1.0 / 9.0 + 3.0 / 6.0 + 4.0 / 9.0, 2.0 / 4.0 + 4.0 / 6.0, 1.0 / 6.0 + 3.0 / 4.0, 1.0 / 9.0 + 2.0 / 6.0 + 4.0 / 9.0, 5.0];
        for (adjacency, expected) in [
            (
                &with_self_loops,
                [1.0 / 3.0 + 3.0 * sixth + 4.0 / 3.0, 1.0 + 4.0 * sixth, sixth + 1.5, 1.0 / 3.0 + 2.0 * sixth + 4.0 / 3.0, 5.0],
            ),
            (&sum, [7.0, 4.0, 1.0, 3.0, 0.0]),
            (&Adjacency::mean_of_items(&links), [3.5, 4.0, 0.0, 0.0, 0.0]),
            (&with_self_loops.squared(), squares),
        ] {
            let nodes = Tensor::new(&[[1.0f64], [2.0], [3.0], [4.0], [5.0]], &Device::Cpu).unwrap();
            let found: Vec<f64> = adjacency.propagate(&nodes).unwrap().flatten_all().unwrap().to_vec1().unwrap();
            assert!(
                found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6),
                "{found:?} {expected:?}"
            );
        }
    }

    /// User 2 is attached by item 1; item 2, which nobody has, is no neighbour. The degrees of the items are those of train.
    fn attached() -> dataset::Dataset {
        let fold_in = Interactions::from_pairs(3, [(2, 1), (2, 2)].into_iter());
        dataset::Dataset { fold_in: Some(fold_in), ..dataset_of([3, 3], &[(0, 0), (0, 1), (1, 1)]) }
    }

    #[test]
    fn an_attached_user_is_reached_and_reaches_nobody() {
        let nodes = Tensor::new(&[[1.0f64], [2.0], [6.0], [3.0], [4.0], [5.0]], &Device::Cpu).unwrap();
        let (links, half) = (attached(), 0.5f64.sqrt());
        let links = Links::of(&links);
        for (adjacency, expected) in [
            (Adjacency::symmetric(&links), [half * 3.0 + 2.0, half * 4.0, half * 4.0, half, 0.5 + half * 2.0, 0.0]),
            (Adjacency::sum(&links), [7.0, 4.0, 4.0, 1.0, 3.0, 0.0]),
            (Adjacency::mean_of_items(&links), [3.5, 4.0, 4.0, 0.0, 0.0, 0.0]),
        ] {
            let found: Vec<f64> = adjacency.propagate(&nodes).unwrap().flatten_all().unwrap().to_vec1().unwrap();
            assert!(
                found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6),
                "{found:?} {expected:?}"
            );
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        let train = Interactions::from_pairs(2, [(0, 0), (0, 1), (1, 1)].into_iter());
        let links = Links::train(&train, 3);
        let of_nodes = |adjacency: &Adjacency| {
            let weights = matrix([adjacency.nodes(), 2], |number| (0.4 + 1.3 * number).sin());
            let total = |given: &[Tensor]| (adjacency.propagate(&given[0]).unwrap() * &weights).unwrap().sum_all().unwrap();
            assert_derivatives(total, &[matrix([adjacency.nodes(), 2], |number| number)]);
        };
        [small(), Adjacency::with_self_loops(&links), Adjacency::mean_of_items(&links)].iter().for_each(of_nodes);
        of_nodes(&Adjacency::with_self_loops(&Links::of(&attached())));
    }

    /// Also of a graph without an edge.
    #[test]
    fn other_devices_have_the_same_values_and_derivatives() {
        let train = Interactions::from_pairs(2, [(0, 0), (0, 1), (1, 1)].into_iter());
        let links = Links::train(&train, 3);
        let none = Adjacency::symmetric(&Links::train(&Interactions::empty(2), 3));
        for adjacency in [small(), Adjacency::with_self_loops(&links), Adjacency::mean_of_items(&links), small().squared(), none] {
            let elsewhere = |given: &[Tensor]| adjacency.propagate_elsewhere(&given[0]);
            assert_same(elsewhere, |given| adjacency.propagate(&given[0]), &[matrix([5, 2], |number| (0.4 + 1.3 * number).sin())]);
        }
    }

    #[test]
    fn vectors_of_another_graph_are_refused() {
        let message = small().propagate(&Tensor::zeros((4, 2), candle_core::DType::F32, &Device::Cpu).unwrap()).unwrap_err().to_string();
        assert!(message.contains("vectors of 4 nodes where the graph has 5"), "{message}");
    }
}

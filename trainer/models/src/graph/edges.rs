//! The edges of the train graph, each in both directions, as operations of candle: for models whose edges have weights of their own.
//!
//! ```text
//! at_targets(x)_e = x_v      at_sources(x)_e = x_u      sum(w)_v = sum of w_e over the edges e of v      softmax: of w_e over them
//! propagate(w, X)_v = sum of w_e X_u                    dots(X, Y)_e = X_v . Y_u                         for e from u to v
//! ```
//! Users are the first nodes, items follow; a node may have an edge to itself. Users who are attached (`links.rs`) have edges in one direction alone, and graphs with such users no way
//! back. The operations are each other's derivatives, so that all of them
//! can be derived by any of their values. Other devices than a CPU have them of candle's own operations. A node's sums are formed by one thread in the order of its edges: the bits do not depend on the
//! number of threads.

mod attention;
mod dots;
mod elsewhere;

use super::{
    links::Links,
    weighted::{EdgeLists, Number, copy_memory},
};
use crate::operations::{is_ours, leaky_relu};
use attention::Attention;
use candle_core::{CpuStorage, CustomOp1, CustomOp2, Layout, Result, Shape, Tensor, WithDType, bail};
use dots::Dots;
use elsewhere::Elsewhere;
use rayon::prelude::*;
use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

/// Nodes of one parallel task.
const BLOCK: usize = 64;

/// The edges, those of a node side by side and ascending by where they come from.
#[derive(Clone)]
pub struct Edges(Arc<Structure>);

struct Structure {
    /// `[nodes + 1]`
    starts: Vec<usize>,
    /// Where each edge comes from, `[edges]`.
    sources: Vec<u32>,
    /// The edge in the other direction, `[edges]`; nothing where some have none.
    reverse: Vec<u32>,
    /// The same on the device that asked first.
    elsewhere: OnceLock<Arc<Elsewhere>>,
}

impl Edges {
    /// The links of users with items, and an edge from each node to itself if there are to be loops.
    pub fn new(links: &Links, loops: bool) -> Self {
        let [of_users, of_items] = links.sides();
        let users = of_users.users();
        let (mut starts, mut sources) = (vec![0], Vec::new());
        for (side, first, other) in [(of_users, 0, users), (of_items, users, 0)] {
            for row in 0..side.users() {
                let neighbours = side.row(row).iter().map(|&neighbour| other as u32 + neighbour);
                let own = loops.then_some((first + row) as u32);
                // A user stands before all items, an item after all users.
                sources.extend(own.filter(|_| first == 0).into_iter().chain(neighbours).chain(own.filter(|_| first > 0)));
                starts.push(sources.len());
            }
        }
        let reverse = if links.are_attached() { Vec::new() } else { reverse(&starts, &sources) };
        Self(Arc::new(Structure { starts, sources, reverse, elsewhere: OnceLock::new() }))
    }

    /// Bytes that they need, and for a sum of vectors `[nodes, dim]`.
    pub fn memory([users, items, train]: [u64; 3], loops: bool, dim: u64) -> u64 {
        let nodes = users + items;
        nodes * 8 + Self::count([users, items, train], loops) * 8 + copy_memory(nodes, dim)
    }

    /// How many edges there are of so many users, items and train interactions.
    pub fn count([users, items, train]: [u64; 3], loops: bool) -> u64 {
        2 * train + u64::from(loops) * (users + items)
    }

    /// How many edges there are.
    pub fn number(&self) -> usize {
        self.0.sources.len()
    }

    /// The edges of a node.
    pub fn of(&self, node: usize) -> Range<usize> {
        self.0.starts[node]..self.0.starts[node + 1]
    }

    fn nodes(&self) -> usize {
        self.0.starts.len() - 1
    }

    /// The value of the node that each edge leads to, `[edges]` of `[nodes]`.
    ///
    /// # Errors
    /// When the shape does not fit.
    pub fn at_targets(&self, nodes: &Tensor) -> Result<Tensor> {
        self.apply(nodes, Kind::AtTargets)
    }

    /// The value of the node that each edge comes from, `[edges]` of `[nodes]`.
    ///
    /// # Errors
    /// When the shape does not fit.
    pub fn at_sources(&self, nodes: &Tensor) -> Result<Tensor> {
        self.apply(nodes, Kind::AtSources)
    }

    /// The sum over the edges that lead to each node, `[nodes]` of `[edges]`.
    ///
    /// # Errors
    /// When the shape does not fit.
    pub fn sum(&self, edges: &Tensor) -> Result<Tensor> {
        self.apply(edges, Kind::Sum)
    }

    /// The softmax over the edges that lead to each node, `[edges]` of `[edges]`.
    ///
    /// # Errors
    /// When the shape does not fit.
    pub fn softmax(&self, edges: &Tensor) -> Result<Tensor> {
        self.apply(edges, Kind::Softmax)
    }

    /// The softmax, over the edges that lead to each node, of the leaky ReLU of the sum of a number of the source and one of the target, `[edges]` of
    /// `[nodes]` each.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn attention(&self, sources: &Tensor, targets: &Tensor, slope: f64) -> Result<Tensor> {
        if !is_ours(sources) {
            return self.softmax(&leaky_relu(&(self.at_sources(sources)? + self.at_targets(targets)?)?, slope)?);
        }
        sources.contiguous()?.apply_op2(&targets.contiguous()?, Attention { edges: self.clone(), slope })
    }

    /// The weighted sum of the vectors of each node's neighbours, `[nodes, dim]` of weights `[edges]` and vectors `[nodes, dim]`.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn propagate(&self, weights: &Tensor, nodes: &Tensor) -> Result<Tensor> {
        if !is_ours(nodes) {
            return self.propagate_elsewhere(weights, nodes);
        }
        weights.contiguous()?.apply_op2(&nodes.contiguous()?, EdgePropagation { edges: self.clone(), reversed: false })
    }

    /// The product of the vectors of each edge's two nodes, `[edges]` of vectors `[nodes, dim]` of targets and of sources.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn dots(&self, targets: &Tensor, sources: &Tensor) -> Result<Tensor> {
        if !is_ours(targets) {
            return self.dots_elsewhere(targets, sources);
        }
        targets.contiguous()?.apply_op2(&sources.contiguous()?, Dots(self.clone()))
    }

    fn apply(&self, values: &Tensor, kind: Kind) -> Result<Tensor> {
        if !is_ours(values) {
            return self.apply_elsewhere(values, kind);
        }
        values.contiguous()?.apply_op1(Single { edges: self.clone(), kind })
    }

    /// `value(node, edge)` for all edges.
    fn of_edges<T: WithDType>(&self, value: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
        let mut out = vec![T::zero(); self.number()];
        self.par_nodes(&mut out, |node, edges, out| {
            for (edge, out) in edges.zip(out) {
                *out = value(node, edge);
            }
        });
        out
    }

    /// `write(node, edges, values)` for each node and its part of the values of all edges, in parallel.
    fn par_nodes<T: Send>(&self, mut values: &mut [T], write: impl Fn(usize, Range<usize>, &mut [T]) + Sync) {
        let mut blocks = Vec::with_capacity(self.nodes().div_ceil(BLOCK));
        for first in (0..self.nodes()).step_by(BLOCK) {
            let nodes = first..self.nodes().min(first + BLOCK);
            let (block, rest) = values.split_at_mut(self.0.starts[nodes.end] - self.0.starts[first]);
            blocks.push((nodes, block));
            values = rest;
        }
        blocks.into_par_iter().for_each(|(nodes, mut values)| {
            for node in nodes {
                let edges = self.of(node);
                let (own, rest) = values.split_at_mut(edges.len());
                write(node, edges, own);
                values = rest;
            }
        });
    }

    /// `value(node)` for all nodes.
    fn of_nodes<T: Send + Sync>(&self, value: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
        (0..self.nodes()).into_par_iter().with_min_len(BLOCK).map(value).collect()
    }
}

/// The edge in the other direction of each edge.
fn reverse(starts: &[usize], sources: &[u32]) -> Vec<u32> {
    let mut next = starts.to_vec();
    let mut reverse = vec![0; sources.len()];
    for target in 0..starts.len() - 1 {
        for edge in starts[target]..starts[target + 1] {
            // Targets ascend, as the sources of a node do: this is the next edge of the source that is not found yet.
            let other = &mut next[sources[edge] as usize];
            reverse[edge] = *other as u32;
            *other += 1;
        }
    }
    reverse
}

/// The values of a tensor that lies as one piece.
fn values<'a, T: WithDType>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [T]> {
    let Some((start, end)) = layout.contiguous_offsets() else { bail!("values of edges and nodes lie as one piece") };
    Ok(&storage.as_slice::<T>()?[start..end])
}

fn expect(what: &str, found: usize, expected: usize) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => bail!("{found} values of {what} where the graph has {expected}"),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    AtTargets,
    AtSources,
    Sum,
    Softmax,
}

/// An operation on one number of each node or edge.
struct Single {
    edges: Edges,
    kind: Kind,
}

impl Single {
    fn forward<T: WithDType>(&self, from: &[T]) -> Result<(CpuStorage, Shape)> {
        let Self { edges, kind } = self;
        match kind {
            Kind::AtTargets | Kind::AtSources => expect("nodes", from.len(), edges.nodes())?,
            Kind::Sum | Kind::Softmax => expect("edges", from.len(), edges.number())?,
        }
        let to = match kind {
            Kind::AtTargets => edges.of_edges(|node, _| from[node]),
            Kind::AtSources => edges.of_edges(|_, edge| from[edges.0.sources[edge] as usize]),
            Kind::Sum => edges.of_nodes(|node| from[edges.of(node)].iter().fold(T::zero(), |sum, &value| sum + value)),
            Kind::Softmax => {
                let mut to = from.to_vec();
                edges.par_nodes(&mut to, |_, _, values| softmax(values));
                to
            }
        };
        let shape = Shape::from(to.len());
        Ok((T::to_cpu_storage_owned(to), shape))
    }
}

fn softmax<T: WithDType>(values: &mut [T]) {
    let largest = values.iter().map(|value| value.to_f64()).fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for value in &mut *values {
        let exponential = (value.to_f64() - largest).exp();
        sum += exponential;
        *value = T::from_f64(exponential);
    }
    values.iter_mut().for_each(|value| *value = T::from_f64(value.to_f64() / sum));
}

impl CustomOp1 for Single {
    fn name(&self) -> &'static str {
        "edges"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        match storage {
            CpuStorage::F32(_) => self.forward(values::<f32>(storage, layout)?),
            CpuStorage::F64(_) => self.forward(values::<f64>(storage, layout)?),
            _ => bail!("values of edges and nodes are f32 or f64"),
        }
    }

    fn bwd(&self, _from: &Tensor, to: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let edges = &self.edges;
        let gradient = match self.kind {
            Kind::AtTargets => edges.sum(gradient)?,
            Kind::AtSources => edges.sum_at_sources(gradient)?,
            Kind::Sum => edges.at_targets(gradient)?,
            Kind::Softmax => {
                let along = edges.at_targets(&edges.sum(&(to * gradient)?)?)?;
                (to * (gradient - along)?)?
            }
        };
        Ok(Some(gradient))
    }
}

impl Edges {
    /// The sum over the edges that come from each node, `[nodes]` of `[edges]`.
    fn sum_at_sources(&self, edges: &Tensor) -> Result<Tensor> {
        self.propagate_reversed(edges, &Tensor::ones((self.nodes(), 1), edges.dtype(), edges.device())?)?.squeeze(1)
    }

    /// The weighted sum, for each node, of the vectors of the nodes that its edges lead to.
    fn propagate_reversed(&self, weights: &Tensor, nodes: &Tensor) -> Result<Tensor> {
        weights.contiguous()?.apply_op2(&nodes.contiguous()?, EdgePropagation { edges: self.clone(), reversed: true })
    }
}

/// The weighted sum of neighbours' vectors, by the weights of a node's edges or of their reverses.
struct EdgePropagation {
    edges: Edges,
    reversed: bool,
}

impl EdgePropagation {
    fn forward<T: Number>(&self, weights: &[T], from: &[T], dim: usize) -> Result<(CpuStorage, Shape)> {
        let Self { edges, reversed } = self;
        expect("edges", weights.len(), edges.number())?;
        expect("nodes", from.len() / dim, edges.nodes())?;
        if *reversed {
            expect("edges in the other direction", edges.0.reverse.len(), edges.number())?;
        }
        let Structure { starts, sources, reverse, .. } = &*edges.0;
        let lists = EdgeLists { starts, sources };
        let to = match reversed {
            true => T::weighted_sums(lists, |edge| weights[reverse[edge] as usize], from, dim),
            false => T::weighted_sums(lists, |edge| weights[edge], from, dim),
        };
        Ok((T::to_cpu_storage_owned(to), Shape::from((edges.nodes(), dim))))
    }
}

impl CustomOp2 for EdgePropagation {
    fn name(&self) -> &'static str {
        "propagate-edges"
    }

    fn cpu_fwd(&self, weights: &CpuStorage, of_weights: &Layout, nodes: &CpuStorage, of_nodes: &Layout) -> Result<(CpuStorage, Shape)> {
        let (_, dim) = of_nodes.shape().dims2()?;
        match nodes {
            CpuStorage::F32(_) => self.forward(values::<f32>(weights, of_weights)?, values::<f32>(nodes, of_nodes)?, dim),
            CpuStorage::F64(_) => self.forward(values::<f64>(weights, of_weights)?, values::<f64>(nodes, of_nodes)?, dim),
            _ => bail!("vectors are f32 or f64"),
        }
    }

    fn bwd(&self, weights: &Tensor, nodes: &Tensor, _to: &Tensor, gradient: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let edges = &self.edges;
        let of_weights = if self.reversed { edges.dots(nodes, gradient)? } else { edges.dots(gradient, nodes)? };
        let of_nodes = if self.reversed { edges.propagate(weights, gradient)? } else { edges.propagate_reversed(weights, gradient)? };
        Ok((Some(of_weights), Some(of_nodes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_derivatives, matrix};
    use candle_core::Device;
    use dataset::Interactions;
    use std::slice;

    /// Users 0 and 1, items 0, 1 and 2, which are nodes 2, 3 and 4: user 0 has items 0 and 1, user 1 item 1; no one has item 2.
    fn small(loops: bool) -> Edges {
        Edges::new(&Links::train(&Interactions::from_pairs(2, [(0, 0), (0, 1), (1, 1)].into_iter()), 3), loops)
    }

    fn vector(values: &[f64]) -> Tensor {
        Tensor::new(values, &Device::Cpu).unwrap()
    }

    fn list(tensor: Tensor) -> Vec<f64> {
        tensor.flatten_all().unwrap().to_vec1().unwrap()
    }

    /// Edges of user 0 from nodes 2 and 3, of user 1 from 3, of item 0 from 0, of item 1 from 0 and 1.
    #[test]
    fn operations_are_those_by_hand() {
        let edges = small(false);
        assert_eq!((edges.0.sources.as_slice(), edges.0.starts.as_slice()), ([2, 3, 3, 0, 0, 1].as_slice(), [0, 2, 3, 4, 6, 6].as_slice()));
        assert_eq!(edges.0.reverse, [3, 4, 5, 0, 1, 2]);
        let nodes = vector(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(list(edges.at_targets(&nodes).unwrap()), [1.0, 1.0, 2.0, 3.0, 4.0, 4.0]);
        assert_eq!(list(edges.at_sources(&nodes).unwrap()), [3.0, 4.0, 4.0, 1.0, 1.0, 2.0]);
        let weights = vector(&[0.5, 1.0, 2.0, 3.0, -1.0, 4.0]);
        assert_eq!(list(edges.sum(&weights).unwrap()), [1.5, 2.0, 3.0, 3.0, 0.0]);
        let column = nodes.unsqueeze(1).unwrap();
        assert_eq!(list(edges.propagate(&weights, &column).unwrap()), [0.5 * 3.0 + 4.0, 8.0, 3.0, -1.0 + 8.0, 0.0]);
        assert_eq!(list(edges.propagate_reversed(&weights, &column).unwrap()), [9.0 - 4.0, 16.0, 0.5, 1.0 + 4.0, 0.0]);
        assert_eq!(list(edges.dots(&column, &column).unwrap()), [3.0, 4.0, 8.0, 3.0, 4.0, 8.0]);
        let shares = list(edges.softmax(&vector(&[0.0, 3.0f64.ln(), 7.0, -700.0, 1000.0, 1000.0])).unwrap());
        for (share, expected) in shares.iter().zip([0.25, 0.75, 1.0, 1.0, 0.5, 0.5]) {
            assert!((share - expected).abs() < 1e-12, "{shares:?}");
        }
    }

    #[test]
    fn a_loop_stands_in_the_order_of_the_nodes() {
        let edges = small(true);
        assert_eq!(edges.0.sources, [0, 2, 3, 1, 3, 0, 2, 0, 1, 3, 4]);
        let reversed: Vec<u32> = edges.0.reverse.iter().map(|&edge| edges.0.reverse[edge as usize]).collect();
        assert_eq!(reversed, (0..11).collect::<Vec<u32>>());
        assert_eq!(Edges::count([2, 3, 3], true), 11);
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let edges = small(true);
        let number = |salt: f64| move |at: f64| (salt + 1.3 * at).sin();
        let weigh = |tensor: Tensor| {
            (&tensor * matrix([1, tensor.elem_count()], number(0.4)).reshape(tensor.shape()).unwrap()).unwrap().sum_all().unwrap()
        };
        let nodes = matrix([5, 1], number(1.0)).squeeze(1).unwrap();
        let of_edges = matrix([11, 1], number(2.0)).squeeze(1).unwrap();
        let (vectors, others) = (matrix([5, 3], number(3.0)), matrix([5, 3], number(4.0)));
        assert_derivatives(|given| weigh(edges.at_targets(&given[0]).unwrap()), slice::from_ref(&nodes));
        assert_derivatives(|given| weigh(edges.at_sources(&given[0]).unwrap()), slice::from_ref(&nodes));
        let of_targets = matrix([5, 1], number(5.0)).squeeze(1).unwrap();
        assert_derivatives(|given| weigh(edges.attention(&given[0], &given[1], 0.2).unwrap()), &[nodes, of_targets]);
        assert_derivatives(|given| weigh(edges.sum(&given[0]).unwrap()), slice::from_ref(&of_edges));
        assert_derivatives(|given| weigh(edges.softmax(&given[0]).unwrap()), slice::from_ref(&of_edges));
        assert_derivatives(|given| weigh(edges.propagate(&given[0], &given[1]).unwrap()), &[of_edges.clone(), vectors.clone()]);
        assert_derivatives(|given| weigh(edges.propagate_reversed(&given[0], &given[1]).unwrap()), &[of_edges, vectors.clone()]);
        assert_derivatives(|given| weigh(edges.dots(&given[0], &given[1]).unwrap()), &[vectors, others]);
    }

    #[test]
    fn values_of_another_graph_are_refused() {
        let message = small(false).sum(&vector(&[1.0; 5])).unwrap_err().to_string();
        assert!(message.contains("5 values of edges where the graph has 6"), "{message}");
    }
}

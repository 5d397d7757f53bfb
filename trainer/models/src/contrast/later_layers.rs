//! The mean of the layers after layer 0, forward and back, with noise or without.
//!
//! ```text
//! P = (A E + ... + A^L E) / L = A (E + A E + ... + A^(L-1) E) / L
//! ```
//! A is symmetric, so that a gradient goes back by the same product. Noise has no derivative: the way back of a view is that of vectors without.

use super::{Perturb, SomeRows};
use crate::{Sizes, encoder::TrainStep, graph::Graph, noise::Keyed};
use dataset::Dataset;
use embeddings::{RowGradients, Tables};
use rayon::prelude::*;
use streams::Purpose;
use vectors::Matrix;

/// Rows of one parallel task.
const BLOCK: usize = 64;

/// The graph, and what a view is made of.
pub(crate) struct LaterLayers {
    /// The graph of one layer less.
    graph: Graph,
    count: u32,
    perturb: Perturb,
    seed: u64,
    /// The layer that a view is at.
    current: Tables,
}

/// A layer of a view.
pub(crate) struct Kept<'a> {
    /// The layer, counted from 1.
    pub(crate) layer: u32,
    pub(crate) vectors: &'a mut Tables,
}

impl LaterLayers {
    /// `count` layers, at least one, of vectors of `dim` numbers.
    pub(crate) fn new(dataset: &Dataset, [count, dim]: [u32; 2], perturb: Perturb, seed: u64) -> Self {
        let (users, items) = (dataset.users(), dataset.items());
        let graph = Graph::new(&dataset.train, items, count - 1);
        Self { graph, count, perturb, seed, current: Tables::zeros(users, items, dim as usize) }
    }

    /// Bytes of the train interactions from both sides, strips of two tables, and the layer that a view is at.
    pub(crate) fn memory(Sizes { users, items, train, .. }: Sizes, dim: u64) -> u64 {
        Graph::memory([users, items, train], dim) + (users + items) * dim * 4
    }

    /// P without noise, in the wanted rows.
    pub(crate) fn forward(&mut self, tables: [&Matrix; 2], wanted: [Option<&[bool]>; 2], out: &mut Tables) {
        self.graph.forward(tables, [None; 2], out);
        self.graph.advance([&mut out.users, &mut out.items], wanted);
    }

    /// P of a numbered view, each layer of which is made from the one before it with its noise; in the wanted rows.
    pub(crate) fn view(
        &mut self,
        tables: [&Matrix; 2],
        view: u32,
        step: &TrainStep,
        wanted: [Option<&[bool]>; 2],
        out: &mut Tables,
        mut kept: Option<Kept>,
    ) {
        let Self { graph, count, perturb, seed, current } = self;
        current.copy_from(tables);
        for layer in 1..=*count {
            graph.advance([&mut current.users, &mut current.items], if layer == *count { wanted } else { [None; 2] });
            let keyed = Keyed { seed: *seed, purpose: Purpose::Noise, place: view * *count + layer - 1, first: 0 };
            let users = current.users.rows;
            let sides = [(&mut current.users, &mut out.users, 0), (&mut current.items, &mut out.items, users)];
            for ((current, out, first), wanted) in sides.into_iter().zip(wanted) {
                let layer = Layer { number: layer, of: *count, perturb: *perturb, keyed: Keyed { first, ..keyed }, wanted };
                layer.finish(step, current, out);
            }
            if let Some(kept) = kept.as_mut().filter(|kept| kept.layer == layer) {
                kept.vectors.clone_from(current);
            }
        }
    }

    /// Turns gradients of P, and of some rows of a layer, into those of the tables.
    pub(crate) fn backward(&mut self, [users, items]: [&mut RowGradients; 2], layer: Option<(u32, &[SomeRows; 2])>) {
        let (graph, dim) = (&mut self.graph, users.dim());
        graph.backward([&mut *users, &mut *items], dim);
        if let Some((layer, rows)) = layer {
            let mut of_layer = [RowGradients::new(self.current.users.rows, dim), RowGradients::new(self.current.items.rows, dim)];
            rows.iter().zip(&mut of_layer).for_each(|(rows, gradients)| rows.add_to(gradients));
            for _ in 1..layer {
                graph.advance_gradients(of_layer.each_mut(), dim);
            }
            for (gradients, of_layer) in [&mut *users, &mut *items].into_iter().zip(&of_layer) {
                gradients.add_all(of_layer);
            }
        }
        graph.advance_gradients([users, items], dim);
    }
}

/// A layer of one side of a view.
struct Layer<'a> {
    number: u32,
    of: u32,
    perturb: Perturb,
    keyed: Keyed,
    wanted: Option<&'a [bool]>,
}

impl Layer<'_> {
    /// Adds the noise, and the layer to the mean; of the last layer and of the mean the wanted rows alone.
    fn finish(&self, step: &TrainStep, current: &mut Matrix, out: &mut Matrix) {
        let (dim, is_last) = (current.dim, self.number == self.of);
        let blocks = current.values.par_chunks_mut(BLOCK * dim).zip(out.values.par_chunks_mut(BLOCK * dim)).enumerate();
        blocks.for_each_init(
            || vec![0.0; dim],
            |room, (block, (current, out))| {
                for (row, (vector, out)) in (block * BLOCK..).zip(current.chunks_exact_mut(dim).zip(out.chunks_exact_mut(dim))) {
                    let is_wanted = self.wanted.is_none_or(|wanted| wanted[row]);
                    if is_wanted || !is_last {
                        self.perturb.apply(&mut self.keyed.stream(step, row), vector, room);
                    }
                    if is_wanted {
                        self.add(vector, out);
                    }
                }
            },
        );
    }

    fn add(&self, vector: &[f32], mean: &mut [f32]) {
        if self.number == 1 {
            mean.copy_from_slice(vector);
        } else {
            mean.iter_mut().zip(vector).for_each(|(mean, value)| *mean += value);
        }
        if self.number == self.of {
            mean.iter_mut().for_each(|mean| *mean /= self.of as f32);
        }
    }
}

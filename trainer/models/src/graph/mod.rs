//! Propagation over the bipartite graph of users and items.
//!
//! ```text
//! E(k+1) = A E(k)        A_ui = 1 / sqrt(d_u d_i) for each train interaction, and A_iu = A_ui
//! P = (E(0) + A E(0) + ... + A^L E(0)) / (L + 1)
//! ```
//! In Horner's form, `Y = E; L times: Y = E + A Y; P = Y / (L + 1)`. With the degrees D and the bare interactions R,
//! `A = D^-1/2 R D^-1/2`, so that `Z = D^-1/2 Y` needs no weight on an edge:
//!
//! ```text
//! S = D^-1/2 E        Z = S; L times: Z = S + D^-1 R Z        P = D^1/2 Z / (L + 1)
//! ```
//! R leads from one side to the other, so that the vectors of a side come from one chain of halves: the other side's, its own, and so
//! on. P is a symmetric function of A, so the gradient of E is the same propagation of the gradient of P. Two halves of each chain are
//! cut short without a change of a bit: forward, the last one to the rows that are wanted; backward, the first one to the neighbours
//! that have a gradient. He et al., SIGIR 2020.

mod adjacency;
mod edges;
mod links;
mod neighbours;
mod rows;
#[cfg(test)]
mod tests;
mod weighted;

pub use adjacency::Adjacency;
pub use edges::Edges;
pub use links::Links;

use dataset::Interactions;
use embeddings::{RowGradients, Tables};
use neighbours::{Neighbours, Reached};
use rayon::prelude::*;
use rows::{BLOCK, Row, Rows, load, on_lines, store, strip_memory, strips, zero};
use std::ops::Range;
use vectors::Matrix;

/// The two sides; the other one of `side` is `1 - side`.
const SIDES: [usize; 2] = [0, 1];

/// The train interactions from both sides, and room for a strip of the vectors.
pub struct Graph {
    layers: u32,
    sides: [GraphSide; 2],
    reached: [Reached; 2],
    strip: Strip,
}

/// The users or the items.
struct GraphSide {
    neighbours: Interactions,
    /// 1 / degree
    inverse: Vec<f32>,
    /// sqrt(degree)
    root: Vec<f32>,
}

/// Some columns of the vectors of both sides.
#[derive(Default)]
struct Strip {
    /// S
    start: [Rows; 2],
    /// Z
    current: [Rows; 2],
}

impl Graph {
    /// Makes the graph of train interactions, over which vectors are propagated `layers` times.
    pub fn new(train: &Interactions, items: usize, layers: u32) -> Self {
        let sides = [GraphSide::new(train.clone()), GraphSide::new(train.transpose(items))];
        Self { layers, sides, reached: Default::default(), strip: Strip::default() }
    }

    /// Bytes of the train interactions from both sides, of what rows are scaled by, and of two strips of a table.
    pub fn memory([users, items, train]: [u64; 3], dim: u64) -> u64 {
        let rows = users + items;
        2 * strip_memory(rows, dim) + 2 * train * 4 + rows * (8 + 2 * 4)
    }

    /// P of the tables, in the rows of users and items that are `wanted`; the other rows are left as they are.
    pub fn forward(&mut self, tables: [&Matrix; 2], wanted: [Option<&[bool]>; 2], out: &mut Tables) {
        if self.layers == 0 {
            return out.copy_from(tables);
        }
        let mut out = [&mut out.users, &mut out.items];
        for columns in strips(tables[0].dim) {
            on_lines!(self.forward_strip(columns, tables, wanted, &mut out));
        }
    }

    /// `A X` in place of the rows `X [rows, dim]` of users and of items that are `wanted`; the other rows are left as they are.
    pub fn advance(&mut self, tables: [&mut Matrix; 2], wanted: [Option<&[bool]>; 2]) {
        let dim = tables[0].dim;
        self.advance_rows(tables.map(|table| table.values.as_mut_slice()), dim, wanted);
    }

    /// `A G` in place of the gradients of `dim` columns: those of X from those of `A X`.
    pub fn advance_gradients(&mut self, gradients: [&mut RowGradients; 2], dim: usize) {
        self.advance_rows(gradients.map(RowGradients::fill), dim, [None; 2]);
    }

    fn advance_rows(&mut self, mut tables: [&mut [f32]; 2], dim: usize, wanted: [Option<&[bool]>; 2]) {
        for columns in strips(dim) {
            on_lines!(self.advance_strip(columns, &mut tables, dim, wanted));
        }
    }

    fn advance_strip<const V: usize>(
        &mut self,
        columns: Range<usize>,
        tables: &mut [&mut [f32]; 2],
        dim: usize,
        wanted: [Option<&[bool]>; 2],
    ) {
        let Self { sides, strip, .. } = self;
        for side in SIDES {
            let values = &*tables[side];
            strip.load::<V>(side, values.len() / dim, |row| load(&values[row * dim..][columns.clone()], sides[side].inverse_root(row)));
        }
        for side in SIDES {
            let neighbours = Neighbours::all(&sides[side].neighbours);
            let half = Half { side: &sides[side], neighbours, vectors: strip.start[1 - side].get::<V>(), start: None };
            half.finish(0, wanted[side], tables[side], dim, columns.clone());
        }
    }

    fn forward_strip<const V: usize>(
        &mut self,
        columns: Range<usize>,
        tables: [&Matrix; 2],
        wanted: [Option<&[bool]>; 2],
        out: &mut [&mut Matrix; 2],
    ) {
        let Self { layers, sides, strip, .. } = self;
        for side in SIDES {
            strip.load::<V>(side, tables[side].rows, |row| load(&tables[side].row(row)[columns.clone()], sides[side].inverse_root(row)));
        }
        let all = sides.each_ref().map(|side| Neighbours::all(&side.neighbours));
        for side in SIDES {
            let last = strip.chain::<V>(side, *layers, sides, all);
            let Matrix { dim, values, .. } = &mut *out[side];
            last.finish(*layers, wanted[side], values, *dim, columns.clone());
        }
    }

    /// Gradients of P to gradients of E, in place.
    pub fn backward(&mut self, gradients: [&mut RowGradients; 2], dim: usize) {
        if self.layers == 0 {
            return;
        }
        let mut gradients = gradients.map(RowGradients::parts);
        let ([users, items], [reached_users, reached_items]) = (&self.sides, &mut self.reached);
        rayon::join(
            || reached_users.find(users.root.len(), &items.neighbours, gradients[1].1),
            || reached_items.find(items.root.len(), &users.neighbours, gradients[0].1),
        );
        for columns in strips(dim) {
            on_lines!(self.backward_strip(columns, &mut gradients, dim));
        }
        for (_, touched) in gradients {
            touched.fill(true);
        }
    }

    fn backward_strip<const V: usize>(&mut self, columns: Range<usize>, gradients: &mut [(&mut [f32], &mut [bool]); 2], dim: usize) {
        let Self { layers, sides, strip, reached } = self;
        for side in SIDES {
            let (values, touched) = &gradients[side];
            strip.load::<V>(side, touched.len(), |row| match touched[row] {
                true => load(&values[row * dim..][columns.clone()], sides[side].inverse_root(row)),
                false => zero(),
            });
        }
        let first = SIDES.map(|side| reached[side].or(&sides[side].neighbours));
        for side in SIDES {
            let last = strip.chain::<V>(side, *layers, sides, first);
            last.finish(*layers, None, gradients[side].0, dim, columns.clone());
        }
    }
}

impl GraphSide {
    fn new(neighbours: Interactions) -> Self {
        let degrees: Vec<f32> = (0..neighbours.users()).map(|row| neighbours.row(row).len().max(1) as f32).collect();
        let (inverse, root) = degrees.iter().map(|degree| (1.0 / degree, degree.sqrt())).unzip();
        Self { neighbours, inverse, root }
    }

    fn inverse_root(&self, row: usize) -> f32 {
        self.inverse[row] * self.root[row]
    }
}

/// `start + D^-1 R vectors` for the rows of a side; no `start` means zeros.
struct Half<'a, const V: usize> {
    side: &'a GraphSide,
    neighbours: Neighbours<'a>,
    vectors: &'a [Row<V>],
    start: Option<&'a [Row<V>]>,
}

impl Strip {
    /// S of a side.
    fn load<const V: usize>(&mut self, side: usize, rows: usize, value: impl Fn(usize) -> Row<V> + Sync + Send) {
        self.start[side].resize::<V>(rows);
        self.current[side].resize::<V>(rows);
        self.start[side].par_blocks(|first, rows| {
            for (row, target) in (first..).zip(rows) {
                *target = value(row);
            }
        });
    }

    /// Runs the chain of halves that ends in a side, up to the last one, which it returns. `first` are the neighbours in the first half.
    fn chain<'a, const V: usize>(
        &'a mut self,
        end: usize,
        layers: u32,
        sides: &'a [GraphSide; 2],
        first: [Neighbours<'a>; 2],
    ) -> Half<'a, V> {
        let neighbours = |side: usize, layer: u32| if layer == 1 { first[side] } else { Neighbours::all(&sides[side].neighbours) };
        for layer in 1..layers {
            let side = if (layers - layer).is_multiple_of(2) { end } else { 1 - end };
            let [users, items] = &mut self.current;
            let (out, other) = if side == 0 { (users, &*items) } else { (items, &*users) };
            let vectors = if layer == 1 { &self.start[1 - side] } else { other };
            let half = Half {
                side: &sides[side],
                neighbours: neighbours(side, layer),
                vectors: vectors.get(),
                start: Some(self.start[side].get()),
            };
            out.par_blocks::<V>(|first, rows| half.rows(first, None, rows));
        }
        let vectors = if layers == 1 { &self.start[1 - end] } else { &self.current[1 - end] };
        Half { side: &sides[end], neighbours: neighbours(end, layers), vectors: vectors.get(), start: Some(self.start[end].get()) }
    }
}

impl<const V: usize> Half<'_, V> {
    /// Some rows from `first` on; those that are not wanted are left as they are.
    fn rows(&self, first: usize, wanted: Option<&[bool]>, out: &mut [Row<V>]) {
        self.neighbours.pull(self.vectors, self.start, &self.side.inverse, first, wanted, out);
    }

    /// The last half, as P: into some columns of a table, in the rows that are wanted.
    fn finish(&self, layers: u32, wanted: Option<&[bool]>, values: &mut [f32], dim: usize, columns: Range<usize>) {
        let mean = 1.0 / (layers + 1) as f32;
        values.par_chunks_mut(BLOCK * dim).enumerate().for_each(|(block, values)| {
            let (first, mut out) = (block * BLOCK, [zero(); BLOCK]);
            self.rows(first, wanted, &mut out[..values.len() / dim]);
            for ((row, values), out) in (first..).zip(values.chunks_exact_mut(dim)).zip(&out) {
                if wanted.is_none_or(|wanted| wanted[row]) {
                    store(out, mean * self.side.root[row], &mut values[columns.clone()]);
                }
            }
        });
    }
}

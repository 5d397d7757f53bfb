//! Weighted sums of neighbours' vectors.
//!
//! ```text
//! to_v = sum of weight(e) from_u over the edges e from u to v, in the order of the edges
//! ```
//! A row is formed by one thread, starts at zero and adds one product after the other: its bits do not depend on the number of threads, nor on how many
//! columns are taken at a time. In single precision these are strips of rows on whole cache lines: a copy costs less than the lines that rows elsewhere cross.

use super::{
    neighbours::parts,
    rows::{BLOCK, CacheLine, Row, WIDTH, load, on_lanes, on_lines, store, strip_memory, strips, zero},
};
use candle_core::WithDType;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;

/// The edges of each node, side by side.
#[derive(Clone, Copy)]
pub(super) struct EdgeLists<'a> {
    /// `[nodes + 1]`
    pub(super) starts: &'a [usize],
    /// Where each edge comes from, `[edges]`.
    pub(super) sources: &'a [u32],
}

/// What vectors are made of.
pub(super) trait Number: WithDType {
    /// The sums `[nodes, dim]` of vectors `from [nodes, dim]`.
    fn weighted_sums(edges: EdgeLists<'_>, weight: impl Fn(usize) -> Self + Sync, from: &[Self], dim: usize) -> Vec<Self>;
}

/// Bytes of the copy of vectors `[nodes, dim]` of single precision.
pub(super) fn copy_memory(nodes: u64, dim: u64) -> u64 {
    if dim < WIDTH as u64 { 0 } else { strip_memory(nodes, dim) }
}

impl Number for f64 {
    fn weighted_sums(edges: EdgeLists<'_>, weight: impl Fn(usize) -> f64 + Sync, from: &[f64], dim: usize) -> Vec<f64> {
        plain(edges, weight, from, dim)
    }
}

impl Number for f32 {
    fn weighted_sums(edges: EdgeLists<'_>, weight: impl Fn(usize) -> f32 + Sync, from: &[f32], dim: usize) -> Vec<f32> {
        if dim < WIDTH {
            return plain(edges, weight, from, dim);
        }
        let mut sums = Sums { edges, weight: &weight, from, dim, to: vec![0.0; from.len()] };
        for columns in strips(dim) {
            on_lines!(sums.columns(columns));
        }
        sums.to
    }
}

/// The sums as plain loops.
fn plain<T: WithDType>(edges: EdgeLists<'_>, weight: impl Fn(usize) -> T + Sync, from: &[T], dim: usize) -> Vec<T> {
    let mut to = vec![T::zero(); from.len()];
    to.par_chunks_mut(BLOCK * dim).enumerate().for_each(|(block, to)| {
        for (node, to) in (block * BLOCK..).zip(to.chunks_exact_mut(dim)) {
            for edge in edges.starts[node]..edges.starts[node + 1] {
                let (weight, from) = (weight(edge), &from[edges.sources[edge] as usize * dim..][..dim]);
                to.iter_mut().zip(from).for_each(|(to, &from)| *to += weight * from);
            }
        }
    });
    to
}

struct Sums<'a, W> {
    edges: EdgeLists<'a>,
    weight: &'a W,
    from: &'a [f32],
    dim: usize,
    to: Vec<f32>,
}

impl<W: Fn(usize) -> f32 + Sync> Sums<'_, W> {
    /// Forms some columns, which fill `V` lines.
    fn columns<const V: usize>(&mut self, columns: Range<usize>) {
        let Self { edges, weight, from, dim, to } = self;
        let vectors: Vec<Row<V>> = from.par_chunks_exact(*dim).with_min_len(BLOCK).map(|row| load(&row[columns.clone()], 1.0)).collect();
        to.par_chunks_mut(BLOCK * *dim).enumerate().for_each(|(block, to)| {
            let mut rows = [zero::<V>(); BLOCK];
            let rows = &mut rows[..to.len() / *dim];
            Arch::new().dispatch(SumRows { edges: *edges, weight: *weight, vectors: &vectors, first: block * BLOCK, rows });
            for (row, to) in rows.iter().zip(to.chunks_exact_mut(*dim)) {
                store(row, 1.0, &mut to[columns.clone()]);
            }
        });
    }
}

/// Rows of some columns from `first` on.
struct SumRows<'a, W, const V: usize> {
    edges: EdgeLists<'a>,
    weight: &'a W,
    vectors: &'a [Row<V>],
    first: usize,
    rows: &'a mut [Row<V>],
}

impl<W: Fn(usize) -> f32, const V: usize> WithSimd for SumRows<'_, W, V> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        on_lanes!(self.sum::<S>(simd))
    }
}

impl<W: Fn(usize) -> f32, const V: usize> SumRows<'_, W, V> {
    /// A line is `N` of the machine's vectors; sums stay in its registers.
    #[inline(always)]
    fn sum<S: Simd, const N: usize>(self, simd: S) {
        let EdgeLists { starts, sources } = self.edges;
        for (node, row) in (self.first..).zip(self.rows) {
            let mut sums = [[simd.splat_f32s(0.0); N]; V];
            let edges = starts[node]..starts[node + 1];
            for (edge, &source) in edges.clone().zip(&sources[edges]) {
                let (weight, vector) = (simd.splat_f32s((self.weight)(edge)), &self.vectors[source as usize]);
                for (sums, line) in sums.iter_mut().zip(vector) {
                    for (sum, &value) in sums.iter_mut().zip(parts::<S, N>(line)) {
                        *sum = simd.add_f32s(*sum, simd.mul_f32s(weight, value));
                    }
                }
            }
            for (CacheLine(line), sums) in row.iter_mut().zip(&sums) {
                S::as_mut_simd_f32s(line).0.copy_from_slice(sums);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 150 nodes with up to 40 edges each, some without any.
    #[test]
    fn columns_in_registers_are_the_plain_loops_bit_for_bit() {
        let draw = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xD134_2543_DE82_EF95) >> 20;
        let mut starts = vec![0];
        starts.extend((0..150).scan(0, |end, node| {
            *end += (draw(node) % 41) as usize * usize::from(node % 7 > 0);
            Some(*end)
        }));
        let sources: Vec<u32> = (0..starts[150] as u64).map(|edge| (draw(1_000 + edge) % 150) as u32).collect();
        let weight = |edge: usize| (edge as f32 * 0.37).sin();
        for dim in [1, 15, 16, 17, 32, 48, 64, 65, 100, 144] {
            let from: Vec<f32> = (0..150 * dim).map(|place| (place as f32 * 0.73).cos()).collect();
            let edges = EdgeLists { starts: &starts, sources: &sources };
            let bits = |sums: Vec<f32>| sums.into_iter().map(f32::to_bits).collect::<Vec<u32>>();
            assert_eq!(bits(f32::weighted_sums(edges, weight, &from, dim)), bits(plain(edges, weight, &from, dim)), "{dim}");
        }
    }
}

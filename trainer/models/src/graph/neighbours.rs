//! Who stands beside whom, and the sums over neighbours.

use super::rows::{CacheLine, Row, on_lanes, zero};
use dataset::Interactions;
use pulp::{Arch, Simd, WithSimd};

/// The neighbours of each row, ascending.
#[derive(Clone, Copy)]
pub(super) struct Neighbours<'a> {
    offsets: &'a [usize],
    ids: &'a [u32],
}

impl<'a> Neighbours<'a> {
    pub(super) fn all(rows: &'a Interactions) -> Self {
        Self { offsets: rows.offsets(), ids: rows.items() }
    }

    #[inline(always)]
    fn row(self, row: usize) -> &'a [u32] {
        &self.ids[self.offsets[row]..self.offsets[row + 1]]
    }

    /// `out[k] = start[row] + scale[row] * (sum of the vectors of the row's neighbours)` for `row = first + k`, if it is wanted; without a
    /// `start` it is zero.
    ///
    /// A row's sum starts at zero and follows the neighbours' order, so that it is the same whatever rows are formed beside it.
    pub(super) fn pull<const V: usize>(
        self,
        vectors: &[Row<V>],
        start: Option<&[Row<V>]>,
        scale: &[f32],
        first: usize,
        wanted: Option<&[bool]>,
        out: &mut [Row<V>],
    ) {
        Arch::new().dispatch(Pull { neighbours: self, vectors, start, scale, first, wanted, out });
    }
}

struct Pull<'a, const V: usize> {
    neighbours: Neighbours<'a>,
    vectors: &'a [Row<V>],
    start: Option<&'a [Row<V>]>,
    scale: &'a [f32],
    first: usize,
    wanted: Option<&'a [bool]>,
    out: &'a mut [Row<V>],
}

impl<const V: usize> WithSimd for Pull<'_, V> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        on_lanes!(self.rows::<S>(simd))
    }
}

impl<const V: usize> Pull<'_, V> {
    /// A line is `N` of the machine's vectors.
    #[inline(always)]
    fn rows<S: Simd, const N: usize>(self, simd: S) {
        for (row, out) in (self.first..).zip(self.out) {
            if self.wanted.is_some_and(|wanted| !wanted[row]) {
                continue;
            }
            let mut sum = [[simd.splat_f32s(0.0); N]; V];
            for &neighbour in self.neighbours.row(row) {
                let vector = &self.vectors[neighbour as usize];
                for line in 0..V {
                    for (sum, &value) in sum[line].iter_mut().zip(parts::<S, N>(&vector[line])) {
                        *sum = simd.add_f32s(*sum, value);
                    }
                }
            }
            let (scale, start) = (simd.splat_f32s(self.scale[row]), self.start.map_or(const { &zero() }, |start| &start[row]));
            for line in 0..V {
                let (out, _) = S::as_mut_simd_f32s(&mut out[line].0);
                for ((out, sum), &start) in out.iter_mut().zip(sum[line]).zip(parts::<S, N>(&start[line])) {
                    *out = simd.mul_add_e_f32s(scale, sum, start);
                }
            }
        }
    }
}

/// A line as the machine's vectors.
#[inline(always)]
pub(super) fn parts<S: Simd, const N: usize>(line: &CacheLine) -> &[S::f32s; N] {
    S::as_simd_f32s(&line.0).0.try_into().expect("a line has N vectors")
}

/// The neighbours that are in a part of the other side.
///
/// Where all vectors outside of the part are zero, sums over these neighbours are sums over all, bit for bit.
#[derive(Default)]
pub(super) struct Reached {
    offsets: Vec<usize>,
    ids: Vec<u32>,
    complete: bool,
}

impl Reached {
    /// Finds them from the `part` of the other side, whose rows are `others`. A part with most of the edges is taken for all.
    pub(super) fn find(&mut self, rows: usize, others: &Interactions, part: &[bool]) {
        let part = || part.iter().enumerate().filter(|(_, within)| **within).map(|(other, _)| other);
        let edges: usize = part().map(|other| others.row(other).len()).sum();
        self.complete = 2 * edges > others.len();
        if self.complete {
            return;
        }
        // A row's count stands two places on, its next free place one place on; in the end that is where the next row starts.
        self.offsets.clear();
        self.offsets.resize(rows + 2, 0);
        for &row in part().flat_map(|other| others.row(other)) {
            self.offsets[row as usize + 2] += 1;
        }
        for row in 2..self.offsets.len() {
            self.offsets[row] += self.offsets[row - 1];
        }
        self.ids.resize(edges, 0);
        for other in part() {
            for &row in others.row(other) {
                let next = &mut self.offsets[row as usize + 1];
                self.ids[*next] = other as u32;
                *next += 1;
            }
        }
    }

    /// The neighbours found, or `all` of them.
    pub(super) fn or<'a>(&'a self, all: &'a Interactions) -> Neighbours<'a> {
        if self.complete { Neighbours::all(all) } else { Neighbours { offsets: &self.offsets, ids: &self.ids } }
    }
}

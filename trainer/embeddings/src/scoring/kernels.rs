//! The inner loops over rows: dot products, weighted sums and updates.
//!
//! Written once on `pulp`'s vectors and compiled for the instruction sets that it knows; the best is picked at run time. Sums have a
//! fixed order, so that a result depends on the row alone. Rows of up to [`WIDEST`] vectors stay in registers.

use super::sampled::Entry;
use pulp::{Arch, Simd, WithSimd};

/// The longest row that is kept in registers, in vectors.
const WIDEST: usize = 16;

/// `scores[k] = query . table[ids[k]]`
pub fn dots(query: &[f32], table: &[f32], ids: &[u32], scores: &mut [f32]) {
    Arch::new().dispatch(Dots { query, table, ids, scores });
}

/// `a . b`
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut score = [0.0];
    dots(a, b, &[0], &mut score);
    score[0]
}

/// `sum += weights[k] * table[ids[k]]` over all k.
pub fn weighted_sum(table: &[f32], ids: &[u32], weights: &[f32], sum: &mut [f32]) {
    Arch::new().dispatch(Accumulate { table, ids, term: |k: usize, id| (id, weights[k]), sum });
}

/// `sum += weight(k, vector . table[ids[k]]) * table[ids[k]]` over all k.
pub fn project(table: &[f32], ids: &[u32], vector: &[f32], weight: impl FnMut(usize, f32) -> f32, sum: &mut [f32]) {
    Arch::new().dispatch(Project { table, ids, vector, weight, sum });
}

/// `sum += weight * table[id]` over the terms `(id, weight)` of all places.
pub fn combine(table: &[f32], places: &[u32], term: impl Fn(u32) -> (u32, f32), sum: &mut [f32]) {
    Arch::new().dispatch(Accumulate { table, ids: places, term: |_, place| term(place), sum });
}

/// `rows[entry.local()] += entry.weight * table[entry.query()]` for each entry, in order; marks the rows that are `touched`.
pub(super) fn scatter_add(rows: &mut [f32], touched: &mut [bool], table: &[f32], entries: &[Entry]) {
    Arch::new().dispatch(ScatterAdd { dim: rows.len() / touched.len(), rows, touched, table, entries });
}

/// Calls the method for the number of vectors in a row, or the last one for any length.
macro_rules! by_width {
    ($self:ident, $simd:ident, $dim:expr) => {
        match ($dim / S::F32_LANES, $dim % S::F32_LANES) {
            (1, 0) => $self.rows::<S, 1>($simd),
            (2, 0) => $self.rows::<S, 2>($simd),
            (4, 0) => $self.rows::<S, 4>($simd),
            (8, 0) => $self.rows::<S, 8>($simd),
            (WIDEST, 0) => $self.rows::<S, WIDEST>($simd),
            _ => $self.any_rows($simd),
        }
    };
}

/// Row `id` of a table whose rows are `V` vectors.
#[inline(always)]
fn vectors<S: Simd, const V: usize>(table: &[S::f32s], id: usize) -> &[S::f32s; V] {
    table[id * V..][..V].try_into().expect("the slice has V vectors")
}

struct Dots<'a> {
    query: &'a [f32],
    table: &'a [f32],
    ids: &'a [u32],
    scores: &'a mut [f32],
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        by_width!(self, simd, self.query.len());
    }
}

impl Dots<'_> {
    #[inline(always)]
    fn rows<S: Simd, const V: usize>(self, simd: S) {
        let query = *vectors::<S, V>(S::as_simd_f32s(self.query).0, 0);
        let (table, _) = S::as_simd_f32s(self.table);
        for (score, &id) in self.scores.iter_mut().zip(self.ids) {
            let row = vectors::<S, V>(table, id as usize);
            let mut total = simd.mul_f32s(query[0], row[0]);
            for at in 1..V {
                total = simd.mul_add_e_f32s(query[at], row[at], total);
            }
            *score = simd.reduce_sum_f32s(total);
        }
    }

    #[inline(always)]
    fn any_rows<S: Simd>(self, simd: S) {
        let dim = self.query.len();
        let (query, query_rest) = S::as_simd_f32s(self.query);
        for (score, &id) in self.scores.iter_mut().zip(self.ids) {
            let (row, rest) = S::as_simd_f32s(&self.table[id as usize * dim..][..dim]);
            let mut total = simd.splat_f32s(0.0);
            for (&a, &b) in query.iter().zip(row) {
                total = simd.mul_add_e_f32s(a, b, total);
            }
            let rest: f32 = query_rest.iter().zip(rest).map(|(a, b)| a * b).sum();
            *score = simd.reduce_sum_f32s(total) + rest;
        }
    }
}

struct Accumulate<'a, T> {
    table: &'a [f32],
    ids: &'a [u32],
    /// The row and the weight that the k-th id stands for.
    term: T,
    sum: &'a mut [f32],
}

impl<T: Fn(usize, u32) -> (u32, f32)> WithSimd for Accumulate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        by_width!(self, simd, self.sum.len());
    }
}

impl<T: Fn(usize, u32) -> (u32, f32)> Accumulate<'_, T> {
    #[inline(always)]
    fn rows<S: Simd, const V: usize>(self, simd: S) {
        let (table, _) = S::as_simd_f32s(self.table);
        let (sum, _) = S::as_mut_simd_f32s(self.sum);
        let sum: &mut [S::f32s; V] = sum.try_into().expect("the sum has V vectors");
        let mut total = *sum;
        for (k, &id) in self.ids.iter().enumerate() {
            let (id, weight) = (self.term)(k, id);
            let (weight, row) = (simd.splat_f32s(weight), vectors::<S, V>(table, id as usize));
            for at in 0..V {
                total[at] = simd.mul_add_e_f32s(weight, row[at], total[at]);
            }
        }
        *sum = total;
    }

    #[inline(always)]
    fn any_rows<S: Simd>(self, simd: S) {
        let dim = self.sum.len();
        for (k, &id) in self.ids.iter().enumerate() {
            let (id, weight) = (self.term)(k, id);
            add_scaled(simd, self.sum, weight, &self.table[id as usize * dim..][..dim]);
        }
    }
}

struct Project<'a, W> {
    table: &'a [f32],
    ids: &'a [u32],
    vector: &'a [f32],
    /// The weight of the k-th id, by its product with the vector.
    weight: W,
    sum: &'a mut [f32],
}

impl<W: FnMut(usize, f32) -> f32> WithSimd for Project<'_, W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        by_width!(self, simd, self.sum.len());
    }
}

impl<W: FnMut(usize, f32) -> f32> Project<'_, W> {
    #[inline(always)]
    fn rows<S: Simd, const V: usize>(mut self, simd: S) {
        let vector = *vectors::<S, V>(S::as_simd_f32s(self.vector).0, 0);
        let (table, _) = S::as_simd_f32s(self.table);
        let (sum, _) = S::as_mut_simd_f32s(self.sum);
        let sum: &mut [S::f32s; V] = sum.try_into().expect("the sum has V vectors");
        let mut total = *sum;
        for (k, &id) in self.ids.iter().enumerate() {
            let row = vectors::<S, V>(table, id as usize);
            let mut product = simd.mul_f32s(vector[0], row[0]);
            for at in 1..V {
                product = simd.mul_add_e_f32s(vector[at], row[at], product);
            }
            let weight = simd.splat_f32s((self.weight)(k, simd.reduce_sum_f32s(product)));
            for at in 0..V {
                total[at] = simd.mul_add_e_f32s(weight, row[at], total[at]);
            }
        }
        *sum = total;
    }

    #[inline(always)]
    fn any_rows<S: Simd>(mut self, simd: S) {
        let dim = self.sum.len();
        for (k, &id) in self.ids.iter().enumerate() {
            let row = &self.table[id as usize * dim..][..dim];
            let mut product = [0.0];
            Dots { query: self.vector, table: row, ids: &[0], scores: &mut product }.any_rows(simd);
            add_scaled(simd, self.sum, (self.weight)(k, product[0]), row);
        }
    }
}

struct ScatterAdd<'a> {
    dim: usize,
    rows: &'a mut [f32],
    touched: &'a mut [bool],
    table: &'a [f32],
    entries: &'a [Entry],
}

impl WithSimd for ScatterAdd<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        by_width!(self, simd, self.dim);
    }
}

impl ScatterAdd<'_> {
    #[inline(always)]
    fn rows<S: Simd, const V: usize>(self, simd: S) {
        let ((rows, _), (table, _)) = (S::as_mut_simd_f32s(self.rows), S::as_simd_f32s(self.table));
        for entry in self.entries {
            self.touched[entry.local()] = true;
            let (weight, source) = (simd.splat_f32s(entry.weight), vectors::<S, V>(table, entry.query()));
            let row: &mut [S::f32s; V] = (&mut rows[entry.local() * V..][..V]).try_into().expect("the slice has V vectors");
            for at in 0..V {
                row[at] = simd.mul_add_e_f32s(weight, source[at], row[at]);
            }
        }
    }

    #[inline(always)]
    fn any_rows<S: Simd>(self, simd: S) {
        for entry in self.entries {
            self.touched[entry.local()] = true;
            let row = &mut self.rows[entry.local() * self.dim..][..self.dim];
            add_scaled(simd, row, entry.weight, &self.table[entry.query() * self.dim..][..self.dim]);
        }
    }
}

/// `target += weight * source`, of any length.
#[inline(always)]
fn add_scaled<S: Simd>(simd: S, target: &mut [f32], weight: f32, source: &[f32]) {
    let ((target, target_rest), (source, source_rest)) = (S::as_mut_simd_f32s(target), S::as_simd_f32s(source));
    for (target, &source) in target.iter_mut().zip(source) {
        *target = simd.mul_add_e_f32s(simd.splat_f32s(weight), source, *target);
    }
    for (target, source) in target_rest.iter_mut().zip(source_rest) {
        *target += weight * source;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows_and_ids() -> impl Strategy<Value = (usize, Vec<f32>, Vec<u32>, Vec<f32>)> {
        (prop_oneof![1usize..40, Just(16), Just(32), Just(64), Just(128)], 1usize..20).prop_flat_map(|(dim, rows)| {
            let table = prop::collection::vec(-2.0f32..2.0, dim * rows);
            let ids = prop::collection::vec(0..rows as u32, 0..30);
            (Just(dim), table, ids, prop::collection::vec(-2.0f32..2.0, dim.max(30)))
        })
    }

    proptest! {
        #[test]
        fn dots_are_sums_of_products((dim, table, ids, query) in rows_and_ids()) {
            let mut scores = vec![0.0; ids.len()];
            dots(&query[..dim], &table, &ids, &mut scores);
            for (score, &id) in scores.iter().zip(&ids) {
                let expected: f64 = (0..dim).map(|at| f64::from(query[at]) * f64::from(table[id as usize * dim + at])).sum();
                prop_assert!((f64::from(*score) - expected).abs() < 1e-4, "{score} {expected}");
            }
        }

        #[test]
        fn projections_are_sums_weighted_by_products((dim, table, ids, vector) in rows_and_ids()) {
            let (mut products, mut found) = (vec![0.0; ids.len()], vec![0.5; dim]);
            dots(&vector[..dim], &table, &ids, &mut products);
            let mut expected = found.clone();
            let weights: Vec<f32> = products.iter().map(|product| 3.0 - product).collect();
            weighted_sum(&table, &ids, &weights, &mut expected);
            let mut given = vec![0.0; ids.len()];
            let weight = |k: usize, product: f32| {
                given[k] = product;
                3.0 - product
            };
            project(&table, &ids, &vector[..dim], weight, &mut found);
            prop_assert_eq!((given, found), (products, expected));
        }

        #[test]
        fn sums_of_rows_are_weighted((dim, table, ids, weights) in rows_and_ids()) {
            let expected: Vec<f64> = (0..dim)
                .map(|at| ids.iter().zip(&weights).map(|(&id, &weight)| f64::from(weight) * f64::from(table[id as usize * dim + at])).sum())
                .collect();
            let mut sum = vec![0.0; dim];
            weighted_sum(&table, &ids, &weights[..ids.len()], &mut sum);
            for (sum, expected) in sum.iter().zip(&expected) {
                prop_assert!((f64::from(*sum) - expected).abs() < 1e-4);
            }
        }
    }
}

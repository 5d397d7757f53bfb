//! The inner loops over rows: dot products, weighted sums and updates.
//!
//! Each is compiled for several instruction sets and picked at run time. Sixteen lanes are summed in one fixed order, so that a
//! result depends on the row alone. Rows of the usual lengths stay in registers.
#![allow(unsafe_code)] // SAFETY: written by `multiversion` alone: it calls a clone only after it has found the clone's instructions.

use multiversion::multiversion;

/// Lanes that are summed side by side.
const LANES: usize = 16;

/// `scores[k] = query . table[ids[k]]`
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(crate) fn dots(query: &[f32], table: &[f32], ids: &[u32], scores: &mut [f32]) {
    match query.len() {
        16 => dots_of::<16>(query, table, ids, scores),
        32 => dots_of::<32>(query, table, ids, scores),
        64 => dots_of::<64>(query, table, ids, scores),
        128 => dots_of::<128>(query, table, ids, scores),
        dim => {
            for (score, &id) in scores.iter_mut().zip(ids) {
                *score = dot(query, &table[id as usize * dim..][..dim]);
            }
        }
    }
}

#[inline(always)]
fn dots_of<const D: usize>(query: &[f32], table: &[f32], ids: &[u32], scores: &mut [f32]) {
    let query: &[f32; D] = query.try_into().expect("the caller matched the length");
    let (rows, _) = table.as_chunks::<D>();
    for (score, &id) in scores.iter_mut().zip(ids) {
        *score = dot(query, &rows[id as usize]);
    }
}

/// `a . b`, summed in sixteen lanes.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] = a[lane].mul_add(b[lane], lanes[lane]);
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sum(lanes) + rest
}

/// The sum of all lanes, by halves.
#[inline(always)]
fn sum(mut lanes: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// `sum += weights[k] * table[ids[k]]` over all k.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(crate) fn weighted_sum(table: &[f32], ids: &[u32], weights: &[f32], sum: &mut [f32]) {
    let rows = ids.iter().zip(weights).map(|(&id, &weight)| (id, weight));
    match sum.len() {
        16 => accumulate_of::<16>(table, rows, sum),
        32 => accumulate_of::<32>(table, rows, sum),
        64 => accumulate_of::<64>(table, rows, sum),
        128 => accumulate_of::<128>(table, rows, sum),
        _ => accumulate(table, rows, sum),
    }
}

/// `sum += scale[id] * table[id]` over all ids.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(crate) fn neighbour_sum(table: &[f32], ids: &[u32], scale: &[f32], sum: &mut [f32]) {
    let rows = ids.iter().map(|&id| (id, scale[id as usize]));
    match sum.len() {
        16 => accumulate_of::<16>(table, rows, sum),
        32 => accumulate_of::<32>(table, rows, sum),
        64 => accumulate_of::<64>(table, rows, sum),
        128 => accumulate_of::<128>(table, rows, sum),
        _ => accumulate(table, rows, sum),
    }
}

#[inline(always)]
fn accumulate_of<const D: usize>(table: &[f32], weighted: impl Iterator<Item = (u32, f32)>, sum: &mut [f32]) {
    let (rows, _) = table.as_chunks::<D>();
    let target: &mut [f32; D] = sum.try_into().expect("the caller matched the length");
    let mut total = *target;
    for (id, weight) in weighted {
        let row = &rows[id as usize];
        for at in 0..D {
            total[at] = weight.mul_add(row[at], total[at]);
        }
    }
    *target = total;
}

#[inline(always)]
fn accumulate(table: &[f32], weighted: impl Iterator<Item = (u32, f32)>, sum: &mut [f32]) {
    let dim = sum.len();
    for (id, weight) in weighted {
        for (total, &value) in sum.iter_mut().zip(&table[id as usize * dim..][..dim]) {
            *total = weight.mul_add(value, *total);
        }
    }
}

/// `rows[target] += weight * table[source]` for each (target, source, weight), in order.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub(crate) fn scatter_add(dim: usize, rows: &mut [f32], table: &[f32], entries: &[super::sampled::Entry]) {
    match dim {
        16 => scatter_add_of::<16>(rows, table, entries),
        32 => scatter_add_of::<32>(rows, table, entries),
        64 => scatter_add_of::<64>(rows, table, entries),
        128 => scatter_add_of::<128>(rows, table, entries),
        _ => {
            for entry in entries {
                let row = &mut rows[entry.local() * dim..][..dim];
                for (total, &value) in row.iter_mut().zip(&table[entry.query() * dim..][..dim]) {
                    *total = entry.weight.mul_add(value, *total);
                }
            }
        }
    }
}

#[inline(always)]
fn scatter_add_of<const D: usize>(rows: &mut [f32], table: &[f32], entries: &[super::sampled::Entry]) {
    let ((rows, _), (table, _)) = (rows.as_chunks_mut::<D>(), table.as_chunks::<D>());
    for entry in entries {
        let (row, source) = (&mut rows[entry.local()], &table[entry.query()]);
        for at in 0..D {
            row[at] = entry.weight.mul_add(source[at], row[at]);
        }
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

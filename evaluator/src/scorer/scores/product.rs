//! The matrix product behind all scores.
//!
//! A group of users meets a panel of items in registers: for each dimension the panel's vectors are loaded once and multiplied by one
//! number of each user. Written once on `pulp`'s vectors and compiled for the instruction sets that it knows; the best is picked at run
//! time.

use pulp::{Arch, Simd, WithSimd};

/// Items of a panel: a multiple of [`VECTORS`] vectors of every instruction set.
pub(crate) const PANEL: usize = 48;

/// Vectors of items that meet a user at once.
const VECTORS: usize = 3;

/// Scores of users for panels of items: `out[u, i] = sum_d users[u, d] * panels[i / PANEL, d, i % PANEL]`.
///
/// Shapes: `users [u, dim]`, `panels [p, dim, PANEL]`, `out [u, stride]`, of which the first `p * PANEL` columns are made. Each score is
/// one chain of fused multiply-adds in the order of `d`: its bits do not depend on shapes, on where user and item stand, or on the
/// instruction set.
///
/// # Panics
/// When a slice is shorter than its shape.
pub(crate) fn product(users: &[f32], dim: usize, panels: &[f32], out: &mut [f32], stride: usize) {
    Arch::new().dispatch(Product { users, dim, panels, out, stride });
}

struct Product<'a> {
    users: &'a [f32],
    dim: usize,
    panels: &'a [f32],
    out: &'a mut [f32],
    stride: usize,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // As many sums as leave registers for the factors: 24 of 32, 12 of 16.
        if S::REGISTER_COUNT >= 32 { self.groups::<S, 8>(simd) } else { self.groups::<S, 4>(simd) }
    }
}

impl Product<'_> {
    #[inline(always)]
    fn groups<S: Simd, const USERS: usize>(self, simd: S) {
        let Self { users, dim, panels, out, stride } = self;
        for (at, panel) in panels.chunks_exact(dim * PANEL).enumerate() {
            let (panel, _) = S::as_simd_f32s(panel);
            let groups = users.chunks_exact(USERS * dim);
            let rest = groups.remainder();
            let mut rows = out[at * PANEL..].chunks_mut(stride);
            for group in groups {
                scores::<S, USERS>(simd, group, dim, panel, &mut rows);
            }
            for user in rest.chunks_exact(dim) {
                scores::<S, 1>(simd, user, dim, panel, &mut rows);
            }
        }
    }
}

/// Scores of a group of users for one panel, into the next rows.
#[inline(always)]
fn scores<'a, S: Simd, const USERS: usize>(
    simd: S,
    group: &[f32],
    dim: usize,
    panel: &[S::f32s],
    rows: &mut impl Iterator<Item = &'a mut [f32]>,
) {
    let users: [&[f32]; USERS] = std::array::from_fn(|user| &group[user * dim..][..dim]);
    let mut rows: [&mut [f32]; USERS] = std::array::from_fn(|_| rows.next().expect("each user has a row"));
    for first in (0..PANEL / S::F32_LANES).step_by(VECTORS) {
        let mut sums = [[simd.splat_f32s(0.0); VECTORS]; USERS];
        for (d, items) in panel.chunks_exact(PANEL / S::F32_LANES).take(dim).enumerate() {
            let items: [S::f32s; VECTORS] = std::array::from_fn(|at| items[first + at]);
            for (sums, user) in sums.iter_mut().zip(users) {
                let factor = simd.splat_f32s(user[d]);
                for (sum, item) in sums.iter_mut().zip(items) {
                    *sum = simd.mul_add_f32s(factor, item, *sum);
                }
            }
        }
        for (sums, row) in sums.iter().zip(&mut rows) {
            let (row, _) = S::as_mut_simd_f32s(&mut row[..PANEL]);
            row[first..].iter_mut().zip(sums).for_each(|(score, sum)| *score = *sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        (0..count as u32).map(|i| ((i ^ seed).wrapping_mul(2_654_435_761) >> 8) as f32 / 1e7 - 0.8).collect()
    }

    proptest! {
        #[test]
        fn a_score_is_one_chain_wherever_its_user_and_item_stand(dim in 1usize..300, users in 1usize..20, panels in 1usize..4, seed: u32) {
            let (vectors, items) = (numbers(users * dim, seed), numbers(panels * dim * PANEL, !seed));
            let stride = panels * PANEL + 5;
            let mut out = vec![f32::NAN; users * stride];
            product(&vectors, dim, &items, &mut out, stride);
            for user in 0..users {
                for item in 0..panels * PANEL {
                    let column = |d: usize| items[(item / PANEL * dim + d) * PANEL + item % PANEL];
                    let chain = (0..dim).fold(0.0f32, |sum, d| vectors[user * dim + d].mul_add(column(d), sum));
                    prop_assert_eq!(out[user * stride + item].to_bits(), chain.to_bits());
                }
                prop_assert!(out[user * stride + panels * PANEL..][..5].iter().all(|score| score.is_nan()), "other columns stay");
            }
        }

        #[test]
        fn every_instruction_set_gives_the_same_bits(dim in 1usize..80, users in 1usize..20, seed: u32) {
            let (vectors, panels) = (numbers(users * dim, seed), numbers(2 * dim * PANEL, !seed));
            let run = |run: &dyn Fn(Product<'_>)| {
                let mut out = vec![f32::NAN; users * 2 * PANEL];
                run(Product { users: &vectors, dim, panels: &panels, out: &mut out, stride: 2 * PANEL });
                out.iter().map(|score| score.to_bits()).collect::<Vec<_>>()
            };
            let best = run(&|product| Arch::new().dispatch(product));
            prop_assert_eq!(&best, &run(&|product| Arch::Scalar.dispatch(product)));
            #[cfg(target_arch = "x86_64")]
            if let Some(avx2) = pulp::x86::V3::try_new() {
                prop_assert_eq!(&best, &run(&|product| Simd::vectorize(avx2, product)));
            }
        }
    }
}

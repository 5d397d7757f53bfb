//! The matrix product behind all scores.
#![allow(unsafe_code)]

/// The longest sum that one call of the product makes. The library splits longer ones at places that depend on the shape.
const DEPTH: usize = 512;

/// Scores of users for a tile of items: `out[u, i] = sum_d users[u, d] * tile[d, i]`, each as one chain of sums in the order of `d`.
///
/// Shapes: `users [u, dim]`, `tile [dim, tile_width]`, `out [u, tile_width]`, of which the first `width` columns are made. The chain is
/// the same for every shape as long as `u` is a multiple of 8, `width` of 16, and `dim` is at least 4: below, the library has other
/// kernels, with other sums.
///
/// # Panics
/// When a slice is shorter than its shape.
pub(super) fn product(users: &[f32], dim: usize, tile: &[f32], tile_width: usize, width: usize, out: &mut [f32]) {
    let count = users.len() / dim;
    assert!(dim >= 4 && count.is_multiple_of(8) && width.is_multiple_of(16) && width <= tile_width, "the shape is one of equal bits");
    assert!(tile.len() >= dim * tile_width && out.len() >= count * tile_width, "the slices hold their shapes");
    for start in (0..dim).step_by(DEPTH) {
        let depth = DEPTH.min(dim - start);
        // SAFETY: element (d, i) of the tile lies at `d * tile_width + i`, (u, d) of the users at `u * dim + d`, and (u, i) of the
        // output at `u * tile_width + i`, all below the lengths asserted above for `u < count`, `d < dim` and `i < width`. The output
        // is borrowed uniquely, so nothing aliases it.
        unsafe {
            gemm::gemm(
                width,
                count,
                depth,
                out.as_mut_ptr(),
                tile_width as isize,
                1,
                start > 0,
                tile[start * tile_width..].as_ptr(),
                tile_width as isize,
                1,
                users[start..].as_ptr(),
                dim as isize,
                1,
                1.0,
                1.0,
                false,
                false,
                false,
                gemm::Parallelism::None,
            );
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
        fn a_score_has_the_same_bits_in_every_shape(dim in 4usize..1200, groups in 1usize..5, steps in 1usize..9, seed: u32) {
            let (count, width, tile_width) = (groups * 8, steps * 16, 160);
            let users = numbers(count * dim, seed);
            let tile = numbers(dim * tile_width, !seed);
            let mut whole = vec![0.0; count * tile_width];
            product(&users, dim, &tile, tile_width, tile_width, &mut whole);
            let mut part = vec![f32::NAN; count * tile_width];
            product(&users, dim, &tile, tile_width, width, &mut part);
            for user in 0..count {
                let row = user * tile_width..user * tile_width + width;
                prop_assert!(whole[row.clone()].iter().zip(&part[row]).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
            // One item moved to column 0 of the narrowest shape, scored for the last eight users.
            let moved: Vec<f32> = (0..dim).flat_map(|d| std::iter::repeat_n(tile[d * tile_width + width - 1], 16)).collect();
            let mut narrow = vec![0.0; 8 * 16];
            product(&users[(count - 8) * dim..], dim, &moved, 16, 16, &mut narrow);
            for user in 0..8 {
                prop_assert_eq!(narrow[user * 16].to_bits(), whole[(count - 8 + user) * tile_width + width - 1].to_bits());
            }
        }

        #[test]
        fn scores_are_the_sums_of_products(dim in 4usize..700, seed: u32) {
            let (users, tile) = (numbers(8 * dim, seed), numbers(dim * 16, !seed));
            let mut out = vec![0.0; 8 * 16];
            product(&users, dim, &tile, 16, 16, &mut out);
            for user in 0..8 {
                for item in 0..16 {
                    let expected: f64 = (0..dim).map(|d| f64::from(users[user * dim + d]) * f64::from(tile[d * 16 + item])).sum();
                    prop_assert!((f64::from(out[user * 16 + item]) - expected).abs() < 1e-6 * dim as f64);
                }
            }
        }
    }
}

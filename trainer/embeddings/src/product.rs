//! Matrix products on slices.
#![allow(unsafe_code)]

use gemm::Parallelism;

/// A matrix inside a slice: element (i, j) stands at `i * row + j * column`.
#[derive(Clone, Copy)]
pub struct View<'a, T = f32> {
    /// The slice.
    pub values: &'a [T],
    /// Places from a row to the next.
    pub row: usize,
    /// Places from a column to the next.
    pub column: usize,
}

impl<T> View<'_, T> {
    fn holds(&self, rows: usize, columns: usize) -> bool {
        (rows - 1) * self.row + (columns - 1) * self.column < self.values.len()
    }
}

/// What matrices of a product can hold.
pub trait Number: Copy + 'static {
    /// What a product is multiplied by.
    const ONE: Self;
}

impl Number for f32 {
    const ONE: Self = 1.0;
}

impl Number for f64 {
    const ONE: Self = 1.0;
}

/// `target = left . right`, or `target += left . right`, for `left [m, k]`, `right [k, n]` and a contiguous `target [m, n]`.
///
/// # Panics
/// When a slice is too short for its shape.
pub fn multiply<T: Number>([m, k, n]: [usize; 3], target: &mut [T], add: bool, left: View<'_, T>, right: View<'_, T>) {
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    assert!(m * n <= target.len() && left.holds(m, k) && right.holds(k, n), "a matrix of a product is shorter than its shape");
    // SAFETY: the assertion above keeps every element of the three matrices within its slice; `target` is borrowed mutably and so
    // overlaps neither of the others.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            target.as_mut_ptr(),
            1,
            n as isize,
            add,
            left.values.as_ptr(),
            left.column as isize,
            left.row as isize,
            right.values.as_ptr(),
            right.column as isize,
            right.row as isize,
            T::ONE,
            T::ONE,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_are_sums_of_products(m in 1usize..20, k in 1usize..20, n in 1usize..20, add: bool, seed: u8) {
            let value = |i: usize| ((i * 37 + usize::from(seed)) % 19) as f32 - 9.0;
            let left: Vec<f32> = (0..m * k).map(value).collect();
            let right: Vec<f32> = (0..k * n).map(|i| value(i + 5)).collect();
            let mut target: Vec<f32> = (0..m * n).map(|i| value(i + 11)).collect();
            let start = target.clone();
            multiply([m, k, n], &mut target, add, View { values: &left, row: 1, column: m }, View { values: &right, row: n, column: 1 });
            for i in 0..m {
                for j in 0..n {
                    let product: f32 = (0..k).map(|at| left[i + at * m] * right[at * n + j]).sum();
                    let expected = if add { start[i * n + j] + product } else { product };
                    prop_assert_eq!(target[i * n + j], expected);
                }
            }
        }
    }
}

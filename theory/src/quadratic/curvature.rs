//! The curvature of the softmax loss at scores whose softmax is pi, `diag pi - pi pi'`, in its steepest direction.

/// How steep, and what the paper's argument looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct Curvature {
    /// The largest eigenvalue of the curvature.
    pub largest: f64,
    /// The Rayleigh quotient in the direction of pi.
    pub along_pi: f64,
    /// `2 max pi (1 - pi)`, which no eigenvalue exceeds (Gershgorin).
    pub gershgorin: f64,
}

/// The curvature at scores whose softmax is `pi`, a distribution over items.
pub fn curvature(pi: &[f64]) -> Curvature {
    let power = |exponent: i32| pi.iter().map(|p| p.powi(exponent)).sum::<f64>();
    Curvature {
        largest: largest_eigenvalue(pi),
        along_pi: (power(3) / power(2) - power(2)).max(0.0),
        gershgorin: pi.iter().map(|p| 2.0 * p * (1.0 - p)).fold(0.0, f64::max),
    }
}

/// A diagonal less a rank-one matrix has its largest eigenvalue between its two largest entries, at the root of
/// `1 - sum_j pi_j^2 / (pi_j - x)`, which falls from infinity at the second to minus infinity at the largest (Golub, 1973): O(n), where a decomposition is O(n^3).
fn largest_eigenvalue(pi: &[f64]) -> f64 {
    let (mut first, mut second) = (0.0_f64, 0.0_f64);
    for &p in pi {
        second = second.max(p.min(first));
        first = first.max(p);
    }
    let (mut low, mut high) = (second, first);
    // Halved until neighbours of 64-bit floats are left.
    for _ in 0..64 {
        let middle = low.midpoint(high);
        let is_above = 1.0 - pi.iter().filter(|&&p| p > 0.0).map(|p| p * p / (p - middle)).sum::<f64>() < 0.0;
        if is_above { high = middle } else { low = middle }
    }
    low
}

/// One item with this share, and the rest even; of at least two items.
pub fn led(items: usize, share: f64) -> Vec<f64> {
    let others = items - 1;
    [share].into_iter().chain(vec![(1.0 - share) / others as f64; others]).collect()
}

/// Distributions over at least two items that tell the cases apart, with what they are called.
pub fn examples(items: usize) -> Vec<(&'static str, Vec<f64>)> {
    let mut two = vec![0.0; items];
    two[..2].fill(0.5);
    vec![
        ("uniform", vec![1.0 / items as f64; items]),
        ("0.91 and the rest even", led(items, 0.91)),
        ("0.5 and 0.5", two),
        ("0.5 and the rest even", led(items, 0.5)),
        ("0.999 and the rest even", led(items, 0.999)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_near;
    use proptest::prelude::*;

    /// THEORY section 6: ten items.
    #[test]
    fn the_table_of_the_reference() {
        let expected = [(0.1, 0.0), (0.091, 0.080_022_92), (0.5, 0.0), (0.277_777_78, 0.177_777_78), (0.001_11, 0.000_998_78)];
        for ((name, pi), (largest, along_pi)) in examples(10).into_iter().zip(expected) {
            let found = curvature(&pi);
            assert!((found.largest - largest).abs() < 1e-8 && (found.along_pi - along_pi).abs() < 1e-8, "{name}: {found:?}");
        }
    }

    #[test]
    fn one_certain_item_has_no_curvature() {
        assert_near(curvature(&[1.0, 0.0, 0.0]).largest, 0.0, 1e-15);
        assert_near(curvature(&[0.5, 0.5]).largest, 0.5, 1e-15);
    }

    /// By power iteration, a hundred thousand times slower.
    fn by_iteration(pi: &[f64]) -> f64 {
        let mut v: Vec<f64> = (0..pi.len()).map(|item| 1.0 + (item as f64).sin()).collect();
        let mut length = 0.0;
        for _ in 0..20_000 {
            let along: f64 = pi.iter().zip(&v).map(|(p, v)| p * v).sum();
            let next: Vec<f64> = pi.iter().zip(&v).map(|(p, v)| p * v - p * along).collect();
            length = next.iter().map(|x| x * x).sum::<f64>().sqrt();
            v = next.iter().map(|x| x / length.max(1e-300)).collect();
        }
        length
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn the_eigenvalue_is_that_of_the_matrix(weights in prop::collection::vec(0.0..1.0_f64, 2..9)) {
            let total: f64 = weights.iter().sum();
            prop_assume!(total > 0.1);
            let pi: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
            let found = curvature(&pi);
            prop_assert!((found.largest - by_iteration(&pi)).abs() < 1e-5, "{:?}", found);
            prop_assert!(found.along_pi <= found.largest + 1e-12);
            prop_assert!(found.largest <= found.gershgorin.min(0.5) + 1e-12);
        }
    }
}

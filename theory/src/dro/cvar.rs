//! The worst case within a ball of the CVaR divergence, by its definition and by its dual.

/// How far apart two equal values of the dual function may be.
const ROUNDING: f64 = 1e-13;

/// The mean of the m largest losses: what DNS over all negatives, of which it takes the best m, has on average.
///
/// # Panics
/// When m is 0 or above the number of losses.
pub fn mean_of_largest(losses: &[f64], m: usize) -> f64 {
    assert!((1..=losses.len()).contains(&m), "the mean of {m} of {} losses", losses.len());
    let mut sorted = losses.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    sorted[..m].iter().sum::<f64>() / m as f64
}

/// `eta + E[(l - eta)+] / beta`, the dual function of Equation 15; `count` is n beta, the number of losses that the ball keeps, in parts of one too.
pub fn cvar(losses: &[f64], count: f64, eta: f64) -> f64 {
    eta + losses.iter().map(|loss| (loss - eta).max(0.0)).sum::<f64>() / count
}

/// The least value of the dual function and the least eta that has it, up to rounding. The function is convex and linear between losses, so that one of
/// these has it.
///
/// # Panics
/// When there is no loss.
pub fn dual_minimum(losses: &[f64], count: f64) -> (f64, f64) {
    let mut sorted = losses.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let largest = *sorted.first().expect("a user has negatives");
    // From the largest loss down: so many losses are above eta, and this is their sum.
    let (mut least, mut above) = ((largest, largest), 0.0);
    for (place, &eta) in sorted.iter().enumerate() {
        let value = eta + (above - place as f64 * eta) / count;
        if value <= least.0 + ROUNDING * (1.0 + least.0.abs()) {
            least = (value.min(least.0), eta);
        }
        above += eta;
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_near;
    use proptest::prelude::*;

    /// By hand: of 4, 3, 1 and 0 the worst half has a mean of 3.5, and between 1 and 3 the dual is flat.
    #[test]
    fn a_worked_example() {
        let losses = [1.0, 4.0, 0.0, 3.0];
        assert_near(mean_of_largest(&losses, 2), 3.5, 1e-15);
        for (eta, expected) in [(0.0, 4.0), (1.0, 3.5), (2.0, 3.5), (3.0, 3.5), (4.0, 4.0)] {
            assert_near(cvar(&losses, 2.0, eta), expected, 1e-15);
        }
        assert_eq!(dual_minimum(&losses, 2.0), (3.5, 1.0));
        // Half of the third largest: (4 + 3 + 0.5) / 2.5.
        assert_eq!(dual_minimum(&losses, 2.5), (3.0, 1.0));
        assert_eq!(dual_minimum(&losses, 0.5), (4.0, 4.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// One pass from the largest loss down finds what all losses tried in turn do.
        #[test]
        fn the_minimum_is_that_over_all_losses(losses in prop::collection::vec(-3.0..3.0_f64, 1..20), count in 0.1..20.0_f64) {
            let tried = losses.iter().map(|&eta| cvar(&losses, count, eta)).fold(f64::INFINITY, f64::min);
            prop_assert!((dual_minimum(&losses, count).0 - tried).abs() < 1e-12);
        }

        /// No distribution whose probabilities are at most 1/m has a larger expectation.
        #[test]
        fn nothing_within_the_ball_is_worse(losses in prop::collection::vec(-3.0..3.0_f64, 2..12), weights in prop::collection::vec(0.0..1.0_f64, 12), m in 1_usize..12) {
            let n = losses.len();
            let m = m.min(n);
            // Half of the way from a random distribution back to the uniform one, as far as the bound allows.
            let total: f64 = weights[..n].iter().sum::<f64>() + 1e-9;
            let (uniform, bound) = (1.0 / n as f64, 1.0 / m as f64);
            let largest = weights[..n].iter().map(|weight| (weight + 1e-9 / n as f64) / total).fold(0.0, f64::max);
            let share = if largest <= bound { 1.0 } else { (bound - uniform) / (largest - uniform) };
            let q = weights[..n].iter().map(|weight| uniform + share * ((weight + 1e-9 / n as f64) / total - uniform));
            let expectation: f64 = q.zip(&losses).map(|(q, loss)| q * loss).sum();
            prop_assert!(expectation <= mean_of_largest(&losses, m) + 1e-9);
        }
    }
}

//! The worst case within a ball of the Kullback-Leibler divergence, and the temperature whose softmax it is.

/// Halvings of an interval of temperatures, which span less than e^64.
const HALVINGS: u32 = 60;

/// The weights `exp(l_j / tau) / sum_k exp(l_k / tau)`.
pub fn softmax(losses: &[f64], temperature: f64) -> Vec<f64> {
    let largest = losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = losses.iter().map(|loss| ((loss - largest) / temperature).exp()).collect();
    let total: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / total).collect()
}

/// The Kullback-Leibler divergence of a distribution from the uniform one over as many items, in nats.
pub fn divergence(weights: &[f64]) -> f64 {
    let n = weights.len() as f64;
    weights.iter().filter(|&&weight| weight > 0.0).map(|weight| weight * (weight * n).ln()).sum()
}

/// The temperature tau whose softmax of the losses is at the divergence `rho` from uniform: the solution of Equation 22. `None` where there is none:
/// all losses are equal, or `rho` is at least that of the largest losses alone, log n where one is the largest.
pub fn temperature(losses: &[f64], rho: f64) -> Option<f64> {
    let (least, largest) = losses.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &loss| (low.min(loss), high.max(loss)));
    let ties = losses.iter().filter(|&&loss| loss >= largest).count();
    let furthest = (losses.len() as f64 / ties as f64).ln();
    if !(rho > 0.0 && rho < furthest && largest > least) {
        return None;
    }
    // The divergence falls with the temperature: from its limit near the range divided by a great number, to nothing far above the range.
    let range = (largest - least).ln();
    let (mut low, mut high) = (range - 32.0, range + 32.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if divergence(&softmax(losses, middle.exp())) > rho {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high).exp())
}

/// `tau (log E[exp(l / tau)] + rho)`, the dual function of Equation 21.
pub fn value(losses: &[f64], rho: f64, temperature: f64) -> f64 {
    let largest = losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = losses.iter().map(|loss| ((loss - largest) / temperature).exp()).sum::<f64>() / losses.len() as f64;
    largest + temperature * (mean.ln() + rho)
}

/// `sqrt(Var(l) / (2 rho))` with the variance over all n: Equation 17, the second-order approximation of [`temperature`].
pub fn approximate_temperature(losses: &[f64], rho: f64) -> f64 {
    let n = losses.len() as f64;
    let mean = losses.iter().sum::<f64>() / n;
    let variance = losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / n;
    (variance / (2.0 * rho)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_near;

    /// The losses of example A of the reference's SAMPLERS section 3.
    const LOSSES: [f64; 4] = [0.55435524, 0.20141328, 0.85435524, 0.28733533];

    /// Temperatures of the reference; values and weights by a bisection in Python.
    #[test]
    fn the_example_of_the_reference() {
        for (rho, exact, approximate, expected) in [
            (0.01, 1.833_011_69, 1.803_724_48, 0.510_756_110_14),
            (0.1, 0.584_091_23, 0.570_387_76, 0.590_574_688_51),
            (1.0, 0.128_201_21, 0.180_372_45, 0.818_724_905_08),
        ] {
            let tau = temperature(&LOSSES, rho).unwrap();
            assert_near(tau, exact, 1e-8);
            assert_near(approximate_temperature(&LOSSES, rho), approximate, 1e-8);
            let weights = softmax(&LOSSES, tau);
            assert_near(divergence(&weights), rho, 1e-12);
            let weighted: f64 = weights.iter().zip(&LOSSES).map(|(weight, loss)| weight * loss).sum();
            assert_near(weighted, expected, 1e-10);
            assert_near(value(&LOSSES, rho, tau), expected, 1e-10);
        }
        let weights = softmax(&LOSSES, temperature(&LOSSES, 1.0).unwrap());
        for (weight, expected) in weights.iter().zip([0.086428247154, 0.005508449564, 0.897296198263, 0.010767105019]) {
            assert_near(*weight, expected, 1e-9);
        }
    }

    #[test]
    fn the_temperature_has_the_least_dual_value() {
        let tau = temperature(&LOSSES, 0.3).unwrap();
        for factor in [0.9, 0.99, 1.01, 1.1] {
            assert!(value(&LOSSES, 0.3, tau) < value(&LOSSES, 0.3, factor * tau), "{factor}");
        }
    }

    #[test]
    fn there_is_no_temperature_beyond_the_largest_losses_alone() {
        assert_eq!(temperature(&LOSSES, 4.0_f64.ln()), None);
        assert_eq!(temperature(&[1.0, 1.0, 0.0, 0.0], 2.0_f64.ln()), None);
        assert!(temperature(&[1.0, 1.0, 0.0, 0.0], 0.69).is_some());
        assert_eq!(temperature(&[0.5; 3], 0.1), None);
    }

    /// The gradient of the worst case is that of the losses, weighed by the softmax at tau as a constant.
    #[test]
    fn the_worst_case_has_the_detached_weights_as_its_gradient() {
        let rho = 0.2;
        let worst = |losses: &[f64]| value(losses, rho, temperature(losses, rho).unwrap());
        let weights = softmax(&LOSSES, temperature(&LOSSES, rho).unwrap());
        for (item, weight) in weights.iter().enumerate() {
            let moved = |step: f64| {
                let mut losses = LOSSES;
                losses[item] += step;
                worst(&losses)
            };
            assert_near((moved(1e-5) - moved(-1e-5)) / 2e-5, *weight, 1e-7);
        }
    }
}

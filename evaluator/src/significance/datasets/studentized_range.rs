//! The studentized range of k normal values of a known variance: infinite degrees of freedom.
//!
//! ```text
//! P(Q > q) = k integral phi(z) (Phi(z)^(k-1) - (Phi(z) - Phi(z - q))^(k-1)) dz
//! ```
//! The usual form is 1 minus the integral of the second term; this one keeps the digits of small tails. The integrand is smooth and falls off
//! like a normal density, so that the trapezoidal rule over the whole line converges exponentially (Trefethen and Weideman, SIAM Rev. 2014).

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// Width of a step of the integral.
const STEP: f64 = 1.0 / 16.0;
/// Beyond so many standard deviations the density is nothing beside 1e-10.
const FAR: f64 = 9.0;

/// The probability that the range of so many standard normal values exceeds `q`.
pub fn studentized_range_tail(q: f64, values: usize) -> f64 {
    if q <= 0.0 {
        return 1.0;
    }
    let normal = Normal::standard();
    let others = values as f64 - 1.0;
    let term = |place: u32| {
        let z = f64::from(place) * STEP - FAR;
        let (below, beyond) = (normal.cdf(z), normal.cdf(z - q));
        let within = (-beyond / below).ln_1p(); // log of the share of what is below z that is no further than q
        -normal.pdf(z) * below.powf(others) * (others * within).exp_m1()
    };
    let steps = ((2.0 * FAR + q) / STEP) as u32;
    ((0..=steps).map(term).sum::<f64>() * STEP * values as f64).clamp(0.0, 1.0)
}

/// What the range of so many standard normal values exceeds with probability `tail`, above 0 and below 1.
pub fn studentized_range_quantile(tail: f64, values: usize) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while studentized_range_tail(high, values) > tail {
        (low, high) = (high, 2.0 * high);
    }
    while high - low > 1e-13 * high {
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if studentized_range_tail(middle, values) > tail { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.studentized_range.sf(q, values, numpy.inf)`
    #[test]
    fn tails() {
        let expected = [
            (2, 1.0, 0.4795001221869535),
            (3, 3.3145, 0.049999387596061484),
            (4, 3.633, 0.0500149789953781),
            (4, 0.01, 0.999999873015108),
            (5, 2.0, 0.6184494805509919),
            (10, 4.474, 0.050013241593053315),
            (50, 6.0, 0.01940665253570628),
            (100, 5.0, 0.47854770644698774),
        ];
        for (values, q, tail) in expected {
            assert!((studentized_range_tail(q, values) - tail).abs() < 1e-10, "{values} {q}: {}", studentized_range_tail(q, values));
        }
        assert!((studentized_range_tail(8.0, 3) / 4.6214387094956066e-8 - 1.0).abs() < 1e-6);
        assert_eq!((studentized_range_tail(0.0, 4), studentized_range_tail(90.0, 4)), (1.0, 0.0));
    }

    /// Two values: `2 scipy.stats.norm.sf(q / sqrt(2))`, far into the tail.
    #[test]
    fn small_tails_keep_their_digits() {
        let expected = 2.0 * Normal::standard().sf(12.0 / 2.0_f64.sqrt());
        assert!((studentized_range_tail(12.0, 2) / expected - 1.0).abs() < 1e-9, "{expected}");
    }

    /// `scipy.stats.studentized_range.isf(tail, values, numpy.inf)`; by the square root of 2, Demsar's Table 5a: 1.960, 2.343, 2.569, 2.728.
    #[test]
    fn quantiles() {
        let expected = [
            (2, 2.771807648699355, 3.642772735436894),
            (3, 3.314493155398122, 4.12030320646012),
            (4, 3.6331595749026278, 4.402800861448699),
            (5, 3.857655510378623, 4.602821042201571),
            (10, 4.474124221725907, 5.156634960089622),
            (50, 5.646026026380527, 6.228392608582205),
        ];
        for (values, five, one) in expected {
            assert!((studentized_range_quantile(0.05, values) - five).abs() < 1e-9, "{values}");
            assert!((studentized_range_quantile(0.01, values) - one).abs() < 1e-9, "{values}");
        }
    }
}

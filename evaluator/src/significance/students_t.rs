//! Student's t distribution for any degrees of freedom, the infinite ones included.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};

/// From so many degrees of freedom on, the distribution is taken from the normal one by a transform: to 1e-14 within 3 deviations, to 1e-8 within 20.
const MANY: f64 = 200.0;

/// Student's t, centred at zero.
pub(crate) enum Students {
    Few(StudentsT),
    /// The distribution with so many degrees of freedom.
    Many(f64),
    Normal,
}

impl Students {
    /// The distribution of so many degrees of freedom, more than zero.
    pub(crate) fn new(degrees: f64) -> Self {
        if degrees >= MANY {
            return if degrees.is_finite() { Self::Many(degrees) } else { Self::Normal };
        }
        StudentsT::new(0.0, 1.0, degrees).map_or(Self::Normal, Self::Few)
    }

    /// The probability of more than `quantile`.
    pub(crate) fn tail(&self, quantile: f64) -> f64 {
        match self {
            Self::Few(t) => t.sf(quantile),
            Self::Many(degrees) => Normal::standard().sf(deviate(quantile, *degrees)),
            Self::Normal => Normal::standard().sf(quantile),
        }
    }

    /// The density, of many degrees of freedom with Stirling's series of the gamma functions' ratio.
    pub(crate) fn density(&self, quantile: f64) -> f64 {
        match self {
            Self::Few(t) => t.pdf(quantile),
            Self::Many(n) => {
                let ratio = 1.0 - 1.0 / (4.0 * n) + 1.0 / (32.0 * n * n);
                ratio * (-(n + 1.0) / 2.0 * (quantile * quantile / n).ln_1p()).exp() / std::f64::consts::TAU.sqrt()
            }
            Self::Normal => Normal::standard().pdf(quantile),
        }
    }

    /// What is exceeded with probability `tail`, at most one half. Newton's steps from the normal quantile, which is never above it: there
    /// the tail is convex, so they rise to the root. `StudentsT::inverse_cdf` is off in the fifth digit for a million users.
    pub(crate) fn upper_quantile(&self, tail: f64) -> f64 {
        let mut quantile = -Normal::standard().inverse_cdf(tail);
        for _ in 0..200 {
            let step = (self.tail(quantile) - tail) / self.density(quantile);
            quantile += step;
            if step.abs() <= 1e-13 * quantile {
                break;
            }
        }
        quantile
    }
}

/// The normal deviate with the same tail as `quantile` under Student's t: Hill, Algorithm 395, CACM 1970, doi:10.1145/355598.355599.
fn deviate(quantile: f64, degrees: f64) -> f64 {
    let a = degrees - 0.5;
    let b = 48.0 * a * a;
    let square = a * (quantile * quantile / degrees).ln_1p();
    let series = (((-0.4 * square - 3.3) * square - 24.0) * square - 85.5) / (0.8 * square * square + 100.0 + b) + square + 3.0;
    (series / b + 1.0) * square.sqrt().copysign(quantile)
}

/// The quantiles that are exceeded with one probability, for any degrees of freedom: interpolated between tabulated ones, within 1e-4 of them.
pub(crate) struct UpperQuantiles {
    /// Their logarithms, at degrees of freedom of equal ratios.
    logs: Vec<f64>,
    limit: f64,
}

/// The smallest degrees of freedom that are tabulated.
const LEAST: f64 = 0.25;
/// The logarithm of the ratio of neighbouring degrees of freedom.
const RATIO: f64 = 0.012;
/// How many are tabulated: up to about 2,000 degrees of freedom.
const TABULATED: usize = 760;

impl UpperQuantiles {
    /// Tabulates the quantiles for a probability, at most one half.
    pub(crate) fn new(tail: f64) -> Self {
        let log = |place: usize| Students::new(LEAST * (RATIO * place as f64).exp()).upper_quantile(tail).ln();
        Self { logs: (0..TABULATED).map(log).collect(), limit: Students::new(f64::INFINITY).upper_quantile(tail) }
    }

    /// The quantile for so many degrees of freedom, more than zero.
    pub(crate) fn of(&self, degrees: f64) -> f64 {
        let place = ((degrees / LEAST).ln() / RATIO).max(0.0);
        let below = place as usize;
        match self.logs.get(below + 1) {
            Some(above) => (self.logs[below] + (above - self.logs[below]) * (place - below as f64)).exp(),
            // Beyond the table the distance to the normal quantile falls as the inverse of the degrees of freedom.
            None => {
                self.limit
                    * (1.0 + (self.logs[TABULATED - 1].exp() / self.limit - 1.0) * (RATIO * (TABULATED - 1) as f64).exp() * LEAST / degrees)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabulated_quantiles_are_the_quantiles() {
        let table = UpperQuantiles::new(0.025);
        for degrees in [0.8, 1.0, 1.37, 4.0, 33.3, 938.0, 2.1e3, 3e4, 1e9] {
            let exact = Students::new(degrees).upper_quantile(0.025);
            assert!((table.of(degrees) / exact - 1.0).abs() < 1e-4, "{degrees}: {} {exact}", table.of(degrees));
        }
    }

    /// `mpmath.betainc`, 40 digits.
    #[test]
    fn tails() {
        let expected = [
            (150.0, 2.5, 0.006_747_661_009_347_441),
            (200.0, 4.0, 4.456_547_609_296_719e-5),
            (938.0, 3.0, 0.001_385_581_260_824_405_4),
            (29_999.0, 1.9, 0.028_721_349_424_977_883),
            (4e6, 5.5, 1.899_071_940_319_948_6e-8),
            (938.0, -3.0, 1.0 - 0.001_385_581_260_824_405_4),
        ];
        for (degrees, quantile, tail) in expected {
            let found = Students::new(degrees).tail(quantile);
            assert!((found / tail - 1.0).abs() < 1e-9, "{degrees} {quantile}: {found}");
        }
    }

    /// `scipy.stats.t.ppf(1 - tail, df)`, `scipy.stats.norm.ppf(1 - tail)`
    #[test]
    fn quantiles() {
        let expected = [
            (1.0, 0.025, 12.706204736174694),
            (2.0, 1e-6, 707.1057205259339),
            (1.5, 0.001, 52.18443000899265),
            (938.0, 0.025, 1.9624962693987675),
            (f64::INFINITY, 0.025, 1.959963984540054),
        ];
        for (degrees, tail, quantile) in expected {
            let found = Students::new(degrees).upper_quantile(tail);
            assert!((found - quantile).abs() < 1e-9 * quantile.max(1.0), "{degrees} {tail}: {found}");
        }
    }
}

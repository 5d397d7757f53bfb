//! Student's t distribution for any degrees of freedom, the infinite ones included.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};

/// Beyond so many degrees of freedom the distribution is the normal one to all digits that matter.
const NORMAL: f64 = 1e7;

/// Student's t, centred at zero.
pub(crate) enum Students {
    Finite(StudentsT),
    Normal(Normal),
}

impl Students {
    /// The distribution of so many degrees of freedom, more than zero.
    pub(crate) fn new(degrees: f64) -> Self {
        let finite = if degrees < NORMAL { StudentsT::new(0.0, 1.0, degrees).ok() } else { None };
        finite.map_or_else(|| Self::Normal(Normal::standard()), Self::Finite)
    }

    /// The probability of more than `quantile`.
    pub(crate) fn tail(&self, quantile: f64) -> f64 {
        match self {
            Self::Finite(t) => t.sf(quantile),
            Self::Normal(normal) => normal.sf(quantile),
        }
    }

    fn density(&self, quantile: f64) -> f64 {
        match self {
            Self::Finite(t) => t.pdf(quantile),
            Self::Normal(normal) => normal.pdf(quantile),
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
    #[test]
    fn tabulated_quantiles_are_the_quantiles() {
        let table = UpperQuantiles::new(0.025);
        for degrees in [0.8, 1.0, 1.37, 4.0, 33.3, 938.0, 2.1e3, 3e4, 1e9] {
            let exact = Students::new(degrees).upper_quantile(0.025);
            assert!((table.of(degrees) / exact - 1.0).abs() < 1e-4, "{degrees}: {} {exact}", table.of(degrees));
        }
    }

    use super::*;

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

//! How a latent score becomes a metric's value.

use statrs::distribution::{ContinuousCDF, Normal};

/// The last rank that counts.
const CUTOFF: u32 = 20;
/// The share of users whose held-out item is within the cutoff, before seeds move it.
const HITS: f64 = 0.15;

/// The form of the metric's values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The latent score.
    Normal,
    /// NDCG@20 of one held-out item, whose rank is `ceil(exp(-latent))`: of 21 values, zero for 85% of users.
    Sparse,
}

impl Form {
    /// The name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Sparse => "sparse",
        }
    }

    /// The metric of a latent score.
    pub(crate) fn value(self, latent: f64) -> f64 {
        match self {
            Self::Normal => latent,
            // Compared before the exponential is taken: most ranks are beyond.
            Self::Sparse if latent < -f64::from(CUTOFF).ln() => 0.0,
            Self::Sparse => gain((-latent).exp().ceil().max(1.0)),
        }
    }

    /// The expectation of the metric of normal latent scores.
    pub(crate) fn mean(self, offset: f64, deviation: f64) -> f64 {
        let within = |rank: u32| Normal::standard().cdf((offset + f64::from(rank).ln()) / deviation);
        let lost = |rank: u32| gain(f64::from(rank)) - if rank < CUTOFF { gain(f64::from(rank + 1)) } else { 0.0 };
        match self {
            Self::Normal => offset,
            Self::Sparse => (1..=CUTOFF).map(|rank| lost(rank) * within(rank)).sum(),
        }
    }

    /// The offset at which the metric has this expectation: by bisection, as it rises with the offset.
    pub(crate) fn offset(self, mean: f64, deviation: f64) -> f64 {
        let (mut low, mut high) = (-100.0, 100.0);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if self.mean(middle, deviation) < mean { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    }

    /// The offset of methods before seeds are added.
    pub(crate) fn usual_offset(self, deviation: f64) -> f64 {
        match self {
            Self::Normal => 0.0,
            Self::Sparse => deviation * Normal::standard().inverse_cdf(HITS) - f64::from(CUTOFF).ln(),
        }
    }
}

fn gain(rank: f64) -> f64 {
    1.0 / (1.0 + rank).log2()
}

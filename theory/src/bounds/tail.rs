//! The probability of at least so many high-scoring negatives among those sampled.

use statrs::distribution::{Binomial, Discrete, DiscreteCDF, Hypergeometric};

/// How negatives are drawn from the population.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// Negatives are distinct, as in the paper. The count is hypergeometric.
    WithoutReplacement,
    /// Each negative is drawn from all, as is usual in practice. The count, repeats included, is binomial.
    WithReplacement,
}

impl Sampling {
    /// Both ways of drawing.
    pub const ALL: [Self; 2] = [Self::WithoutReplacement, Self::WithReplacement];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::WithoutReplacement => "without-replacement",
            Self::WithReplacement => "with-replacement",
        }
    }
}

/// Terms of a tail from which on the other tail, where it has fewer, is summed up: it leaves fewer digits of a small probability.
const MANY: u64 = 1_000;

/// `P(X >= needed)` of the number X of drawn ones among `above` of `population`, in `draws` draws.
///
/// # Panics
/// When more are `above`, or drawn, than there are.
pub(super) fn at_least(needed: u64, above: u64, draws: u64, population: u64, sampling: Sampling) -> f64 {
    let Some(below) = needed.checked_sub(1) else { return 1.0 };
    let probability = match sampling {
        Sampling::WithoutReplacement => {
            let count = Hypergeometric::new(population, above, draws).expect("no more above or drawn than there are");
            let terms = above.min(draws).saturating_sub(below);
            if terms > MANY && below < terms { 1.0 - count.cdf(below) } else { count.sf(below) }
        }
        Sampling::WithReplacement => binomial(needed, above as f64 / population as f64, draws),
    };
    probability.clamp(0.0, 1.0)
}

/// `P(X >= needed)` of a binomial X, `needed` at least 1. The terms of the tail away from the mode are added up from the largest on: the continued fraction of the
/// library's incomplete beta function ends too soon where millions are drawn.
fn binomial(needed: u64, share: f64, draws: u64) -> f64 {
    if needed > draws || share == 0.0 {
        return 0.0;
    }
    if share == 1.0 {
        return 1.0;
    }
    let count = Binomial::new(share, draws).expect("a share is a probability");
    let odds = share / (1.0 - share);
    let is_above = needed as f64 > (draws as f64 + 1.0) * share;
    let mut at = if is_above { needed } else { needed - 1 };
    let (mut term, mut sum) = (count.pmf(at), 0.0);
    while term > sum * f64::EPSILON * 1e-3 {
        sum += term;
        match is_above {
            true if at == draws => break,
            true => (at, term) = (at + 1, term * odds * (draws - at) as f64 / (at + 1) as f64),
            false if at == 0 => break,
            false => (at, term) = (at - 1, term / odds * at as f64 / (draws - at + 1) as f64),
        }
    }
    if is_above { sum } else { 1.0 - sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_near;
    use proptest::prelude::*;

    /// Values of `scipy.stats.hypergeom.sf` and `binom.sf`.
    #[test]
    fn tails_are_those_of_scipy() {
        let without = |needed, above, draws, population| at_least(needed, above, draws, population, Sampling::WithoutReplacement);
        let with = |needed, above, draws, population| at_least(needed, above, draws, population, Sampling::WithReplacement);
        assert_near(without(2, 9, 100, 1000), 2.248101157022e-01, 1e-9);
        assert_near(without(9, 9, 100, 1000), 7.156580493200e-10, 1e-15);
        assert_near(without(3, 20_000, 64, 1_000_000), 1.366261658388e-01, 1e-9);
        assert_near(without(1, 999, 1, 1000), 9.99e-01, 1e-9);
        assert_near(without(3, 3_000, 2_000, 1_000_000), 0.9384769842898553, 1e-9);
        assert_near(without(60, 5_000, 20_000, 1_000_000), 9.999949148959e-01, 1e-9);
        assert_near(without(40, 400, 100, 1000), 5.405439827492e-01, 1e-9);
        assert_near(with(2, 9, 100, 1000), 2.273490856331e-01, 1e-9);
        assert_near(with(9, 9, 100, 1000), 3.525869790121e-07, 1e-12);
        assert_near(with(3, 20_000, 64, 1_000_000), 1.366315604647e-01, 1e-9);
        assert_near(with(11, 10, 100, 1000), 6.255518382834e-09, 1e-14);
        assert_near(with(500_000, 500_000, 1_000_000, 1_000_000), 0.5003989421806654, 1e-7);
        assert_near(with(50_000_000, 49_999_999, 100_000_000, 100_000_000), 0.49996010577199657, 1e-6);
        assert_near(with(10_003_000, 9_999_999, 100_000_000, 100_000_000), 0.15861492095174431, 1e-6);
        assert_near(with(1_010_000, 1_000_000, 3_000_000, 3_000_000), 9.887236008772435e-35, 1e-40);
        assert_eq!([with(1, 1000, 1, 1000), with(1, 0, 5, 10), without(1, 0, 5, 10), without(0, 0, 5, 10)], [1.0, 0.0, 0.0, 1.0]);
    }

    proptest! {
        /// Theorem 3 rests on this: more high-scoring negatives make every count more probable.
        #[test]
        fn more_above_are_more_probable(population in 1u64..400, one in 0.0..1.0, other in 0.0..1.0, share in 0.0..1.0, needed in 0u64..30) {
            let count = |share: f64| (share * population as f64) as u64;
            let (fewer, more) = (count(one).min(count(other)), count(one).max(count(other)));
            for sampling in Sampling::ALL {
                let tail = |above| at_least(needed, above, count(share), population, sampling);
                prop_assert!(tail(fewer) <= tail(more) + 1e-9, "{} {}", tail(fewer), tail(more));
                prop_assert!((0.0..=1.0).contains(&tail(more)));
            }
        }
    }
}

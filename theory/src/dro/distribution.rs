//! Which negatives are trained on, by their rank among all of a user's.

use super::{approximate_temperature, softmax};
use crate::normal::normal;
use statrs::distribution::{DiscreteCDF, Hypergeometric};

/// The probability of each rank, best first, to be the one that DNS(M, N) trains on: N distinct ones of all items are drawn, and one of the M best
/// of these is taken. Item r is drawn with N/n, and is one of the best M when fewer than M of the r - 1 better ones are among the other N - 1.
///
/// # Panics
/// When not 1 <= M <= N <= n.
pub fn dns(items: usize, candidates: usize, negatives: usize) -> Vec<f64> {
    assert!(1 <= negatives && negatives <= candidates && candidates <= items, "DNS({negatives}, {candidates}) of {items} items");
    let scale = candidates as f64 / (items * negatives) as f64;
    let better = |rank: usize| {
        let count =
            Hypergeometric::new(items as u64 - 1, rank as u64, candidates as u64 - 1).expect("no more are better or drawn than there are");
        count.cdf(negatives as u64 - 1)
    };
    (0..items).map(|rank| if rank < negatives { scale } else { scale * better(rank) }).collect()
}

/// The probability of each loss, in the given order, to be trained on by Softmax-v(rho, N) of Algorithm 2, over the given pools of places: the mean
/// of the pools' weights. A pool whose losses are all equal weighs them alike.
pub fn softmax_v(losses: &[f64], rho: f64, pools: &[Vec<usize>]) -> Vec<f64> {
    let mut probabilities = vec![0.0; losses.len()];
    for pool in pools {
        let of_pool: Vec<f64> = pool.iter().map(|&place| losses[place]).collect();
        let tau = approximate_temperature(&of_pool, rho);
        let weights = if tau > 0.0 { softmax(&of_pool, tau) } else { vec![1.0 / pool.len() as f64; pool.len()] };
        pool.iter().zip(weights).for_each(|(&place, weight)| probabilities[place] += weight / pools.len() as f64);
    }
    probabilities
}

/// A pool of so many distinct places of `items`, by Floyd's method.
pub fn pool_of(items: usize, count: usize, uniform: &mut impl FnMut() -> f64) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(count);
    for last in items - count..items {
        let place = (uniform() * (last + 1) as f64) as usize;
        chosen.push(if chosen.contains(&place) { last } else { place });
    }
    chosen
}

/// Losses of `items` negatives, largest first, whose scores are the quantiles of a standard normal distribution, against a positive one standard
/// deviation above their mean.
pub fn normal_losses(items: usize) -> Vec<f64> {
    let score = |rank: usize| normal(1.0 - (rank as f64 + 0.5) / items as f64);
    (0..items).map(|rank| softplus(score(rank) - 1.0)).collect()
}

/// `log(1 + exp(x))`, the logistic loss of a margin of -x.
pub(super) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_near;

    /// All 20 sets of three of six items, counted out in Python.
    #[test]
    fn dns_counted_out() {
        for (found, expected) in dns(6, 3, 2).iter().zip([0.25, 0.25, 0.225, 0.175, 0.1, 0.0]) {
            assert_near(*found, expected, 1e-12);
        }
    }

    #[test]
    fn all_candidates_are_uniform_and_all_items_the_best_alone() {
        assert!(dns(7, 4, 4).iter().all(|probability| (probability - 1.0 / 7.0).abs() < 1e-12));
        assert_eq!(dns(5, 5, 2), [0.5, 0.5, 0.0, 0.0, 0.0]);
        assert_near(dns(1_000, 200, 5).iter().sum(), 1.0, 1e-9);
    }

    /// SAMPLERS section 3: example A with rho = 1 and the variance over all.
    #[test]
    fn a_pool_of_all_has_the_weights_of_the_reference() {
        let losses = [0.55435524, 0.20141328, 0.85435524, 0.28733533];
        let found = softmax_v(&losses, 1.0, &[vec![0, 1, 2, 3]]);
        for (found, expected) in found.iter().zip([0.15048524, 0.02126633, 0.79400535, 0.03424307]) {
            assert_near(*found, expected, 1e-8);
        }
        assert_eq!(softmax_v(&[0.5; 4], 1.0, &[vec![0, 1], vec![2, 3]]), [0.25; 4]);
    }

    #[test]
    fn places_are_distinct() {
        let mut places = pool_of(10, 10, &mut crate::testing::fractions(3));
        places.sort_unstable();
        assert_eq!(places, (0..10).collect::<Vec<_>>());
    }
}

//! How many different items are expected among draws.

use super::super::work::different;

/// Ranks whose probabilities are taken one by one; beyond them they differ so little that many are taken together.
const SINGLE: u64 = 1_000;
/// From one group of ranks to the next.
const RATIO: f64 = 1.01;

/// What items are drawn by.
#[derive(Clone, Copy)]
pub(super) enum Law {
    /// All alike.
    Uniform,
    /// The j-th most popular of n has the share 1 / (j H_n).
    Popularity,
}

impl Law {
    /// `sum_j 1 - (1 - p_j)^draws`
    pub(super) fn different(self, items: f64, draws: f64) -> f64 {
        match self {
            Self::Uniform => different(items, draws),
            Self::Popularity => popular(items as u64, draws),
        }
    }
}

fn popular(items: u64, draws: f64) -> f64 {
    let all = harmonic(items as f64);
    let seen = |rank: f64| -(draws * (-1.0 / (rank * all)).ln_1p()).exp_m1();
    let mut sum: f64 = (1..=items.min(SINGLE)).map(|rank| seen(rank as f64)).sum();
    let mut from = SINGLE + 1;
    while from <= items {
        let to = ((from as f64 * RATIO) as u64).min(items);
        sum += (to - from + 1) as f64 * seen((from as f64 + to as f64) / 2.0);
        from = to + 1;
    }
    sum
}

/// `1 + 1/2 + ... + 1/n`
fn harmonic(n: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    if n < 100.0 { (1..=n as u64).map(|term| 1.0 / term as f64).sum() } else { n.ln() + EULER + 0.5 / n - 1.0 / (12.0 * n * n) }
}

/// Of two items with shares 2/3 and 1/3, two draws see 1 - 1/9 + 1 - 4/9.
#[test]
fn popular_items_repeat_themselves() {
    assert!((Law::Popularity.different(2.0, 2.0) - 13.0 / 9.0).abs() < 1e-12);
    assert!((Law::Uniform.different(2.0, 2.0) - 1.5).abs() < 1e-12);
}

#[test]
fn groups_of_ranks_give_the_sum_of_all() {
    let (items, draws) = (200_000_u64, 128_000.0);
    let all: f64 = (1..=items).map(|rank| 1.0 / rank as f64).sum();
    let exact: f64 = (1..=items).map(|rank| 1.0 - (1.0 - 1.0 / (rank as f64 * all)).powf(draws)).sum();
    let found = Law::Popularity.different(items as f64, draws);
    assert!((found - exact).abs() < 1e-5 * exact, "{found} is not {exact}");
    assert!(exact < Law::Uniform.different(items as f64, draws));
}

//! The statements on random users.

use super::{
    approximate_temperature,
    distribution::{pool_of, softplus},
    divergence, dns, dual_minimum, mean_of_largest, softmax, softmax_v, temperature, value,
};
use crate::{Statement, normal::normal_from};
use rayon::prelude::*;

/// Random users of each statement: so many scores, of at least the least and at most the most users.
const SCORES: usize = 200_000;
const LEAST: usize = 20;
const MOST: usize = 1_000;
/// The most that rounding may add.
const ROUNDING: f64 = 1e-9;
/// Divergences of the paper's grid that random users are looked at with.
const RHOS: [f64; 4] = [0.01, 0.1, 1.0, 10.0];
/// Candidates of a pool, and pools, over which hardness is compared.
const POOL: usize = 200;
const POOLS: usize = 20;

/// One user's scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    positives: Vec<f64>,
    negatives: Vec<f64>,
}

impl Case {
    /// Normal scores of a random size: 1 to 3 positives, about one standard deviation above so many negatives.
    pub fn draw(negatives: usize, uniform: &mut impl FnMut() -> f64) -> Self {
        let size = 0.25 + 3.75 * uniform();
        let count = 1 + (uniform() * 3.0) as usize;
        let mut scores = |n: usize, mean: f64| (0..n).map(|_| size * (mean + normal_from(uniform()))).collect();
        Self { positives: scores(count, 1.0), negatives: scores(negatives, 0.0) }
    }

    /// The logistic losses `log(1 + exp(s_j - s_i))` of all negatives j, by positive i.
    pub fn losses(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        self.positives.iter().map(|positive| self.negatives.iter().map(|negative| softplus(negative - positive)).collect())
    }

    /// The negatives' places, best first.
    fn best_first(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.negatives.len()).collect();
        places.sort_by(|&a, &b| self.negatives[b].total_cmp(&self.negatives[a]));
        places
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * (1.0 + a.abs())
}

/// Whether Lemma 1 and Theorems 1 and 2 hold of random users with so many negatives, and what Figure 7 reads off its curves. `uniform` gives numbers of
/// `[0, 1)`.
pub fn statements(negatives: usize, uniform: &mut impl FnMut() -> f64) -> Vec<Statement> {
    let users: Vec<Case> = (0..(SCORES / negatives).clamp(LEAST, MOST)).map(|_| Case::draw(negatives, uniform)).collect();
    let mut shares: Vec<usize> = [0.001, 0.01, 0.1, 0.5].iter().map(|share| ((share * negatives as f64) as usize).max(1)).collect();
    shares.dedup();
    let by_share = |holds: &(dyn Fn(&Case, &[f64], usize) -> bool + Sync)| -> Vec<bool> {
        let of_user = |user: &Case| {
            user.losses().flat_map(|losses| shares.iter().map(|&m| holds(user, &losses, m)).collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        users.par_iter().map(of_user).collect::<Vec<_>>().concat()
    };
    let solved: Vec<Solved> = users
        .par_iter()
        .flat_map_iter(|user| user.losses().flat_map(|losses| RHOS.map(|rho| Solved::new(&losses, rho))))
        .flatten()
        .collect();
    let mut statements = vec![
        Statement::of(
            "the worst case of the CVaR ball is the mean of the n β largest losses",
            "Lemma 1",
            by_share(&|_, losses, m| near(dual_minimum(losses, m as f64).0, mean_of_largest(losses, m))),
        ),
        Statement::of(
            "the least η of its dual leaves at most a share β above it",
            "Equation 16",
            by_share(&|_, losses, m| above(losses, dual_minimum(losses, m as f64).1) <= m),
        ),
        Statement::of(
            "DNS of the best n β negatives trains on it",
            "Theorem 1",
            by_share(&|user, losses, m| {
                near(user.best_first()[..m].iter().map(|&place| losses[place]).sum::<f64>() / m as f64, mean_of_largest(losses, m))
            }),
        ),
        Statement::of(
            "the worst case of the KL ball is the softmax of the losses at the solved temperature",
            "Equation 23",
            solved.iter().map(|at| near(at.value, at.weighted)),
        ),
        Statement::of(
            "it is at least that of the CVaR ball of the same ρ",
            "Theorem 2: a surrogate",
            solved.iter().map(|at| at.of_cvar <= at.value + ROUNDING),
        ),
    ];
    statements.extend(hardness(negatives, &users[0], uniform));
    statements
}

fn above(losses: &[f64], eta: f64) -> usize {
    losses.iter().filter(|&&loss| loss > eta).count()
}

/// The KL ball's worst case for one positive, where there is a temperature.
struct Solved {
    /// The dual's value at the solved temperature.
    value: f64,
    /// The expected loss under the softmax at that temperature.
    weighted: f64,
    /// The worst case of the CVaR ball.
    of_cvar: f64,
}

impl Solved {
    fn new(losses: &[f64], rho: f64) -> Option<Self> {
        let tau = temperature(losses, rho)?;
        let weights = softmax(losses, tau);
        Some(Self {
            value: value(losses, rho, tau),
            weighted: weights.iter().zip(losses).map(|(weight, loss)| weight * loss).sum(),
            of_cvar: dual_minimum(losses, losses.len() as f64 * (-rho).exp()).0,
        })
    }
}

/// What Figure 7 shows: the harder, the larger the probability of the best k, for every k.
fn hardness(negatives: usize, user: &Case, uniform: &mut impl FnMut() -> f64) -> Vec<Statement> {
    let pool = POOL.min(negatives);
    let mut losses = user.losses().next().expect("a user has a positive");
    losses.sort_unstable_by(|a, b| b.total_cmp(a));
    let pools: Vec<Vec<usize>> = (0..POOLS).map(|_| pool_of(negatives, pool, uniform)).collect();
    let chain = |curves: Vec<Vec<f64>>| curves.windows(2).flat_map(|pair| dominates(&pair[1], &pair[0])).collect::<Vec<bool>>();
    let of_negatives: Vec<usize> = [50, 20, 10, 5, 2, 1].into_iter().filter(|&m| m <= pool).collect();
    let of_candidates: Vec<usize> = [50, 100, 200, 400].into_iter().filter(|&n| n <= negatives).collect();
    vec![
        Statement::of(
            "a smaller M of DNS(M, N) is harder",
            "Figure 7",
            chain(of_negatives.iter().map(|&m| dns(negatives, pool, m)).collect()),
        ),
        Statement::of(
            "a larger N of DNS(M, N) is harder",
            "Figure 7",
            chain(of_candidates.iter().map(|&n| dns(negatives, n, 5)).collect()),
        ),
        Statement::of(
            "a larger ρ of Softmax-v(ρ, N) is harder",
            "Figure 7",
            chain(RHOS.iter().map(|&rho| softmax_v(&losses, rho, &pools)).collect()),
        ),
    ]
}

/// Whether the best k have at least the probability that they have in the other distribution, for every k.
fn dominates(harder: &[f64], softer: &[f64]) -> Vec<bool> {
    let sums = |probabilities: &[f64]| {
        probabilities
            .iter()
            .scan(0.0, |sum, probability| {
                *sum += probability;
                Some(*sum)
            })
            .collect::<Vec<f64>>()
    };
    sums(harder).iter().zip(sums(softer)).map(|(harder, softer)| *harder >= softer - ROUNDING).collect()
}

/// What the printed temperature is worth at a divergence: means over random users for whom there is an exact one.
#[derive(Clone, Debug, PartialEq)]
pub struct Temperatures {
    /// The divergence that is asked for.
    pub rho: f64,
    /// Pairs of a user and a positive, and those of them without an exact temperature.
    pub pairs: u64,
    /// Pairs without an exact temperature, as `rho` is beyond that of the largest loss alone.
    pub unsolved: u64,
    /// The mean of printed over exact temperature; `None` where no pair has one.
    pub ratio: Option<f64>,
    /// The mean divergence of the softmax at the printed temperature, over all pairs.
    pub reached: f64,
    /// The mean of the share of negatives whose CVaR is the expected loss there: the beta that the printed temperature has.
    pub beta: f64,
}

/// The printed temperature against the exact one, by divergence, over so many random users.
pub fn temperatures(negatives: usize, users: usize, rhos: &[f64], uniform: &mut impl FnMut() -> f64) -> Vec<Temperatures> {
    let losses: Vec<Vec<f64>> = (0..users).flat_map(|_| Case::draw(negatives, uniform).losses().collect::<Vec<_>>()).collect();
    rhos.par_iter().map(|&rho| of_rho(&losses, rho)).collect()
}

fn of_rho(losses: &[Vec<f64>], rho: f64) -> Temperatures {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let ratios: Vec<f64> =
        losses.iter().filter_map(|losses| temperature(losses, rho).map(|exact| approximate_temperature(losses, rho) / exact)).collect();
    let weights: Vec<Vec<f64>> = losses.iter().map(|losses| softmax(losses, approximate_temperature(losses, rho))).collect();
    let betas: Vec<f64> = losses.iter().zip(&weights).map(|(losses, weights)| beta(losses, weights)).collect();
    Temperatures {
        rho,
        pairs: losses.len() as u64,
        unsolved: (losses.len() - ratios.len()) as u64,
        ratio: (!ratios.is_empty()).then(|| mean(&ratios)),
        reached: mean(&weights.iter().map(|weights| divergence(weights)).collect::<Vec<_>>()),
        beta: mean(&betas),
    }
}

/// The largest share of losses whose mean from the top is at least the weighted one.
fn beta(losses: &[f64], weights: &[f64]) -> f64 {
    let target: f64 = weights.iter().zip(losses).map(|(weight, loss)| weight * loss).sum();
    let mut sorted = losses.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut sum = 0.0;
    let holds = |(place, loss): &(usize, f64)| {
        sum += loss;
        sum / (place + 1) as f64 >= target - ROUNDING
    };
    sorted.into_iter().enumerate().take_while(holds).count() as f64 / losses.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_near, fractions};

    #[test]
    fn all_of_them_hold() {
        for negatives in [120, 300] {
            for statement in statements(negatives, &mut fractions(1)) {
                assert!(statement.holds() && statement.cases > 0, "{statement:?}");
            }
        }
    }

    #[test]
    fn what_is_softer_is_seen() {
        assert_eq!(dominates(&[0.5, 0.5, 0.0], &[0.4, 0.5, 0.1]), [true, true, true]);
        assert_eq!(dominates(&[0.4, 0.5, 0.1], &[0.5, 0.5, 0.0]), [false, false, true]);
    }

    /// By hand: 4, 3, 1, 0 have the means 4, 3.5, 8/3 and 2 from the top.
    #[test]
    fn beta_is_the_share_with_that_mean() {
        let losses = [1.0, 4.0, 0.0, 3.0];
        assert_near(beta(&losses, &[0.0, 1.0, 0.0, 0.0]), 0.25, 0.0);
        assert_near(beta(&losses, &[0.0, 0.4, 0.1, 0.5]), 0.5, 0.0);
        assert_near(beta(&losses, &[0.25; 4]), 1.0, 0.0);
    }

    #[test]
    fn where_rho_is_beyond_all_losses_there_is_no_temperature() {
        let rows = temperatures(100, 20, &[0.01, 10.0], &mut fractions(2));
        assert_eq!((rows[0].unsolved, rows[1].unsolved), (0, rows[1].pairs));
        assert!(rows[1].ratio.is_none() && (0.9..1.1).contains(&rows[0].ratio.unwrap()));
    }
}

//! How often tests of one pair of methods err.

use super::{ALPHA, Population, Rate};
use evaluator::{
    settings::Over,
    significance::{Differences, MethodValues, Spreads, bootstrap::BootstrapDistribution, over_users},
};
use rayon::prelude::*;

/// Resamples of the bootstrap.
const RESAMPLES: u32 = 1000;

/// The errors of the t tests of the first two methods.
pub(crate) struct PairRates {
    /// How often the default test calls methods different that are not.
    pub(crate) false_positives: Rate,
    /// How often the test over users alone does.
    pub(crate) false_positives_users: Rate,
    /// How often the default interval holds the true difference of methods that differ.
    pub(crate) coverage: Rate,
    /// How often the interval of a method's mean holds the true mean.
    pub(crate) coverage_of_means: Rate,
    /// How often the default test finds a true difference.
    pub(crate) power: Rate,
    /// How often the test over users alone does.
    pub(crate) power_users: Rate,
}

/// A pair in one repeat.
struct Seen {
    difference: f64,
    half_width: f64,
    half_width_users: f64,
    /// Whether the intervals of the two means hold the truth, where neither method is better.
    means_held: [bool; 2],
}

/// The rates over so many sets without a difference, and as many of which the first method is better.
pub(crate) fn pair(population: &Population, repeats: usize) -> PairRates {
    let seen = |better: usize| -> Vec<Seen> {
        (0..repeats).into_par_iter().map(|repeat| see(&population.draw(better, "pair", repeat), population.mean)).collect()
    };
    let (equal, apart) = (seen(0), seen(1));
    let default = |pair: &Seen| pair.difference.abs() > pair.half_width;
    let users = |pair: &Seen| pair.difference.abs() > pair.half_width_users;
    PairRates {
        false_positives: Rate::of(equal.iter().map(default)),
        false_positives_users: Rate::of(equal.iter().map(users)),
        coverage: Rate::of(apart.iter().map(|pair| (pair.difference - population.step).abs() <= pair.half_width)),
        coverage_of_means: Rate::of(equal.iter().flat_map(|pair| pair.means_held)),
        power: Rate::of(apart.iter().map(default)),
        power_users: Rate::of(apart.iter().map(users)),
    }
}

fn see(methods: &[MethodValues<'_>], mean: f64) -> Seen {
    let spreads = Spreads::new(methods);
    let differences = Differences::new(&methods[0].values, &methods[1].values);
    let held = |method: usize| {
        let values = &methods[method].values;
        let half_width = spreads.of_mean(method, values, Over::UsersAndSeeds).half_width(ALPHA);
        (methods[method].mean() - mean).abs() <= half_width
    };
    Seen {
        difference: differences.mean(),
        half_width: spreads.of_pair(0, 1, &differences, Over::UsersAndSeeds).half_width(ALPHA),
        half_width_users: over_users(&differences).half_width(ALPHA),
        means_held: [held(0), held(1)],
    }
}

/// How often the bootstrap calls the first two methods different that are not.
pub(crate) fn bootstrap(population: &Population, repeats: usize) -> Rate {
    let significant = |repeat: usize| {
        let methods = &population.draw(0, "bootstrap", repeat)[..2];
        let difference = Differences::new(&methods[0].values, &methods[1].values).mean();
        BootstrapDistribution::new(methods, Over::UsersAndSeeds, RESAMPLES, repeat as u64).p_value(0, 1, difference) < ALPHA
    };
    Rate::of((0..repeats).into_par_iter().map(significant).collect::<Vec<bool>>())
}

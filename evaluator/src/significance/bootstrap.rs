//! The bootstrap over users and seeds: how the mean difference would vary over other users and other trainings.
//!
//! Users are resampled for all methods together, and each method's replicates by themselves, independently of the users (the pigeonhole
//! bootstrap: Owen, Ann. Appl. Stat. 2007, doi:10.1214/07-AOAS122); splits, which methods share, are drawn for all of them together. Deviations of users and of replicates are widened by `sqrt(n / (n - 1))`, as few of
//! them, drawn with replacement, vary too little. With `D*` the resampled difference less the observed one `d`:
//!
//! ```text
//! p = (1 + #{|D*| >= |d|}) / (R + 1),   interval: d ± the |D*| that is exceeded with probability alpha
//! ```
//! A method with one replicate has nothing to resample: it counts users alone; and users who all differ by the same have nothing either, so that nothing is decided. With two or
//! three replicates, or few users, the t test is the better one, as few draws have few values (docs/statistics.md).

use super::{
    Interval,
    compare::Compared,
    correction::romano_wolf::{critical, p_value},
    joint::ratio,
    kind::{Found, OfMean, TestKind},
    method::{MethodValues, Replication, originals},
    power::Needed,
    resample::Resampled,
    simultaneous::{Alone, simultaneous},
    spread::Spread,
    stream::stream,
};
use crate::significance::{Over, Significance};
use rand::Rng;
use rayon::prelude::*;

/// Draws of replicates are keyed apart from those of users.
const REPLICATES: u64 = 0x0b00_7574_4a95_0000;

/// `bootstrap`
pub(super) struct Bootstrap;

impl TestKind for Bootstrap {
    fn name(&self) -> &'static str {
        "bootstrap"
    }

    fn words(&self, _counted: Over) -> &'static str {
        "bootstrap"
    }

    /// Two or three seeds are few values to draw from.
    fn fewest_seeds(&self) -> usize {
        4
    }

    fn fewest_users(&self) -> Option<usize> {
        Some(50)
    }

    fn counts_seeds(&self) -> bool {
        true
    }

    /// A few values, drawn again, call too much different.
    fn tells_by_seeds_alone(&self) -> bool {
        false
    }

    fn resamples(&self, _is_joint: bool) -> bool {
        true
    }

    fn finest_p_value(&self, settings: &Significance) -> Option<(&'static str, u32)> {
        Some(("bootstrap_resamples", settings.bootstrap_resamples))
    }

    fn found(&self, compared: &Compared, resampled: Option<&Resampled>) -> Found {
        let Significance { alpha, bootstrap_resamples: resamples, seed, .. } = *compared.settings;
        let over = compared.over;
        let Some(resampled) = resampled else {
            return Found { tested: Vec::new(), p_adjusted: Vec::new(), correction: compared.settings.correction, mean: None };
        };
        let both = BootstrapDistribution::of(compared.methods, resampled, over, resamples, seed);
        // Of pairs of which users alone are counted.
        let is_of_users = |&(a, b): &(usize, usize)| counted(compared, a, b) != over;
        let of_users = compared.pairs.all.iter().any(is_of_users);
        let of_users = of_users.then(|| BootstrapDistribution::of(compared.methods, resampled, Over::Users, resamples, seed));
        let of = |a: usize, b: usize| of_users.as_ref().filter(|_| is_of_users(&(a, b))).unwrap_or(&both);
        // Over seeds nothing can be resampled of a method with one, and over users nothing of one user, or of users who all differ by the same.
        let is_of_one_user = over != Over::Seeds && compared.methods.iter().any(|method| method.users.len() < 2);
        let is_unknown = |pair: usize| match (over, compared.pairs.all[pair]) {
            (Over::Seeds, (a, b)) => is_single(compared, a) || is_single(compared, b),
            _ => is_of_one_user || compared.differences[pair].is_constant,
        };
        let of_pair = |pair: usize| {
            let (a, b) = compared.pairs.all[pair];
            if is_unknown(pair) {
                return (1.0, f64::INFINITY, f64::INFINITY);
            }
            let bootstrap = of(a, b);
            let sizes = bootstrap.sizes(a, b);
            let error = (sizes.iter().map(|size| size * size).sum::<f64>() / sizes.len() as f64).sqrt();
            (bootstrap.p_value(a, b, compared.differences[pair].mean), bootstrap.half_width(a, b, alpha), error)
        };
        let found: Vec<(f64, f64, f64)> = (0..compared.pairs.all.len()).into_par_iter().map(of_pair).collect();
        let p_values: Vec<f64> = found.iter().map(|(p_value, ..)| *p_value).collect();
        let half_widths: Vec<f64> = found.iter().map(|(_, half, _)| *half).collect();
        let draw = |resample: u32, out: &mut [f64]| {
            for ((&(a, b), half), out) in compared.pairs.all.iter().zip(&half_widths).zip(out) {
                *out = ratio(of(a, b).size(resample, a, b), *half);
            }
        };
        let half_width = |pair: usize, alpha: f64| {
            let (a, b) = compared.pairs.all[pair];
            if is_unknown(pair) { f64::INFINITY } else { of(a, b).half_width(a, b, alpha) }
        };
        let alone = Alone { p_values, half_widths: half_widths.clone(), scales: half_widths.clone(), half_width: &half_width };
        let adjusted = simultaneous(&alone, &compared.family(), resamples, &draw);
        let of_mean = |pair: usize| {
            let (a, b) = compared.pairs.all[pair];
            let (difference, half) = (compared.differences[pair].mean, adjusted.half_widths[pair]);
            OfMean {
                interval: Interval { low: difference - half, high: difference + half },
                standard_error: found[pair].2,
                counted: counted(compared, a, b),
                p_equivalence: None,
                needed: Needed::default(),
            }
        };
        let tested = (0..found.len()).map(|pair| compared.tested_by_mean(pair, alone.p_values[pair], found[pair].2)).collect();
        Found {
            tested,
            mean: Some((0..found.len()).map(of_mean).collect()),
            p_adjusted: adjusted.p_values,
            correction: compared.settings.correction,
        }
    }
}

/// What the bootstrap counts of a pair: users alone where a method has one seed, which cannot be resampled.
fn counted(compared: &Compared, a: usize, b: usize) -> Over {
    let single = is_single(compared, a) || is_single(compared, b);
    if single && compared.over == Over::UsersAndSeeds { Over::Users } else { compared.over }
}

/// Whether a method has one replicate, of what has a spread.
fn is_single(compared: &Compared, method: usize) -> bool {
    let spread = &compared.spreads.methods[method];
    spread.raw.is_none() && spread.source != Spread::None
}

/// Each method's mean in each resample, less its observed mean.
pub struct BootstrapDistribution {
    methods: usize,
    deviations: Vec<f64>,
}

impl BootstrapDistribution {
    /// Resamples what `over` names, for all methods together; they have the same users.
    pub fn new(methods: &[MethodValues<'_>], over: Over, resamples: u32, seed: u64) -> Self {
        let rows: Vec<&[f64]> = methods.iter().flat_map(|method| method.replicates.iter().map(|values| &**values)).collect();
        Self::of(methods, &Resampled::new(&rows, resamples, seed), over, resamples, seed)
    }

    /// Makes the distribution from the resampled means of all replicates, in the order of the methods.
    pub(crate) fn of(methods: &[MethodValues<'_>], users: &Resampled, over: Over, resamples: u32, seed: u64) -> Self {
        let means: Vec<Vec<f64>> = methods.iter().map(MethodValues::replicate_means).collect();
        let is_shared =
            |method: &MethodValues| method.replication == Replication::Splits && method.replicates.len() == methods[0].replicates.len();
        let (share_splits, originals) = (methods.iter().all(is_shared), originals(methods));
        let of_users = widened(methods.first().map_or(0, |method| method.values.len()));
        let mut deviations = vec![0.0; resamples as usize * methods.len()];
        deviations.par_chunks_mut(methods.len().max(1)).enumerate().for_each(|(resample, out)| {
            let mut words = stream(seed ^ REPLICATES, resample as u32);
            let mut users = users.of(resample as u32);
            let mut counts = Vec::new();
            for (method, means) in means.iter().enumerate() {
                let (of_method, rest) = users.split_at(means.len());
                users = rest;
                if originals[method] < method {
                    out[method] = out[originals[method]];
                    continue;
                }
                if method == 0 || !share_splits {
                    counts = draw(means.len(), &mut words);
                }
                out[method] = deviation(means, of_method, of_users, &counts, over);
            }
        });
        Self { methods: methods.len(), deviations }
    }

    /// The size of each resample's deviation of the difference of two methods.
    pub(crate) fn sizes(&self, a: usize, b: usize) -> Vec<f64> {
        self.deviations.chunks_exact(self.methods).map(|methods| (methods[a] - methods[b]).abs()).collect()
    }

    /// The size of one resample's deviation of the difference of two methods.
    pub(crate) fn size(&self, resample: u32, a: usize, b: usize) -> f64 {
        let methods = &self.deviations[resample as usize * self.methods..];
        (methods[a] - methods[b]).abs()
    }

    /// The p-value of an observed difference; 1 where it is zero.
    pub fn p_value(&self, a: usize, b: usize, difference: f64) -> f64 {
        if difference == 0.0 {
            return 1.0;
        }
        let sizes = self.sizes(a, b);
        p_value(sizes.iter().filter(|&&size| size >= difference.abs()).count() as u32, sizes.len() as u32)
    }

    /// Half the width of the interval of a difference at the level `1 - alpha`; infinite where the resamples are too few for it.
    pub fn half_width(&self, a: usize, b: usize, alpha: f64) -> f64 {
        critical(self.sizes(a, b), alpha)
    }

    /// The interval of a difference at the level `1 - alpha`.
    pub fn interval(&self, a: usize, b: usize, difference: f64, alpha: f64) -> Interval {
        let half = self.half_width(a, b, alpha);
        Interval { low: difference - half, high: difference + half }
    }
}

/// The deviation of a method's mean, from how often each replicate is drawn and the users' deviations of each, which are widened. As many are drawn as there are, it does not matter what
/// replicates are set against: against the first one, so that equal replicates add nothing.
fn deviation(means: &[f64], users: &[f32], widened_users: f64, counts: &[u32], over: Over) -> f64 {
    let count = means.len() as f64;
    let user = |replicate: usize| if over == Over::Seeds { 0.0 } else { f64::from(users[replicate]) };
    let of_users = widened_users * ((0..means.len()).map(user).sum::<f64>() / count);
    if over == Over::Users || means.len() < 2 {
        return of_users;
    }
    let value = |replicate: usize| means[replicate] + widened_users * user(replicate);
    let redrawn = |replicate: usize| (f64::from(counts[replicate]) - 1.0) / count * (value(replicate) - value(0));
    of_users + widened(means.len()) * (0..means.len()).map(redrawn).sum::<f64>()
}

/// By how much the deviations of so many values that are drawn with replacement fall short of those of a sample.
fn widened(count: usize) -> f64 {
    if count < 2 { 1.0 } else { (count as f64 / (count as f64 - 1.0)).sqrt() }
}

/// How often each of so many replicates is drawn in as many draws.
fn draw(replicates: usize, words: &mut impl Rng) -> Vec<u32> {
    let mut counts = vec![0; replicates];
    for _ in 0..replicates {
        counts[(((words.next_u64() >> 32) * replicates as u64) >> 32) as usize] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::{
        Test, interval,
        method::{Replication, tests::method},
        spread::Spreads,
        tests::{A, B, in_threads, users},
    };

    fn fixed(values: &[&[f64]]) -> Vec<MethodValues<'static>> {
        values.iter().map(|values| method("m", Replication::None, &[values])).collect()
    }

    /// A method with one seed says nothing of other seeds: the row counts users alone, and so do its numbers.
    #[test]
    fn a_pair_with_one_seed_counts_users_alone() {
        let (one, other) = (A.map(|value| value + 0.01), A.map(|value| value * 0.98));
        let methods = [
            method("a", Replication::Seeds, &[&A, &one]),
            method("b", Replication::Seeds, &[&B, &other]),
            method("x", Replication::Seeds, &[&B]),
        ];
        let rows = |over: Over| {
            let settings = Significance { tests: vec![Test::Bootstrap], over, ..Significance::default() };
            let spreads = Spreads::new(&methods);
            Compared::new("d", "ndcg@20".parse().unwrap(), true, &methods, &spreads, &settings).rows(&mut || {})
        };
        for (both, users) in rows(Over::UsersAndSeeds).iter().zip(&rows(Over::Users)) {
            let is_single = both.method_b == "x";
            assert_eq!(both.over, if is_single { Over::Users } else { Over::UsersAndSeeds });
            assert_eq!((both.standard_error, both.p_value) == (users.standard_error, users.p_value), is_single, "{both:?}");
        }
    }

    /// SciPy's `bootstrap(..., method="percentile")` of the mean gives (.011, .046); this interval is wider by the square root of 10 / 9, and symmetric.
    #[test]
    fn worked_example() {
        let bootstrap = BootstrapDistribution::new(&fixed(&[&A, &B]), Over::UsersAndSeeds, 10_000, 1);
        let half = bootstrap.half_width(0, 1, 0.05);
        assert!((half / (10f64 / 9.0).sqrt() - 0.0175).abs() < 0.001, "{half}");
        let p = bootstrap.p_value(0, 1, 0.028);
        assert!(p < 0.005, "{p}");
    }

    #[test]
    fn many_users_agree_with_the_t_interval() {
        let (a, b) = (users(1000, 1), users(1000, 2));
        let t = interval(&a.iter().zip(&b).map(|(a, b)| a - b).collect::<Vec<_>>(), 0.9);
        let bootstrap = BootstrapDistribution::new(&fixed(&[&a, &b]), Over::Users, 10_000, 1);
        let width = t.high - t.low;
        assert!((2.0 * bootstrap.half_width(0, 1, 0.1) / width - 1.0).abs() < 0.04);
    }

    /// The variance over resamples is that of users and that of seeds: s²/U + s²_seeds/n, as the rescaling makes it.
    #[test]
    fn users_and_seeds_add_up() {
        let base = users(2000, 5);
        let seeds: Vec<Vec<f64>> = [-0.01, 0.0, 0.025].iter().map(|shift| base.iter().map(|value| value + shift).collect()).collect();
        let rows: Vec<&[f64]> = seeds.iter().map(Vec::as_slice).collect();
        let methods = [method("a", Replication::Seeds, &rows), method("b", Replication::None, &[&vec![0.5; 2000]])];
        let spread = |over: Over| {
            let sizes = BootstrapDistribution::new(&methods, over, 20_000, 3).sizes(0, 1);
            sizes.iter().map(|size| size * size).sum::<f64>() / sizes.len() as f64
        };
        let of_users = crate::significance::spread::variance_of_mean(&base);
        let of_seeds = (0.015f64.powi(2) + 0.005f64.powi(2) + 0.02f64.powi(2)) / 2.0 / 3.0;
        for (over, expected) in [(Over::Users, of_users), (Over::Seeds, of_seeds), (Over::UsersAndSeeds, of_users + of_seeds)] {
            assert!((spread(over) / expected - 1.0).abs() < 0.05, "{over:?}: {} {expected}", spread(over));
        }
    }

    /// What is harder on a split is so for both methods.
    #[test]
    fn what_methods_share_on_a_split_is_no_spread_of_their_difference() {
        let values = |by: f64| [0.28, 0.27, 0.30, 0.26, 0.29].map(|split| vec![split + by; 40]);
        let of =
            |name: &str, replication, values: &[Vec<f64>]| method(name, replication, &values.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let half_width = |replication| {
            let methods = [of("a", replication, &values(0.01)), of("b", replication, &values(0.0))];
            BootstrapDistribution::new(&methods, Over::UsersAndSeeds, 2000, 1).half_width(0, 1, 0.05)
        };
        assert!(half_width(Replication::Splits) < 1e-12 && half_width(Replication::Seeds) > 0.01);
    }

    #[test]
    fn equal_replicates_add_nothing() {
        let one = users(50, 4);
        let methods = [method("a", Replication::Seeds, &[&one[..]; 5]), method("b", Replication::None, &[&one])];
        let sizes = BootstrapDistribution::new(&methods, Over::UsersAndSeeds, 500, 1).sizes(0, 1);
        assert_eq!(sizes, [0.0; 500]);
    }

    /// Ten users drawn with replacement have 9 / 10 of the variance of a mean of ten: s² / n is met all the same.
    #[test]
    fn few_users_vary_as_a_sample_does() {
        let sizes = BootstrapDistribution::new(&fixed(&[&A, &[0.0; 10]]), Over::Users, 40_000, 1).sizes(0, 1);
        let variance = sizes.iter().map(|size| size * size).sum::<f64>() / sizes.len() as f64;
        assert!((variance / crate::significance::spread::variance_of_mean(&A) - 1.0).abs() < 0.03, "{variance}");
    }

    #[test]
    fn threads_and_other_methods_change_nothing() {
        let methods = fixed(&[&A, &B, &[0.5; 10]]);
        let run = || BootstrapDistribution::new(&methods, Over::UsersAndSeeds, 2000, 1).half_width(0, 1, 0.05);
        let one = in_threads(1, run);
        assert_eq!(one, in_threads(2, run));
        assert_eq!(one, BootstrapDistribution::new(&methods[..2], Over::UsersAndSeeds, 2000, 1).half_width(0, 1, 0.05));
    }
}

//! The joint distribution of all comparisons of a family when no methods differ: what [`step_down`](super::correction::romano_wolf::step_down) adjusts by.
//!
//! For the t test each resample draws users for all methods together, how far the variance of each pair's differences is off, a variance over replicates for each method from what is known of it (its
//! posterior), a normal deviation of that variance, and the variance that such replicates would have shown. These are moderated anew in units of the methods' scales, as the
//! prior too is only an estimate; a comparison's statistic is its difference in units of the [`scale`](Crossed::scale) of [`Crossed`] for these variances. So the statistic that is resampled is the one that is
//! tested, and what few seeds do not know is in it. For the bootstrap the statistic is the resampled difference, less the observed one, in
//! units of its own half width.

use super::{
    crossed::Crossed,
    moderation::Prior,
    pairs::PairKind,
    resample::Resampled,
    spread::{MethodSpread, Spreads},
    stream::stream,
    students_t::UpperQuantiles,
};
use crate::significance::Over;
use rand::Rng;
use rand_xoshiro::SplitMix64;

/// Draws for replicates are keyed apart from those of users.
const REPLICATES: u64 = 0x5eed_5eed_5eed_5eed;

/// With more degrees of freedom of users than these, the scales of all pairs in a resample are off by one draw: by 4 % at most, most of the time.
const OWN_SCALES: f64 = 1000.0;

/// The statistics of the t test under the hypothesis that no methods differ.
pub(crate) struct JointT<'a> {
    /// Users' deviations of the methods' means: `[resamples, methods]`.
    pub(crate) users: &'a Resampled,
    pub(crate) spreads: &'a Spreads,
    pub(crate) pairs: &'a [(usize, usize)],
    /// Which pairs are one comparison, and which have one difference for all users.
    pub(crate) kinds: &'a [PairKind],
    /// The variance of each pair.
    pub(crate) crossed: &'a [Crossed],
    /// Student's quantiles that are exceeded with probability `alpha / 2`, by which differences are scaled.
    pub(crate) quantiles: &'a UpperQuantiles,
    pub(crate) over: Over,
    pub(crate) seed: u64,
}

/// A method in one resample.
#[derive(Clone, Copy)]
struct Drawn {
    deviation: f64,
    /// The variance of its mean over replicates, as they would have shown it.
    variance: f64,
    /// Its share of the inverse degrees of freedom: `variance / degrees`.
    spent: f64,
}

impl JointT<'_> {
    /// The size of each pair's statistic in a resample, in the order of the pairs.
    pub(crate) fn draw(&self, resample: u32, out: &mut [f64]) {
        let mut stream = stream(self.seed ^ REPLICATES, resample);
        let degrees = self.crossed.first().map_or(0.0, |pair| pair.users_degrees);
        let z = self.quantiles.of(degrees);
        let methods = self.methods(resample, degrees, &mut stream);
        let mut users_scale = None;
        for (number, (&(a, b), pair)) in self.pairs.iter().zip(self.crossed).enumerate() {
            match self.kinds[number] {
                PairKind::Copy(earlier) => {
                    out[number] = out[earlier];
                    continue;
                }
                PairKind::OneMethod => {
                    out[number] = 0.0;
                    continue;
                }
                PairKind::Own | PairKind::Constant => {}
            }
            let (a, b) = (&methods[a], &methods[b]);
            if degrees > 0.0 && (users_scale.is_none() || degrees < OWN_SCALES) {
                users_scale = Some(chi_square(&mut stream, degrees) / degrees);
            }
            let of_users = match self.kinds[number] {
                PairKind::Constant if pair.users.is_finite() => normal(&mut stream) * pair.users.sqrt(),
                _ => 0.0,
            };
            let (replicates, spent) = (a.variance + b.variance, a.spent + b.spent);
            let t = if spent > 0.0 { self.quantiles.of(replicates / spent) } else { 0.0 };
            let scale = Crossed { users: pair.users * users_scale.unwrap_or(1.0), replicates, ..*pair }.scale([z, t]);
            out[number] = ratio((a.deviation - b.deviation + of_users).abs(), scale);
        }
    }

    fn methods(&self, resample: u32, degrees: f64, stream: &mut SplitMix64) -> Vec<Drawn> {
        // The mean of n drawn users has a variance that is (n - 1) / n of that of the mean of n users.
        let widened = if degrees > 0.0 { ((degrees + 1.0) / degrees).sqrt() } else { 1.0 };
        let users = self.users.of(resample).iter().map(|user| if self.over == Over::Seeds { 0.0 } else { widened * f64::from(*user) });
        if self.over == Over::Users || self.spreads.prior.is_none() {
            return users.map(|deviation| Drawn { deviation, variance: 0.0, spent: 0.0 }).collect();
        }
        let (spreads, originals) = (&self.spreads.methods, &self.spreads.originals);
        let mut drawn: Vec<(f64, f64)> = Vec::with_capacity(spreads.len());
        for ((user, spread), (place, &original)) in users.zip(spreads).zip(originals.iter().enumerate()) {
            drawn.push(if original < place { drawn[original] } else { self.replicates(spread, user, stream) });
        }
        let own = |place: usize| spreads[place].raw.map(|_| (drawn[place].1 / spreads[place].scale, own_degrees(&spreads[place])));
        let is_first = |place: &usize| originals[*place] == *place;
        let prior = Prior::fit(&(0..drawn.len()).filter(is_first).filter_map(own).collect::<Vec<_>>(), self.spreads.independent);
        let of_method = |(spread, &(deviation, raw)): (&MethodSpread, &(f64, f64))| {
            let Some(prior) = prior.filter(|_| spread.variance > 0.0) else { return Drawn { deviation, variance: 0.0, spent: 0.0 } };
            let (moderated, degrees) = prior.moderated(raw / spread.scale, own_degrees(spread));
            let variance = spread.scale * moderated / spread.replicates as f64;
            Drawn { deviation, variance, spent: variance / degrees }
        };
        spreads.iter().zip(&drawn).map(of_method).collect()
    }

    /// The deviation of a method's mean, and the variance that its replicates show; zero of a single one.
    fn replicates(&self, spread: &MethodSpread, user: f64, stream: &mut SplitMix64) -> (f64, f64) {
        if spread.variance == 0.0 {
            return (user, 0.0);
        }
        // Without users the interaction is theirs no more: it is part of what other replicates of these very users would show.
        let taken_out = if self.over == Over::Seeds { 0.0 } else { spread.interaction };
        let variance = spread.variance * inverse_scale(stream, spread.degrees);
        let deviation = user + normal(stream) * ((variance - taken_out).max(0.0) / spread.replicates as f64).sqrt();
        let degrees = own_degrees(spread);
        (deviation, if degrees > 0.0 { variance * chi_square(stream, degrees) / degrees } else { 0.0 })
    }
}

/// How far the true variance may lie from an estimate of so many degrees of freedom: `degrees / χ²(degrees)`.
fn inverse_scale(stream: &mut SplitMix64, degrees: f64) -> f64 {
    degrees / chi_square(stream, degrees)
}

/// The degrees of freedom of a method's own replicates.
fn own_degrees(spread: &MethodSpread) -> f64 {
    spread.replicates.saturating_sub(1) as f64
}

/// A difference in units of its scale; infinite where it has a size and no scale, zero where it has neither.
pub(crate) fn ratio(size: f64, scale: f64) -> f64 {
    if scale > 0.0 {
        size / scale
    } else if size > 0.0 {
        f64::INFINITY
    } else {
        0.0
    }
}

/// A number in (0, 1).
fn uniform(stream: &mut SplitMix64) -> f64 {
    ((stream.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// A standard normal number, after Box and Muller.
fn normal(stream: &mut SplitMix64) -> f64 {
    (-2.0 * uniform(stream).ln()).sqrt() * (std::f64::consts::TAU * uniform(stream)).cos()
}

/// A chi-square number with so many degrees of freedom, after Marsaglia and Tsang, ACM TOMS 2000, doi:10.1145/358407.358414.
fn chi_square(stream: &mut SplitMix64, degrees: f64) -> f64 {
    let half = degrees / 2.0;
    // Below shape 1 a gamma number of shape + 1 is turned into one of shape.
    let (shape, boost) = if half < 1.0 { (half + 1.0, uniform(stream).powf(1.0 / half)) } else { (half, 1.0) };
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(stream);
        let cube = (1.0 + c * x).powi(3);
        if cube > 0.0 && uniform(stream).ln() < x * x / 2.0 + d * (1.0 - cube + cube.ln()) {
            return 2.0 * d * cube * boost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::{
        Correction, Significance, Test,
        compare::Compared,
        method::{MethodValues, Replication, tests::method},
        tests::users,
    };
    use std::collections::HashMap;

    /// The adjusted p-values of the pairs of these methods, with each pair's own.
    fn adjusted_by(methods: &[MethodValues<'_>], settings: &Significance) -> HashMap<(String, String), [f64; 2]> {
        let spreads = Spreads::new(methods);
        let rows = Compared::new("d", "ndcg@20".parse().unwrap(), true, methods, &spreads, settings).rows(&mut || {});
        rows.into_iter().map(|row| ((row.method_a, row.method_b), [row.p_adjusted, row.p_value])).collect()
    }

    /// Those by the t test, adjusted jointly.
    fn adjusted(methods: &[MethodValues<'_>]) -> HashMap<(String, String), [f64; 2]> {
        adjusted_by(methods, &Significance { tests: vec![Test::PairedT], ..Significance::default() })
    }

    /// Methods that are one formula are one comparison with each other method, and none with each other.
    #[test]
    fn copies_of_a_method_cost_the_others_nothing() {
        let user = users(200, 1);
        let of = |name: &str, shift: f64, seed: u64| {
            let row = |seed: u64| -> Vec<f64> { user.iter().zip(users(200, seed)).map(|(a, b)| 0.5 * a + 0.3 * b + shift).collect() };
            let rows: Vec<Vec<f64>> = (seed..seed + 8).map(row).collect();
            method(name, Replication::Seeds, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
        };
        let three = vec![of("a", 0.0, 10), of("b", 0.006, 20), of("c", 0.012, 30)];
        let copies = [of("a1", 0.0, 10), of("a2", 0.0, 10), of("b1", 0.006, 20)];
        let (two, with_copy) = (three[..2].to_vec(), [&three[..2], &copies[..1]].concat());
        let with_copies = [three.clone(), copies.into()].concat();
        for (correction, test) in Correction::ALL.into_iter().flat_map(|correction| Test::ALL.map(|test| (correction, test))) {
            let settings =
                Significance { tests: vec![test], correction, resamples: 999, bootstrap_resamples: 999, ..Significance::default() };
            let (alone, with_copies) = (adjusted_by(&three, &settings), adjusted_by(&with_copies, &settings));
            assert_eq!(
                alone.values().any(|[adjusted, own]| adjusted > own),
                correction != Correction::None,
                "{correction:?} {test:?} {alone:?}"
            );
            for (pair, expected) in &alone {
                assert_eq!(with_copies[pair], *expected, "{correction:?} {test:?} {pair:?}");
            }
            let (alone, with_copy) = (adjusted_by(&two, &settings), adjusted_by(&with_copy, &settings));
            alone.iter().for_each(|(pair, expected)| assert_eq!(with_copy[pair], *expected, "{correction:?} {test:?} {pair:?}"));
        }
    }

    /// Users who all differ alike show nothing in resamples of them: each such pair is one that chance may have made.
    #[test]
    fn pairs_without_a_spread_are_adjusted_too() {
        let fixed = |name: &str, value: f64| method(name, Replication::None, &[&[value; 8]]);
        let found = adjusted(&[fixed("a", 1.0), fixed("b", 0.5), fixed("c", 0.0)]);
        for (pair, [adjusted, own]) in &found {
            assert!(adjusted > own && *adjusted <= (3.0 * own).min(1.0) * 1.2, "{pair:?}: {adjusted} {own}");
        }
        assert_eq!(found.len(), 3);
    }

    /// The share of draws below quantiles of `scipy.stats.chi2` and `scipy.stats.norm`.
    #[test]
    fn draws_have_their_distributions() {
        let share = |below: &dyn Fn(&mut SplitMix64) -> bool| {
            let mut stream = stream(3, 1);
            (0..40_000).filter(|_| below(&mut stream)).count() as f64 / 40_000.0
        };
        // chi2.ppf([.1, .5, .9], [1, 2.5, 30])
        let quantiles = [
            (1.0, [0.015_790_774_093, 0.454_936_423_120, 2.705_543_454_095]),
            (2.5, [0.380_789_468, 1.873_847_768, 5.447_880_148]),
            (30.0, [20.599_234_614, 29.336_031_563, 40.256_023_739]),
        ];
        for (degrees, quantiles) in quantiles {
            for (quantile, probability) in quantiles.into_iter().zip([0.1, 0.5, 0.9]) {
                let found = share(&|stream| chi_square(stream, degrees) < quantile);
                assert!(
                    (found - probability).abs() < 4.0 * (probability * (1.0 - probability) / 40_000.0f64).sqrt(),
                    "{degrees} {quantile}: {found}"
                );
            }
        }
        for (quantile, probability) in [(-1.281_551_565_545, 0.1), (0.0, 0.5), (1.644_853_626_951, 0.95)] {
            let found = share(&|stream| normal(stream) < quantile);
            assert!((found - probability).abs() < 0.01, "{quantile}: {found}");
        }
    }
}

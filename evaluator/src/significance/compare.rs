//! The comparisons of a dataset's methods by one metric: the rows of `significance.parquet`.

use super::{
    Comparison, Differences, Interval, MethodValues, Tested, adjust,
    bootstrap::Bootstrap,
    crossed::Crossed,
    effect_size::standardised,
    joint::{JointT, ratio},
    mann_whitney::mann_whitney,
    pairs::Pairs,
    power::{Needed, Variances},
    randomization::randomization,
    resample::Resampled,
    simultaneous::{Alone, PairsOfFamily, simultaneous},
    spread::{Spread, Spreads, variance_of_mean},
    students_t::UpperQuantiles,
    verdict::{Verdict, agreeing},
    wilcoxon::wilcoxon,
};
use crate::{
    MetricAt,
    settings::{Correction, Family, Over, Significance, Test},
};
use rayon::prelude::*;

/// The methods of a dataset by one metric, with what their tests share.
pub(crate) struct Compared<'a> {
    pub(crate) dataset: &'a str,
    pub(crate) metric: MetricAt,
    pub(crate) primary: bool,
    pub(crate) methods: &'a [MethodValues<'a>],
    pub(crate) spreads: &'a Spreads,
    pub(crate) settings: &'a Significance,
    /// What is counted: users alone where nothing is known of seeds.
    over: Over,
    /// Each method's mean, which every one of its pairs asks for.
    means: Vec<f64>,
    pairs: Pairs,
    differences: Vec<Difference>,
}

/// What of a pair's differences over users is kept: those of all pairs of many methods would not fit in memory.
#[derive(Clone, Copy)]
struct Difference {
    mean: f64,
    /// The variance of the mean over users.
    variance: f64,
    effect_size: f64,
}

/// What a test finds of every pair, before the verdicts.
struct Found {
    tested: Vec<Tested>,
    p_adjusted: Vec<f64>,
    correction: Correction,
    /// The adjusted interval of each difference, its standard error and what it counts; of tests of the mean alone.
    mean: Option<Vec<OfMean>>,
}

/// What a test of the mean says of a pair.
#[derive(Clone, Copy)]
struct OfMean {
    interval: Interval,
    standard_error: f64,
    counted: Over,
    p_equivalence: Option<f64>,
    needed: Needed,
}

impl<'a> Compared<'a> {
    pub(crate) fn new(
        dataset: &'a str,
        metric: MetricAt,
        primary: bool,
        methods: &'a [MethodValues<'a>],
        spreads: &'a Spreads,
        settings: &'a Significance,
    ) -> Self {
        let pairs = Pairs::new(methods, &settings.family);
        let difference = |&(a, b): &(usize, usize)| {
            let differences = Differences::new(&methods[a].values, &methods[b].values);
            let (mean, variance) = (differences.mean(), variance_of_mean(&differences.values));
            Difference { mean, variance, effect_size: standardised(&differences.values) }
        };
        let differences = pairs.all.par_iter().map(difference).collect();
        let means = methods.iter().map(MethodValues::mean).collect();
        let unknown = spreads.prior.is_none() && spreads.methods.iter().any(|method| method.source == Spread::Unknown);
        let over = if unknown { Over::Users } else { settings.over };
        Self { dataset, metric, primary, methods, spreads, settings, over, means, pairs, differences }
    }

    /// The rows of all tests of the settings, in their order, then by pair. `done` hears of each test.
    pub(crate) fn rows(&self, done: &mut dyn FnMut()) -> Vec<Comparison> {
        let resampled = self.resampled();
        let mut rows = Vec::new();
        for &test in &self.settings.tests {
            let found = match test {
                Test::PairedT => self.paired_t(resampled.as_ref()),
                Test::Bootstrap => self.bootstrap(resampled.as_ref()),
                _ => self.over_users(test),
            };
            rows.extend(self.pairs.reported.iter().map(|&pair| self.row(pair, test, &found)));
            done();
        }
        rows
    }

    /// The resampled means of all replicates, where a test needs them.
    fn resampled(&self) -> Option<Resampled> {
        let Significance { tests, correction, bootstrap_resamples, seed, .. } = self.settings;
        let joint = *correction == Correction::RomanoWolf && self.pairs.reported.len() > 1;
        let needed = tests.contains(&Test::Bootstrap) || (tests.contains(&Test::PairedT) && joint);
        let rows = || self.methods.iter().flat_map(|method| method.replicates.iter().map(|values| &**values)).collect::<Vec<_>>();
        (needed && self.methods.len() > 1).then(|| Resampled::new(&rows(), *bootstrap_resamples, *seed))
    }

    fn paired_t(&self, resampled: Option<&Resampled>) -> Found {
        let Significance { alpha, bootstrap_resamples, seed, .. } = *self.settings;
        let over = self.over;
        let crossed: Vec<Crossed> = self
            .pairs
            .all
            .iter()
            .zip(&self.differences)
            .map(|(&(a, b), differences)| self.spreads.crossed(a, b, differences.variance, self.methods[a].users.len(), over))
            .collect();
        let p_values: Vec<f64> = crossed.par_iter().zip(&self.differences).map(|(crossed, d)| crossed.p_value(d.mean)).collect();
        let half_widths: Vec<f64> = crossed.par_iter().map(|crossed| crossed.half_width(alpha)).collect();
        let scales: Vec<f64> = crossed.par_iter().map(|crossed| crossed.scale(crossed.quantiles(alpha))).collect();
        let users = resampled.map(|resampled| resampled.averaged(self.methods.iter().map(|method| method.replicates.len())));
        let tabulated = UpperQuantiles::new(alpha / 2.0);
        let joint = users.as_ref().map(|users| JointT {
            users,
            spreads: self.spreads,
            pairs: &self.pairs.all,
            crossed: &crossed,
            quantiles: &tabulated,
            over,
            seed,
        });
        let draw = |resample: u32, out: &mut [f64]| joint.iter().for_each(|joint| joint.draw(resample, out));
        let alone = Alone { p_values, half_widths, scales, half_width: &|pair, alpha| crossed[pair].half_width(alpha) };
        let adjusted = simultaneous(&alone, &self.family(), bootstrap_resamples, &draw);
        let of_mean = |pair: usize| self.of_mean_by_t(pair, &crossed[pair], alone.half_widths[pair], adjusted.half_widths[pair]);
        let tested = |pair: usize| self.tested_by_mean(pair, alone.p_values[pair], crossed[pair].standard_error());
        Found {
            tested: (0..crossed.len()).map(tested).collect(),
            mean: Some((0..crossed.len()).map(of_mean).collect()),
            p_adjusted: adjusted.p_values,
            correction: self.settings.correction,
        }
    }

    fn of_mean_by_t(&self, pair: usize, crossed: &Crossed, alone: f64, half: f64) -> OfMean {
        let (over, alpha) = (self.over, self.settings.alpha);
        let (a, b) = self.pairs.all[pair];
        let (difference, margin) = (self.differences[pair].mean, self.margin(pair));
        let counts = [a, b].map(|method| self.spreads.methods[method].replicates).into_iter().filter(|&count| count > 1);
        let replicates = counts.min().unwrap_or(1) as u32;
        let target = margin.filter(|margin| difference.abs() < *margin).map_or(difference.abs(), |margin| margin - difference.abs());
        let critical = if alone > 0.0 { half / alone * super::normal_quantile(alpha) } else { f64::INFINITY };
        OfMean {
            interval: Interval { low: difference - half, high: difference + half },
            standard_error: crossed.standard_error(),
            counted: self.spreads.counted(a, b, over),
            p_equivalence: margin.map(|margin| crossed.p_equivalence(difference, margin)),
            needed: Variances::of(crossed, f64::from(replicates)).needed(target, replicates, self.methods[a].users.len(), critical),
        }
    }

    fn bootstrap(&self, resampled: Option<&Resampled>) -> Found {
        let Significance { alpha, bootstrap_resamples: resamples, seed, .. } = *self.settings;
        let over = self.over;
        let Some(resampled) = resampled else {
            return Found { tested: Vec::new(), p_adjusted: Vec::new(), correction: self.settings.correction, mean: None };
        };
        let bootstrap = Bootstrap::of(self.methods, resampled, over, resamples, seed);
        let of_pair = |pair: usize| {
            let (a, b) = self.pairs.all[pair];
            if over == Over::Seeds && (self.is_single(a) || self.is_single(b)) {
                return (1.0, f64::INFINITY, f64::INFINITY); // nothing can be resampled of a method with one seed
            }
            let sizes = bootstrap.sizes(a, b);
            let error = (sizes.iter().map(|size| size * size).sum::<f64>() / sizes.len() as f64).sqrt();
            (bootstrap.p_value(a, b, self.differences[pair].mean), bootstrap.half_width(a, b, alpha), error)
        };
        let found: Vec<(f64, f64, f64)> = (0..self.pairs.all.len()).into_par_iter().map(of_pair).collect();
        let p_values: Vec<f64> = found.iter().map(|(p_value, ..)| *p_value).collect();
        let half_widths: Vec<f64> = found.iter().map(|(_, half, _)| *half).collect();
        let draw = |resample: u32, out: &mut [f64]| {
            for ((&(a, b), half), out) in self.pairs.all.iter().zip(&half_widths).zip(out) {
                *out = ratio(bootstrap.size(resample, a, b), *half);
            }
        };
        let half_width = |pair: usize, alpha: f64| bootstrap.half_width(self.pairs.all[pair].0, self.pairs.all[pair].1, alpha);
        let alone = Alone { p_values, half_widths: half_widths.clone(), scales: half_widths.clone(), half_width: &half_width };
        let adjusted = simultaneous(&alone, &self.family(), resamples, &draw);
        let of_mean = |pair: usize| {
            let (a, b) = self.pairs.all[pair];
            let (difference, half) = (self.differences[pair].mean, adjusted.half_widths[pair]);
            OfMean {
                interval: Interval { low: difference - half, high: difference + half },
                standard_error: found[pair].2,
                counted: self.resampled_sources(a, b),
                p_equivalence: None,
                needed: Needed::default(),
            }
        };
        let tested = (0..found.len()).map(|pair| self.tested_by_mean(pair, alone.p_values[pair], found[pair].2)).collect();
        Found {
            tested,
            mean: Some((0..found.len()).map(of_mean).collect()),
            p_adjusted: adjusted.p_values,
            correction: self.settings.correction,
        }
    }

    /// What the bootstrap counts of a pair: users alone where a method has one seed, which cannot be resampled.
    fn resampled_sources(&self, a: usize, b: usize) -> Over {
        let single = self.is_single(a) || self.is_single(b);
        if single && self.over == Over::UsersAndSeeds { Over::Users } else { self.over }
    }

    /// Whether a method has one replicate, of what has a spread.
    fn is_single(&self, method: usize) -> bool {
        let spread = &self.spreads.methods[method];
        spread.raw.is_none() && spread.source != Spread::None
    }

    fn over_users(&self, test: Test) -> Found {
        let columns: Vec<&[f64]> = self.methods.iter().map(|method| method.values.as_slice()).collect();
        let tested: Vec<Tested> = match test {
            Test::Wilcoxon => self.pairs.all.par_iter().map(|&(a, b)| wilcoxon(&Differences::new(columns[a], columns[b]))).collect(),
            Test::Randomization => randomization(&columns, &self.pairs.all, self.settings.resamples, self.settings.seed),
            _ => self.pairs.all.par_iter().map(|&(a, b)| mann_whitney(columns[a], columns[b])).collect(),
        };
        let reported: Vec<f64> = self.pairs.reported.iter().map(|&pair| tested[pair].p_value).collect();
        let correction = match (self.settings.correction, &self.settings.family) {
            (Correction::RomanoWolf, Family::AgainstBest) => Correction::Bonferroni,
            (Correction::RomanoWolf, _) => Correction::Holm,
            (correction, _) => correction,
        };
        let mut p_adjusted = vec![1.0; tested.len()];
        self.pairs.reported.iter().zip(adjust(correction, &reported)).for_each(|(&pair, p)| p_adjusted[pair] = p);
        Found { tested, p_adjusted, correction, mean: None }
    }

    fn family(&self) -> PairsOfFamily<'_> {
        let sizes = self.differences.iter().map(|difference| difference.mean.abs()).collect();
        PairsOfFamily { pairs: &self.pairs, methods: self.methods.len(), sizes, settings: self.settings }
    }

    fn tested_by_mean(&self, pair: usize, p_value: f64, standard_error: f64) -> Tested {
        let Difference { mean, effect_size, .. } = self.differences[pair];
        Tested { statistic: ratio(mean.abs(), standard_error).copysign(mean), p_value, effect_size }
    }

    /// The margin of a pair in units of the metric.
    fn margin(&self, pair: usize) -> Option<f64> {
        let (a, b) = self.pairs.all[pair];
        self.settings.margin.map(|margin| margin.of(self.means[a], self.means[b]))
    }

    fn row(&self, pair: usize, test: Test, found: &Found) -> Comparison {
        let (a, b) = self.pairs.all[pair];
        let (difference, tested, margin) = (self.differences[pair].mean, &found.tested[pair], self.margin(pair));
        let significant = found.p_adjusted[pair] < self.settings.alpha;
        let of_mean = found.mean.as_ref().map(|pairs| pairs[pair]);
        let interval = of_mean.map(|found| agreeing(found.interval, difference, significant)).filter(|interval| interval.low.is_finite());
        let verdict = Verdict::new(difference, tested, interval, significant, margin);
        let needed = of_mean.map(|found| found.needed).filter(|_| verdict == Verdict::Undecided).unwrap_or_default();
        let spreads = [a, b].map(|method| self.spreads.methods[method]);
        Comparison {
            dataset: self.dataset.to_owned(),
            metric: self.metric,
            primary: self.primary,
            method_a: self.methods[a].method.clone(),
            method_b: self.methods[b].method.clone(),
            users: self.methods[a].users.len(),
            replicates_a: spreads[0].replicates,
            replicates_b: spreads[1].replicates,
            mean_a: self.means[a],
            mean_b: self.means[b],
            difference,
            standard_error: of_mean.map(|found| found.standard_error).filter(|error| error.is_finite()),
            ci_low: interval.map(|interval| interval.low),
            ci_high: interval.map(|interval| interval.high),
            test,
            over: of_mean.map_or(Over::Users, |found| found.counted),
            spread: spreads[0].source.max(spreads[1].source),
            statistic: tested.statistic,
            p_value: tested.p_value,
            p_adjusted: found.p_adjusted[pair],
            family: self.settings.family.name(),
            correction: found.correction,
            effect_size: tested.effect_size,
            significant,
            margin,
            p_equivalence: of_mean.and_then(|found| found.p_equivalence),
            verdict,
            needed_seeds: needed.replicates,
            needed_users: needed.users,
        }
    }
}

//! The comparisons of a dataset's methods by one metric: the rows of `significance.parquet`.

use super::{
    Comparison, Differences, MethodValues, Test, Tested,
    differences::are_alike,
    effect_size::standardised,
    joint::ratio,
    kind::Found,
    pairs::{PairKind, Pairs, pair_kinds},
    resample::Resampled,
    simultaneous::PairsOfFamily,
    spread::{Spread, Spreads, VarianceOfMean},
    verdict::{Verdict, agreeing},
};
use crate::{
    MetricAt,
    significance::{Over, Significance},
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
    pub(super) over: Over,
    /// Each method's mean, which every one of its pairs asks for.
    pub(super) means: Vec<f64>,
    pub(super) pairs: Pairs,
    /// Which pairs are one comparison, and which have one difference for all users.
    pub(super) kinds: Vec<PairKind>,
    pub(super) differences: Vec<Difference>,
}

/// What of a pair's differences over users is kept: those of all pairs of many methods would not fit in memory.
#[derive(Clone, Copy)]
pub(super) struct Difference {
    pub(super) mean: f64,
    /// Whether it is the same for all users, of whom there are several.
    pub(super) is_constant: bool,
    /// The variance of the mean over users.
    pub(super) variance: f64,
    effect_size: f64,
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
        let mut pairs = Pairs::new(methods, &settings.family, metric.metric.direction());
        pairs.reported.retain(|&pair| {
            let (a, b) = pairs.all[pair];
            varies(methods, spreads, a, b)
        });
        let difference = |&(a, b): &(usize, usize)| {
            let differences = Differences::new(&methods[a].values, &methods[b].values);
            let (mean, is_constant) = (differences.mean(), are_alike(&differences.values, differences.tolerance));
            let VarianceOfMean { variance, .. } = VarianceOfMean::of_differences(&differences);
            let effect_size = match methods[a].is_of_all_users {
                true => in_deviations_of_replicates(mean, [a, b].map(|method| spreads.methods[method].variance)),
                false => standardised(&differences.values),
            };
            Difference { mean, is_constant, variance, effect_size }
        };
        let differences: Vec<Difference> = pairs.all.par_iter().map(difference).collect();
        let kinds = pair_kinds(&pairs.all, &spreads.originals, |pair| differences[pair].is_constant);
        let means = methods.iter().map(MethodValues::mean).collect();
        let over = if metric.metric.is_per_user() { spreads.known(settings.over) } else { settings.over };
        Self { dataset, metric, primary, methods, spreads, settings, over, means, pairs, kinds, differences }
    }

    /// The rows of all tests of the settings, in their order, then by pair. `done` hears of each test.
    pub(crate) fn rows(&self, done: &mut dyn FnMut()) -> Vec<Comparison> {
        let resampled = self.resampled();
        let mut rows = Vec::new();
        for &test in &self.settings.tests {
            if !self.pairs.reported.is_empty() {
                let found = test.kind().found(self, resampled.as_ref());
                rows.extend(self.pairs.reported.iter().map(|&pair| self.row(pair, test, &found)));
            }
            done();
        }
        rows
    }

    /// The resampled means of all replicates, where a test needs them.
    fn resampled(&self) -> Option<Resampled> {
        let Significance { tests, correction, bootstrap_resamples, seed, .. } = self.settings;
        let joint = correction.is_joint() && self.pairs.reported.len() > 1;
        let needed = tests.iter().any(|test| test.kind().resamples(joint));
        let rows = || self.methods.iter().flat_map(|method| method.replicates.iter().map(|values| &**values)).collect::<Vec<_>>();
        (needed && !self.pairs.reported.is_empty()).then(|| Resampled::new(&rows(), *bootstrap_resamples, *seed))
    }

    /// Each method's values by user.
    pub(super) fn columns(&self) -> Vec<&[f64]> {
        self.methods.iter().map(|method| method.values.as_slice()).collect()
    }

    pub(super) fn family(&self) -> PairsOfFamily<'_> {
        let sizes = self.differences.iter().map(|difference| difference.mean.abs()).collect();
        PairsOfFamily { pairs: &self.pairs, kinds: &self.kinds, sizes, settings: self.settings }
    }

    pub(super) fn tested_by_mean(&self, pair: usize, p_value: f64, standard_error: f64) -> Tested {
        let Difference { mean, effect_size, .. } = self.differences[pair];
        Tested { statistic: ratio(mean.abs(), standard_error).copysign(mean), p_value, effect_size }
    }

    /// The margin of a pair in units of the metric.
    pub(super) fn margin(&self, pair: usize) -> Option<f64> {
        let (a, b) = self.pairs.all[pair];
        self.settings.margin.map(|margin| margin.of(self.means[a], self.means[b]))
    }

    fn row(&self, pair: usize, test: Test, found: &Found) -> Comparison {
        let (a, b) = self.pairs.all[pair];
        let (difference, tested, margin) = (self.differences[pair].mean, &found.tested[pair], self.margin(pair));
        let significant = found.p_adjusted[pair] < self.settings.alpha;
        let of_mean = found.mean.as_ref().map(|pairs| pairs[pair]);
        let interval = of_mean.map(|found| agreeing(found.interval, difference, significant)).filter(|interval| interval.low.is_finite());
        let verdict = Verdict::new(self.metric.metric.direction(), difference, tested, interval, significant, margin);
        let needed = of_mean.map(|found| found.needed).filter(|_| verdict == Verdict::Undecided).unwrap_or_default();
        let users_decide = !self.methods[a].is_of_all_users;
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
            needed_users: needed.users.filter(|_| users_decide),
        }
    }
}

/// Cohen's d of values of all users together: the difference in standard deviations of one replicate, pooled over both methods.
fn in_deviations_of_replicates(difference: f64, variances: [f64; 2]) -> f64 {
    ratio(difference.abs(), (variances.iter().sum::<f64>() / 2.0).sqrt()).copysign(difference)
}

/// Whether something varies that a test of the pair can count. Of values of all users together that are the trainings alone: how they vary is not known
/// where every method has one seed, and methods that fit at once do not vary.
fn varies(methods: &[MethodValues<'_>], spreads: &Spreads, a: usize, b: usize) -> bool {
    let sources = [a, b].map(|method| spreads.methods[method].source);
    !methods[a].is_of_all_users || (!sources.contains(&Spread::Unknown) && sources != [Spread::None; 2])
}

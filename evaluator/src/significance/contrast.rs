//! Weighted sums of methods' means: one method against another, or a trend along several.
//!
//! ```text
//! C = sum_m w_m mean_m
//! variance over users:      that of the mean of sum_m w_m y_mu
//! variance over replicates: sum_m w_m² s~²_m / n_m, and likewise their interaction with users
//! ```
//! With the weights 1 and -1 this is the difference of two methods, and its test the paired t-test over users and seeds.

use super::{
    Crossed, Interval, MethodValues, Spread, Spreads, Tested, Verdict, adjust,
    correction::level,
    differences::{Differences, mean},
    spread::{VarianceOfMean, crossed},
    verdict::agreeing,
};
use crate::{
    metric::Direction,
    significance::{Correction, Margin, Over},
};

/// Weights of methods, by their places; they add up to zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    weights: Vec<(usize, f64)>,
}

impl Contrast {
    /// The mean of the first method less that of the second.
    pub fn difference(first: usize, second: usize) -> Self {
        Self { weights: vec![(first, 1.0), (second, -1.0)] }
    }

    /// How far the least-squares line through the means, in the order of the places, rises from the first method to the last. Of two methods
    /// it is the difference of the second to the first.
    pub fn trend(places: &[usize]) -> Self {
        let center = (places.len() as f64 - 1.0) / 2.0;
        let deviations = (0..places.len()).map(|step| step as f64 - center);
        let squares: f64 = deviations.clone().map(|deviation| deviation * deviation).sum();
        let scale = 2.0 * center / squares;
        Self { weights: places.iter().copied().zip(deviations.map(|deviation| deviation * scale)).collect() }
    }
}

/// What a contrast comes to, and how well it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The weighted sum of the methods' means.
    pub value: f64,
    /// The variance of `value`, by the sources that are counted.
    pub variance: Crossed,
    /// The sources of variance that are counted: users alone where a method's variance over seeds is not known.
    pub over: Over,
    /// Where the variance over seeds comes from; the least certain one of the methods'.
    pub spread: Spread,
    /// Replicates of the methods, of the one with the fewest.
    pub replicates: usize,
    /// The mean of the methods' means, which relative margins are a share of.
    pub level: f64,
}

impl Estimate {
    /// Estimates a contrast of methods of a dataset by one metric, with their spreads.
    pub fn new(contrast: &Contrast, methods: &[MethodValues<'_>], spreads: &Spreads, over: Over) -> Self {
        let involved: Vec<_> = contrast.weights.iter().map(|&(place, weight)| (&methods[place], spreads.methods[place], weight)).collect();
        let least_certain = involved.iter().map(|(_, spread, _)| spread.source).max().unwrap_or(Spread::None);
        let over = if least_certain == Spread::Unknown { Over::Users } else { over };
        let values = combined(contrast, methods);
        let weighed: Vec<_> = involved.iter().map(|(_, spread, weight)| (*spread, weight * weight)).collect();
        let means: Vec<f64> = involved.iter().map(|(method, ..)| method.mean()).collect();
        Self {
            value: mean(&values),
            variance: crossed(VarianceOfMean::of(&values), &weighed, over),
            over,
            spread: least_certain,
            replicates: involved.iter().map(|(method, ..)| method.replicates.len()).min().unwrap_or_default(),
            level: mean(&means),
        }
    }
}

/// The contrast of each user's values. Rounding is no difference of two methods.
fn combined(contrast: &Contrast, methods: &[MethodValues<'_>]) -> Vec<f64> {
    if let [(first, 1.0), (second, -1.0)] = contrast.weights[..] {
        return Differences::new(&methods[first].values, &methods[second].values).values;
    }
    let users = contrast.weights.first().map_or(0, |&(first, _)| methods[first].values.len());
    (0..users).map(|user| contrast.weights.iter().map(|&(method, weight)| weight * methods[method].values[user]).sum()).collect()
}

/// What is said of a contrast among others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The two-sided p-value that the contrast is zero.
    pub p_value: f64,
    /// The p-value adjusted after Holm for all contrasts that were judged together.
    pub p_adjusted: f64,
    /// The interval of the contrast, adjusted as `p_adjusted` is.
    pub interval: Interval,
    /// [`Verdict::Better`] where the contrast is above zero.
    pub verdict: Verdict,
}

/// Judges contrasts as one family, adjusted after Holm: the chance of any false claim is at most `alpha`, whichever methods, metrics and datasets
/// they share.
pub fn judge(estimates: &[Estimate], margin: Option<Margin>, alpha: f64) -> Vec<Judged> {
    let p_values: Vec<f64> = estimates.iter().map(|estimate| estimate.variance.p_value(estimate.value)).collect();
    let adjusted = adjust(Correction::Holm, &p_values);
    let level = level(Correction::Holm, &adjusted, alpha);
    let judged = |((estimate, &p_value), p_adjusted): ((&Estimate, &f64), f64)| {
        let significant = p_adjusted < alpha;
        let interval = agreeing(estimate.variance.interval(estimate.value, level), estimate.value, significant);
        let tested = Tested { statistic: estimate.value / estimate.variance.standard_error(), p_value, effect_size: estimate.value };
        let margin = margin.map(|margin| margin.of(estimate.level, estimate.level));
        let verdict = Verdict::new(Direction::HigherIsBetter, estimate.value, &tested, Some(interval), significant, margin);
        Judged { p_value, p_adjusted, interval, verdict }
    };
    estimates.iter().zip(&p_values).zip(adjusted).map(judged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::{
        method::{Replication, tests::method},
        tests::{A, B},
    };

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    fn shifted(values: [f64; 10], shift: f64) -> [f64; 10] {
        values.map(|value| value + shift)
    }

    /// Three methods with two seeds each: A and B of the worked example, and the mean of both.
    fn methods() -> Vec<MethodValues<'static>> {
        let middle: [f64; 10] = std::array::from_fn(|user| (A[user] + 3.0 * B[user]) / 4.0);
        [("a", A, 0.004), ("b", B, 0.006), ("c", middle, 0.002)]
            .map(|(name, values, shift)| method(name, Replication::Seeds, &[&shifted(values, shift), &shifted(values, -shift)]))
            .into()
    }

    #[test]
    fn the_contrast_of_two_methods_is_their_difference() {
        let methods = methods();
        let spreads = Spreads::new(&methods);
        let found = Estimate::new(&Contrast::difference(0, 1), &methods, &spreads, Over::UsersAndSeeds);
        let differences = Differences::new(&methods[0].values, &methods[1].values);
        assert_eq!(found.variance, spreads.of_pair(0, 1, &differences, Over::UsersAndSeeds));
        near(found.value, 0.028);
        assert_eq!((found.spread, found.replicates), (Spread::Own, 2));
        let trend = Estimate::new(&Contrast::trend(&[1, 0]), &methods, &spreads, Over::UsersAndSeeds);
        near(trend.value, 0.028);
        near(trend.variance.standard_error(), found.variance.standard_error());
    }

    /// NumPy: means 0.349, 0.356, 0.377; `polyfit` slope 0.014 a step, two steps. Per user the contrast of the least-squares weights is
    /// `last - first`, and so is its variance: (A - B)'s. Replicates: two moderated variances, each over two seeds.
    #[test]
    fn a_trend_rises_along_the_least_squares_line() {
        let methods = methods();
        let spreads = Spreads::new(&methods);
        let found = Estimate::new(&Contrast::trend(&[1, 2, 0]), &methods, &spreads, Over::UsersAndSeeds);
        near(found.value, 0.028);
        let users = VarianceOfMean::of(&Differences::new(&A, &B).values).variance;
        near(found.variance.users, users);
        near(found.variance.replicates, (spreads.methods[0].variance + spreads.methods[1].variance) / 2.0);
        near(found.level, (0.349 + 0.356 + 0.377) / 3.0);
        // Four methods: weights -0.9, -0.3, 0.3, 0.9 by hand.
        let four = Contrast::trend(&[4, 5, 6, 7]);
        for ((place, weight), expected) in four.weights.iter().zip([(4, -0.9), (5, -0.3), (6, 0.3), (7, 0.9)]) {
            assert!(*place == expected.0 && (weight - expected.1).abs() < 1e-12, "{weight}");
        }
    }

    #[test]
    fn a_method_with_one_seed_among_such_methods_is_judged_over_users() {
        let methods = [method("a", Replication::Seeds, &[&A]), method("b", Replication::Seeds, &[&B])];
        let found = Estimate::new(&Contrast::difference(0, 1), &methods, &Spreads::new(&methods), Over::UsersAndSeeds);
        assert_eq!((found.over, found.spread), (Over::Users, Spread::Unknown));
        assert!((found.variance.p_value(found.value) - 0.01647098).abs() < 5e-9);
    }

    /// Holm by hand: the smaller of two p-values counts twice, the larger once.
    #[test]
    fn contrasts_are_one_family() {
        let mut far = shifted(A, -0.2);
        far[0] += 0.001;
        let methods = [("a", A), ("b", B), ("c", far)].map(|(name, values)| method(name, Replication::None, &[&values]));
        let spreads = Spreads::new(&methods);
        let of = |first, second| Estimate::new(&Contrast::difference(first, second), &methods, &spreads, Over::UsersAndSeeds);
        let judged = judge(&[of(1, 0), of(0, 2)], None, 0.05);
        assert!((judged[0].p_adjusted - 0.01647098).abs() < 5e-9 && judged[1].p_adjusted == 2.0 * judged[1].p_value);
        assert_eq!(judged.iter().map(|judged| judged.verdict).collect::<Vec<_>>(), [Verdict::Worse, Verdict::Better]);
        assert!(judged[0].interval.high <= 0.0 && judged[1].interval.low >= 0.0);
        let twice = judge(&[of(1, 0), of(1, 0), of(1, 0), of(1, 0)], None, 0.05);
        assert!(twice.iter().all(|judged| judged.verdict == Verdict::Undecided && (judged.p_adjusted - 4.0 * 0.01647098).abs() < 5e-8));
        assert!(twice.iter().all(|judged| judged.interval.low < 0.0 && judged.interval.high > 0.0));
        let within = judge(&[of(1, 0)], Some(Margin::Absolute(0.06)), 0.05);
        assert_eq!(within[0].verdict, Verdict::Equivalent);
        assert!(judge(&[], None, 0.05).is_empty());
    }
}

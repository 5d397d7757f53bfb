//! How far the replicates of a dataset's methods lie apart, by one metric: what seeds (or splits) add to the uncertainty of a mean.
//!
//! The replicates' means of a method have the variance `s²_m`, moderated over the dataset's methods ([`Prior`]) in units of the method's scale `v_m`:
//! the variance of one replicate's values over users. The values of a better method vary more, over users and with them over replicates, and
//! thousands of users tell how much more. Part of `s²_m` is the
//! interaction of users and replicates: `e_m = MS / U`, with the mean square `MS` of what is left of the users' values without the means of
//! users and of replicates. `MS` would be no scale: where replicates differ in their level alone, it is made of the same few differences as `s²_m`.
//!
//! Splits are common to all methods, so what all methods have in common on a split is taken out first, and the rest is multiplied by
//! `k / (k - 1)` for `k` methods; of their degrees of freedom together the share `(k - 1) / k` is left.

use super::{
    crossed::Crossed,
    differences::{Differences, are_alike, mean, tolerance},
    method::{MethodValues, Replication, originals},
    moderation::Prior,
};
use crate::significance::Over;
use rayon::prelude::*;
use std::borrow::Cow;

/// Where the variance over replicates comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spread {
    /// No variance: the model fits at once, and the dataset has one split.
    None,
    /// The method's own replicates, moderated by those of the other methods unless they are no draw of these.
    Own,
    /// The replicates of other methods: the method has one.
    Pooled,
    /// An unknown variance: no method has a second replicate.
    Unknown,
}

impl Spread {
    /// All sources of the variance, the surest first.
    pub const ALL: [Self; 4] = [Self::None, Self::Own, Self::Pooled, Self::Unknown];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Own => "own",
            Self::Pooled => "pooled",
            Self::Unknown => "unknown",
        }
    }
}

/// What a method's replicates add to its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MethodSpread {
    /// How many replicates there are.
    pub replicates: usize,
    /// Where the variance comes from.
    pub source: Spread,
    /// The variance of the replicates' means, as found; none with fewer than two.
    pub raw: Option<f64>,
    /// The variance of one replicate's mean, moderated unless it is no draw of the others'; zero where there is none, or it is not known.
    pub variance: f64,
    /// Degrees of freedom of `variance`.
    pub degrees: f64,
    /// The part of `variance` that is the interaction with users.
    pub interaction: f64,
    /// The variance of one replicate's values over users, in units of which variances are moderated.
    pub scale: f64,
}

/// The spreads of all methods of a dataset by one metric, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Spreads {
    /// One for each method.
    pub methods: Vec<MethodSpread>,
    /// What their variances, in units of their scales, have in common; none where no method has a second replicate.
    pub prior: Option<Prior>,
    /// The share of the methods' degrees of freedom that are independent.
    pub(crate) independent: f64,
    /// The first method whose copy each is: itself where it is none.
    pub(crate) originals: Vec<usize>,
    /// The spread of each method's own mean, where that is another than what its differences to others have: over splits, with what all methods have in
    /// common on each of them.
    of_means: Option<Vec<MethodSpread>>,
}

impl Spreads {
    /// Finds them from the values of all methods, which have the same users.
    pub fn new(methods: &[MethodValues<'_>]) -> Self {
        let common = common(methods);
        let independent = if common.is_empty() { 1.0 } else { (methods.len() - 1) as f64 / methods.len() as f64 };
        let found: Vec<Option<(f64, f64)>> = methods
            .par_iter()
            .map(|method| variances(method, &common).map(|(raw, interaction)| (raw / independent, interaction / independent)))
            .collect();
        let scales = scales(methods);
        let degrees = |method: &MethodValues<'_>| method.replicates.len().saturating_sub(1) as f64;
        let own = |place: usize| Some((found[place]?.0 / scales[place], degrees(&methods[place])));
        let originals = originals(methods);
        let is_first = |place: &usize| originals[*place] == *place;
        let prior = Prior::fit(&(0..methods.len()).filter(is_first).filter_map(own).collect::<Vec<_>>(), independent);
        let interactions: Vec<f64> = found.iter().flatten().map(|(_, interaction)| *interaction).collect();
        let typical = if interactions.is_empty() { 0.0 } else { mean(&interactions) };
        let spread = |place: usize| spread(&methods[place], found[place], prior, typical, scales[place]);
        let by_itself = |method: &MethodValues<'_>| Self::new(std::slice::from_ref(method)).methods[0];
        let of_means = (!common.is_empty()).then(|| methods.iter().map(by_itself).collect());
        Self { methods: (0..methods.len()).map(spread).collect(), prior, independent, originals, of_means }
    }

    /// The variance of the difference of two methods' means, by the sources that are counted.
    pub fn of_pair(&self, a: usize, b: usize, differences: &Differences, over: Over) -> Crossed {
        let VarianceOfMean { variance, users } = VarianceOfMean::of_differences(differences);
        self.crossed(a, b, variance, users, over)
    }

    /// The variance of the difference of two methods' means, from that of the mean difference over so many users.
    pub(crate) fn crossed(&self, a: usize, b: usize, variance: f64, users: usize, over: Over) -> Crossed {
        crossed(VarianceOfMean { variance, users }, &[(self.methods[a], 1.0), (self.methods[b], 1.0)], over)
    }

    /// The variance of one method's mean, by the sources that are counted.
    pub fn of_mean(&self, method: usize, values: &[f64], over: Over) -> Crossed {
        crossed(VarianceOfMean::of(values), &[(*self.alone(method), 1.0)], over)
    }

    /// The spread of one method's mean, whatever that of its differences to others.
    pub fn alone(&self, method: usize) -> &MethodSpread {
        &self.of_means.as_ref().unwrap_or(&self.methods)[method]
    }

    /// What can be counted of values of users: users alone where no method's variance over seeds is known, though some have one.
    pub fn known(&self, over: Over) -> Over {
        let unknown = self.prior.is_none() && self.methods.iter().any(|method| method.source == Spread::Unknown);
        if unknown { Over::Users } else { over }
    }

    /// What a comparison of two methods really counts: users alone where a variance over seeds is not known.
    pub fn counted(&self, a: usize, b: usize, over: Over) -> Over {
        let unknown = [a, b].iter().any(|&method| self.methods[method].source == Spread::Unknown);
        if unknown { Over::Users } else { over }
    }
}

fn spread(method: &MethodValues<'_>, found: Option<(f64, f64)>, prior: Option<Prior>, typical: f64, scale: f64) -> MethodSpread {
    let replicates = method.replicates.len();
    let none = MethodSpread { replicates, source: Spread::None, raw: None, variance: 0.0, degrees: 0.0, interaction: 0.0, scale };
    if method.replication == Replication::None {
        return none;
    }
    let Some(prior) = prior else { return MethodSpread { source: Spread::Unknown, ..none } };
    let degrees = (replicates - 1) as f64;
    let (source, raw, interaction) = match found {
        Some((raw, interaction)) => (Spread::Own, Some(raw), interaction),
        None => (Spread::Pooled, None, typical),
    };
    let (moderated, degrees) = prior.moderated(raw.unwrap_or_default() / scale, degrees);
    MethodSpread { replicates, source, raw, variance: scale * moderated, degrees, interaction, scale }
}

/// For each method the variance of a replicate's values over users, the mean over its replicates. A method whose values are all one takes the mean of
/// the others.
fn scales(methods: &[MethodValues<'_>]) -> Vec<f64> {
    let over_users = |values: &Cow<'_, [f64]>| variance_of_mean(values) * values.len() as f64;
    let of_method = |method: &MethodValues<'_>| mean(&method.replicates.iter().map(over_users).collect::<Vec<_>>());
    let known = |scale: &f64| *scale > 0.0 && scale.is_finite();
    let found: Vec<f64> = methods.par_iter().map(of_method).collect();
    let others: Vec<f64> = found.iter().copied().filter(known).collect();
    let typical = if others.is_empty() { 1.0 } else { mean(&others) };
    found.into_iter().map(|scale| if known(&scale) { scale } else { typical }).collect()
}

/// What all methods have in common on each split: for each the mean over methods of every user's value. Empty where replicates are seeds,
/// which methods do not share.
fn common(methods: &[MethodValues<'_>]) -> Vec<Vec<f64>> {
    let splits = methods.len() > 1 && methods.iter().all(|method| method.replication == Replication::Splits);
    let of_split = |split: usize| {
        let of_user = |user: usize| mean(&methods.iter().map(|method| method.replicates[split][user]).collect::<Vec<_>>());
        (0..methods[0].values.len()).map(of_user).collect()
    };
    if splits { (0..methods[0].replicates.len()).into_par_iter().map(of_split).collect() } else { Vec::new() }
}

/// The variance of the replicates' means and the part of it that is interaction with users; none with fewer than two replicates or users. Values of all
/// users together have no interaction.
fn variances(method: &MethodValues<'_>, common: &[Vec<f64>]) -> Option<(f64, f64)> {
    let replicates = &method.replicates;
    let (count, users) = (replicates.len(), replicates.first()?.len());
    if count < 2 || (users < 2 && !method.is_of_all_users) {
        return None;
    }
    let at = |replicate: usize, user: usize| replicates[replicate][user] - common.get(replicate).map_or(0.0, |common| common[user]);
    let means: Vec<f64> = (0..count).map(|replicate| (0..users).map(|user| at(replicate, user)).sum::<f64>() / users as f64).collect();
    let (total, degrees) = (mean(&means), (count - 1) as f64);
    let between = means.iter().map(|mean| (mean - total).powi(2)).sum::<f64>() / degrees;
    if method.is_of_all_users {
        return Some((between, 0.0));
    }
    let mut squares = 0.0;
    let mut row = vec![0.0; count];
    for user in 0..users {
        row.iter_mut().enumerate().for_each(|(replicate, value)| *value = at(replicate, user) - means[replicate]);
        let center = mean(&row);
        squares += row.iter().map(|value| (value - center).powi(2)).sum::<f64>();
    }
    Some((between, squares / (degrees * (users - 1) as f64) / users as f64))
}

/// The variance of a mean over users, and how many they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarianceOfMean {
    /// The variance; infinite for one user.
    pub variance: f64,
    /// How many users there are.
    pub users: usize,
}

impl VarianceOfMean {
    /// The variance of the mean of each user's values.
    ///
    /// Where the values of all users are one, other users may still have others, the fewer were seen the more of them: the variance is that with two users
    /// more, one of whom is above by 1, or by as much as the value is where that is more, and one below (pseudo-observations, after Agresti and Caffo, Am. Stat. 2000).
    pub(crate) fn of(values: &[f64]) -> Self {
        Self::but_for_rounding(values, tolerance(values))
    }

    /// The variance of the mean difference, as [`of`](Self::of) has it of values.
    pub(crate) fn of_differences(differences: &Differences) -> Self {
        Self::but_for_rounding(&differences.values, differences.tolerance)
    }

    fn but_for_rounding(values: &[f64], tolerance: f64) -> Self {
        let users = values.len();
        if !are_alike(values, tolerance) {
            return Self { variance: variance_of_mean(values), users };
        }
        let (more, range) = (users as f64 + 2.0, values[0].abs().max(1.0));
        Self { variance: 2.0 * range * range / ((more - 1.0) * more), users }
    }

    /// The degrees of freedom.
    pub(crate) fn degrees(self) -> f64 {
        self.users.saturating_sub(1) as f64
    }
}

/// The variance of a mean over users; infinite for one user.
pub(crate) fn variance_of_mean(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::INFINITY;
    }
    let center = mean(values);
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    squares / ((values.len() - 1) as f64 * values.len() as f64)
}

/// The variance of a mean difference over users alone: what the paired t-test of two trained models counts.
pub fn over_users(differences: &Differences) -> Crossed {
    crossed(VarianceOfMean::of_differences(differences), &[], Over::Users)
}

/// The variance of a sum of methods' means, from that over users and from the methods' spreads with the squares of their weights.
pub(crate) fn crossed(over_users: VarianceOfMean, spreads: &[(MethodSpread, f64)], over: Over) -> Crossed {
    let sum = |part: fn(&MethodSpread) -> f64| {
        spreads.iter().map(|(spread, square)| square * part(spread) / spread.replicates as f64).sum::<f64>()
    };
    let replicates = sum(|spread| spread.variance);
    // The mean of the degrees of freedom by harmonic weights: that of the one source where it is one source.
    let spent = sum(|spread| if spread.variance > 0.0 { spread.variance / spread.degrees } else { 0.0 });
    let all = Crossed {
        users: over_users.variance,
        users_degrees: over_users.degrees(),
        replicates,
        replicates_degrees: if spent > 0.0 { replicates / spent } else { 0.0 },
        // It is part of both: where methods have users' values in common, as a loss and its identical twin do, less of it is left than each shows.
        interaction: sum(|spread| spread.interaction).min(over_users.variance),
    };
    match over {
        Over::UsersAndSeeds => all,
        Over::Users => Crossed { replicates: 0.0, interaction: 0.0, ..all },
        Over::Seeds => Crossed { users: 0.0, interaction: 0.0, ..all },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::{
        method::tests::method,
        tests::{A, B, differences},
    };

    /// `numpy.var([0] * 6 + [1, -1], ddof=1) / 8`, and that of two users whose difference is 1 in all.
    #[test]
    fn users_who_are_all_alike_are_few() {
        let of = |values: &[f64]| VarianceOfMean::of(values).variance;
        assert!((of(&[0.0; 6]) - 2.0 / 56.0).abs() < 1e-15);
        assert!((of(&[1.0; 2]) - 2.0 / 12.0).abs() < 1e-15);
        assert!((of(&[-30.0; 998]) - 900.0 * 2.0 / (999.0 * 1000.0)).abs() < 1e-12);
        assert_eq!((of(&[0.5]), of(&A)), (f64::INFINITY, variance_of_mean(&A)));
        // The mean of ten times 0.1 is another number in its last bit, and 0.42 - 0.39 is not 0.31 - 0.28.
        assert!((of(&[0.1; 10]) - 2.0 / 132.0).abs() < 1e-15);
        let rounded = over_users(&Differences::new(&[0.31, 0.42, 0.31], &[0.28, 0.39, 0.28]));
        assert!((rounded.users - 2.0 / 20.0).abs() < 1e-15, "{rounded:?}");
        let two = over_users(&Differences::new(&[1.0; 2], &[0.0; 2]));
        assert!(two.p_value(1.0) > 0.2, "two users of one kind decide nothing: {}", two.p_value(1.0));
        let many = over_users(&Differences::new(&[0.3; 5000], &[0.3; 5000])).interval(0.0, 0.05);
        assert!(many.high < 0.001 && many.low > -0.001, "{many:?}");
    }

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    /// SciPy's `ttest_rel(A, B)`: t = 2.94058818, p = 0.01647098, interval (0.00645996, 0.04954004).
    #[test]
    fn over_users_it_is_the_paired_t_test() {
        let users = over_users(&differences());
        assert!((differences().mean() / users.standard_error() - 2.94058818).abs() < 5e-9);
        assert!((users.p_value(0.028) - 0.01647098).abs() < 5e-9);
        let interval = users.interval(0.028, 0.05);
        assert!((interval.low - 0.00645996).abs() < 5e-9 && (interval.high - 0.04954004).abs() < 5e-9);
        assert_eq!(over_users(&Differences::new(&[0.5], &[0.2])).p_value(0.3), 1.0);
        // 2 * scipy.stats.t.sf(0.3 / sqrt(2 / 56), 5)
        let alike = over_users(&Differences::new(&[0.5; 6], &[0.2; 6])).p_value(0.3);
        assert!((alike - 0.173_273_58).abs() < 1e-8, "{alike}");
    }

    #[test]
    fn a_copy_of_a_method_adds_no_certainty() {
        let rows = |shift: f64| [A.map(|value| value + shift), A.map(|value| value * 1.1 + shift)];
        let (one, other) = (rows(0.0), rows(0.3).map(|row| row.map(|value| value * value)));
        let of = |values: &[&[[f64; 10]; 2]]| {
            let methods: Vec<_> = values.iter().map(|rows| method("m", Replication::Seeds, &[&rows[0], &rows[1]])).collect();
            Spreads::new(&methods)
        };
        let (two, with_copies) = (of(&[&one, &other]), of(&[&one, &one, &other, &one]));
        assert_eq!(two.prior, with_copies.prior);
        assert_eq!((two.methods[0], two.methods[1]), (with_copies.methods[3], with_copies.methods[2]));
        assert_eq!(of(&[&one]).methods[0], of(&[&one, &one]).methods[1]);
    }

    /// By NumPy: the second method is the first, thrice as large, so that both ratios are one, and its variance is nine times as large.
    #[test]
    fn variances_are_moderated_in_units_of_those_over_users() {
        let rows = |factor: f64| [A.map(|value| factor * value), A.map(|value| factor * (value + 0.01))];
        let (small, large) = (rows(1.0), rows(3.0));
        let seeds = Replication::Seeds;
        let one_value: &[f64] = &[0.5; 10];
        let methods =
            [method("a", seeds, &[&small[0], &small[1]]), method("b", seeds, &[&large[0], &large[1]]), method("c", seeds, &[one_value])];
        let spreads = Spreads::new(&methods).methods;
        near(spreads[0].variance, 5e-5);
        near(spreads[1].variance, 45e-5);
        near(spreads[1].scale, 9.0 * spreads[0].scale);
        // Without a variance over users, the scale is the mean of the others'.
        near(spreads[2].scale, 5.0 * spreads[0].scale);
        near(spreads[2].variance, 25e-5);
    }

    /// A two-way analysis of variance of A and A + (0.01, -0.02, 0.03, ...) in NumPy.
    #[test]
    fn interaction_is_the_mean_square_of_what_users_and_replicates_leave() {
        let other: Vec<f64> =
            A.iter().zip([0.01, -0.02, 0.03, 0.0, 0.02, -0.01, 0.04, 0.0, -0.03, 0.01]).map(|(a, shift)| a + shift).collect();
        let spreads = Spreads::new(&[method("a", Replication::Seeds, &[&A, &other])]);
        near(spreads.methods[0].raw.unwrap(), VARIANCE);
        near(spreads.methods[0].interaction, INTERACTION);
        assert_eq!((spreads.methods[0].source, spreads.methods[0].degrees), (Spread::Own, 1.0));
    }

    const VARIANCE: f64 = 1.25e-05;
    const INTERACTION: f64 = 2.361111111111115e-05;

    #[test]
    fn a_method_with_one_seed_takes_the_others_spread() {
        let shifted = |shift: f64| A.map(|value| value + shift);
        let (one, two, three) = (shifted(0.01), shifted(-0.01), shifted(0.02));
        let seeds = Replication::Seeds;
        let methods = [method("a", seeds, &[&A, &one, &two]), method("b", seeds, &[&three]), method("c", Replication::None, &[&B])];
        let spreads = Spreads::new(&methods);
        assert_eq!(spreads.methods.iter().map(|spread| spread.source).collect::<Vec<_>>(), [Spread::Own, Spread::Pooled, Spread::None]);
        near(spreads.methods[1].variance, 1e-4);
        assert_eq!((spreads.methods[1].degrees, spreads.methods[2].variance), (2.0, 0.0));
        let pair = spreads.of_pair(0, 1, &Differences::new(&methods[0].values, &methods[1].values), Over::UsersAndSeeds);
        near(pair.replicates, 1e-4 / 3.0 + 1e-4);
        near(pair.replicates_degrees, 2.0);
        assert_eq!(spreads.counted(0, 1, Over::UsersAndSeeds), Over::UsersAndSeeds);
    }

    #[test]
    fn without_a_second_seed_anywhere_users_alone_are_counted() {
        let spreads = Spreads::new(&[method("a", Replication::Seeds, &[&A]), method("b", Replication::None, &[&B])]);
        assert_eq!(spreads.methods.iter().map(|spread| spread.source).collect::<Vec<_>>(), [Spread::Unknown, Spread::None]);
        assert_eq!(spreads.counted(0, 1, Over::UsersAndSeeds), Over::Users);
        assert_eq!((spreads.known(Over::Seeds), spreads.known(Over::UsersAndSeeds)), (Over::Users, Over::Users));
        assert_eq!(spreads.counted(1, 1, Over::UsersAndSeeds), Over::UsersAndSeeds);
    }

    /// Two methods on two splits: their variances add up to that of the splits' differences, 0.05 and 0.03 apart.
    #[test]
    fn what_methods_have_in_common_on_a_split_is_no_variance_of_theirs() {
        let at = |level: f64| A.map(|value| value + level);
        let (a, b) = ([at(0.2), at(0.1)], [at(0.15), at(0.07)]);
        let methods = [method("a", Replication::Splits, &[&a[0], &a[1]]), method("b", Replication::Splits, &[&b[0], &b[1]])];
        let spreads = Spreads::new(&methods);
        let pair = spreads.of_pair(0, 1, &Differences::new(&methods[0].values, &methods[1].values), Over::UsersAndSeeds);
        near(pair.replicates, 0.02f64.powi(2) / 2.0 / 2.0);
    }

    /// SciPy's `ttest_1samp([0.010, 0.014, 0.024], 0)`: two methods on three splits are one sample of three differences.
    #[test]
    fn two_methods_over_splits_are_tested_as_one_sample_of_differences() {
        let at = |level: f64| A.map(|value| value + level);
        let (a, b) = ([at(0.11), at(0.214), at(0.324)], [at(0.1), at(0.2), at(0.3)]);
        let methods = [method("a", Replication::Splits, &[&a[0], &a[1], &a[2]]), method("b", Replication::Splits, &[&b[0], &b[1], &b[2]])];
        let spreads = Spreads::new(&methods);
        let pair = spreads.of_pair(0, 1, &Differences::new(&methods[0].values, &methods[1].values), Over::Seeds);
        assert!((pair.replicates_degrees - 2.0).abs() < 1e-12, "{}", pair.replicates_degrees);
        assert!((pair.p_value(0.016) - P_VALUE).abs() < 1e-9, "{}", pair.p_value(0.016));
    }

    const P_VALUE: f64 = 0.061525735593069966;
}

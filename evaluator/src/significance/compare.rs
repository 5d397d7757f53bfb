//! All pairs of a dataset's methods, for one metric: the rows of `significance.parquet`.

use super::{
    Differences, Interval, Tested, adjust, bootstrap::bootstrap, differences::mean, interval, mann_whitney::mann_whitney,
    paired_t::paired_t, randomization::randomization, wilcoxon::wilcoxon,
};
use crate::settings::{Correction, Significance, Test};
use crate::{Error, MetricAt, Result};
use rayon::prelude::*;

/// A method's value of one metric for each user, the mean over its seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodValues {
    /// The method.
    pub method: String,
    /// Dense ids of the users that have held-out items.
    pub users: Vec<u32>,
    /// One per user.
    pub values: Vec<f64>,
}

/// One test of the difference between two methods; `method_a` stands before `method_b` in the order the methods were given.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The dataset.
    pub dataset: String,
    /// The metric and its cutoff.
    pub metric: MetricAt,
    /// The first method.
    pub method_a: String,
    /// The second method.
    pub method_b: String,
    /// Number of users.
    pub users: usize,
    /// The first method's mean over users.
    pub mean_a: f64,
    /// The second method's mean over users.
    pub mean_b: f64,
    /// The mean difference over users.
    pub difference: f64,
    /// Lower end of the interval of the difference at the level `1 - alpha`, not adjusted: Student's t for the paired t-test, else bootstrap
    /// percentiles.
    pub ci_low: f64,
    /// Its upper end.
    pub ci_high: f64,
    /// The test.
    pub test: Test,
    /// The test's own statistic.
    pub statistic: f64,
    /// Two-sided.
    pub p_value: f64,
    /// Adjusted for all pairs of this dataset, metric, cutoff and test.
    pub p_adjusted: f64,
    /// How it was adjusted.
    pub correction: Correction,
    /// The size of the difference in the test's own terms.
    pub effect_size: f64,
    /// Whether `p_adjusted` is below `alpha`.
    pub significant: bool,
}

/// Compares all pairs of methods by all tests of the settings. Rows are ordered by test, then by pair, as given.
///
/// # Errors
/// Settings out of range, methods that differ in their users, or values that are not finite.
pub fn compare_methods(dataset: &str, metric: MetricAt, methods: &[MethodValues], settings: &Significance) -> Result<Vec<Comparison>> {
    settings.validate()?;
    methods.iter().try_for_each(|method| check(dataset, metric, method, &methods[0]))?;
    let family = Family::new(dataset, metric, methods, settings);
    Ok(settings.tests.iter().flat_map(|&test| family.rows(test)).collect())
}

/// What all tests of a family share.
struct Family<'a> {
    dataset: &'a str,
    metric: MetricAt,
    methods: &'a [MethodValues],
    settings: &'a Significance,
    pairs: Vec<(usize, usize)>,
    differences: Vec<Differences>,
    bootstrapped: Vec<Interval>,
}

impl<'a> Family<'a> {
    fn new(dataset: &'a str, metric: MetricAt, methods: &'a [MethodValues], settings: &'a Significance) -> Self {
        let pairs: Vec<_> = (0..methods.len()).flat_map(|a| (a + 1..methods.len()).map(move |b| (a, b))).collect();
        let differences = pairs.par_iter().map(|&(a, b)| Differences::new(&methods[a].values, &methods[b].values)).collect();
        let mut family = Self { dataset, metric, methods, settings, pairs, differences, bootstrapped: Vec::new() };
        if settings.tests.iter().any(|&test| test != Test::PairedT) {
            let level = 1.0 - settings.alpha;
            family.bootstrapped = bootstrap(&family.columns(), &family.pairs, level, settings.bootstrap_resamples, settings.seed);
        }
        family
    }

    fn columns(&self) -> Vec<&'a [f64]> {
        self.methods.iter().map(|method| method.values.as_slice()).collect()
    }

    fn rows(&self, test: Test) -> Vec<Comparison> {
        let tested = self.test(test);
        let p_values: Vec<f64> = tested.iter().map(|tested| tested.p_value).collect();
        let adjusted = adjust(self.settings.correction, &p_values);
        let rows = tested.into_iter().zip(adjusted).enumerate();
        rows.map(|(pair, (tested, p_adjusted))| self.row(pair, test, tested, p_adjusted)).collect()
    }

    fn test(&self, test: Test) -> Vec<Tested> {
        let paired = |test: fn(&Differences) -> Tested| self.differences.par_iter().map(test).collect();
        match test {
            Test::PairedT => paired(paired_t),
            Test::Wilcoxon => paired(wilcoxon),
            Test::Randomization => randomization(&self.columns(), &self.pairs, self.settings.resamples, self.settings.seed),
            Test::MannWhitney => {
                self.pairs.par_iter().map(|&(a, b)| mann_whitney(&self.methods[a].values, &self.methods[b].values)).collect()
            }
        }
    }

    fn row(&self, pair: usize, test: Test, tested: Tested, p_adjusted: f64) -> Comparison {
        let (a, b) = (&self.methods[self.pairs[pair].0], &self.methods[self.pairs[pair].1]);
        let differences = &self.differences[pair];
        let interval = match test {
            Test::PairedT => interval(differences.values(), 1.0 - self.settings.alpha),
            Test::Wilcoxon | Test::Randomization | Test::MannWhitney => self.bootstrapped[pair],
        };
        Comparison {
            dataset: self.dataset.to_owned(),
            metric: self.metric,
            method_a: a.method.clone(),
            method_b: b.method.clone(),
            users: a.users.len(),
            mean_a: mean(&a.values),
            mean_b: mean(&b.values),
            difference: differences.mean(),
            ci_low: interval.low,
            ci_high: interval.high,
            test,
            statistic: tested.statistic,
            p_value: tested.p_value,
            p_adjusted,
            correction: self.settings.correction,
            effect_size: tested.effect_size,
            significant: p_adjusted < self.settings.alpha,
        }
    }
}

/// Refuses values that cannot be paired with those of the first method.
fn check(dataset: &str, metric: MetricAt, method: &MethodValues, first: &MethodValues) -> Result<()> {
    let refuse = |reason: String| Err(Error::Comparison { dataset: dataset.to_owned(), reason });
    let name = &method.method;
    if method.users.len() != method.values.len() {
        return refuse(format!("`{name}` has {} values of {metric} for {} users", method.values.len(), method.users.len()));
    }
    if let Some(place) = method.values.iter().position(|value| !value.is_finite()) {
        return refuse(format!("{metric} of `{name}` is {} for user {}", method.values[place], method.users[place]));
    }
    if method.users.is_empty() {
        return refuse(format!("`{name}` was evaluated on no user"));
    }
    if method.users != first.users {
        let (ours, theirs, other) = (method.users.len(), first.users.len(), &first.method);
        return refuse(format!(
            "`{name}` was evaluated on {ours} users that are not the {theirs} users of `{other}`; tests are paired by user, so evaluate \
             both on the same split"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::tests::{A, B, in_threads, users};

    const ALL: [Test; 4] = [Test::PairedT, Test::Wilcoxon, Test::Randomization, Test::MannWhitney];

    fn method(name: &str, values: &[f64]) -> MethodValues {
        MethodValues { method: name.into(), users: (0..values.len() as u32).collect(), values: values.to_vec() }
    }

    fn settings() -> Significance {
        Significance { tests: ALL.to_vec(), resamples: 2000, bootstrap_resamples: 500, ..Significance::default() }
    }

    fn run(methods: &[MethodValues]) -> Result<Vec<Comparison>> {
        compare_methods("tiny", "ndcg@20".parse()?, methods, &settings())
    }

    #[test]
    fn worked_example() {
        let rows = run(&[method("mf", &A), method("pop", &B)]).unwrap();
        assert_eq!(rows.iter().map(|row| row.test).collect::<Vec<_>>(), ALL);
        for (row, p_value) in rows.iter().zip([0.01647098, 0.013671875, 0.01953125, 0.73373000]) {
            assert!((row.p_value - p_value).abs() < 5e-9, "{row:?}");
            assert_eq!((row.p_adjusted, row.significant), (row.p_value, p_value < 0.05));
            assert_eq!((row.method_a.as_str(), row.method_b.as_str(), row.users), ("mf", "pop", 10));
            assert!((row.mean_a - 0.377).abs() < 1e-12 && (row.mean_b - 0.349).abs() < 1e-12 && (row.difference - 0.028).abs() < 1e-12);
        }
        assert!((rows[0].ci_low - 0.00645996).abs() < 5e-9 && (rows[0].ci_high - 0.04954004).abs() < 5e-9);
        assert!((rows[1].ci_low - 0.011).abs() < 0.003 && (rows[1].ci_high - 0.046).abs() < 0.003);
    }

    /// A family is all pairs of one test: three pairs, so Holm multiplies the smallest p-value by three.
    #[test]
    fn all_pairs_are_one_family() {
        let rows = run(&[method("b", &users(40, 1)), method("a", &users(40, 2)), method("c", &users(40, 3))]).unwrap();
        let pairs: Vec<(&str, &str)> = rows.iter().map(|row| (row.method_a.as_str(), row.method_b.as_str())).collect();
        assert_eq!(pairs, [("b", "a"), ("b", "c"), ("a", "c")].repeat(4));
        for family in rows.chunks(3) {
            let smallest = family.iter().min_by(|left, right| left.p_value.total_cmp(&right.p_value)).unwrap();
            assert!((smallest.p_adjusted - (3.0 * smallest.p_value).min(1.0)).abs() < 1e-15);
        }
    }

    #[test]
    fn equal_methods_have_no_nan() {
        for row in run(&[method("a", &[0.0; 30]), method("b", &[0.0; 30])]).unwrap() {
            assert_eq!((row.p_value, row.p_adjusted, row.effect_size, row.significant), (1.0, 1.0, 0.0, false));
            assert_eq!((row.difference, row.ci_low, row.ci_high), (0.0, 0.0, 0.0));
        }
    }

    #[test]
    fn one_method_has_no_pair() {
        assert_eq!(run(&[method("a", &A)]).unwrap(), []);
        assert_eq!(run(&[]).unwrap(), []);
    }

    #[test]
    fn any_number_of_threads_gives_the_same_rows() {
        let methods = [method("a", &users(200, 1)), method("b", &users(200, 2)), method("c", &users(200, 3))];
        assert_eq!(in_threads(1, || run(&methods).unwrap()), in_threads(2, || run(&methods).unwrap()));
    }

    #[test]
    fn what_cannot_be_paired_is_refused() {
        let message = |other: MethodValues| run(&[method("a", &A), other]).unwrap_err().to_string();
        assert_eq!(
            message(method("b", &A[1..])),
            "tiny: `b` was evaluated on 9 users that are not the 10 users of `a`; tests are paired by user, so evaluate both on the same split"
        );
        let not_finite = [0.5, f64::NAN, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
        assert_eq!(message(method("b", &not_finite)), "tiny: ndcg@20 of `b` is NaN for user 1");
        let ragged = MethodValues { values: vec![0.5], ..method("b", &A) };
        assert_eq!(message(ragged), "tiny: `b` has 1 values of ndcg@20 for 10 users");
        assert_eq!(run(&[method("a", &[])]).unwrap_err().to_string(), "tiny: `a` was evaluated on no user");
    }
}

//! The randomization test: under the null hypothesis each user's difference is as likely as its opposite.
//!
//! ```text
//! p = #{signs : |sum ±d| >= |sum d|} / 2^n            n <= 20 non-zero differences
//! p = (1 + #{|sum ±d| >= |sum d|}) / (R + 1)          R random signs
//! ```
//! The test of the mean that assumes least. Sign flips are linear, `sum ±(a - b) = sum ±a - sum ±b`, so all methods share the signs of a
//! resample: the sums are taken once per method, not once per pair. They are taken eight users at a time, from tables of the 256 signed
//! sums of each eight. A user's signs depend on (seed, resample, place of the user) alone, so neither the number of threads nor the other
//! methods change a p-value.

use super::{
    Differences, Tested,
    compare::Compared,
    effect_size::standardised,
    kind::{Found, TestKind},
    resample::Resampled,
    stream::stream,
};
use crate::significance::{Over, Significance};
use rand::Rng;
use rayon::prelude::*;

/// The largest number of non-zero differences whose signs are enumerated.
pub const EXACT: usize = 20;

/// Resamples whose words, tables and sums stay in a core's first cache together.
const CHUNK: u32 = 2048;

/// Sums closer than this, relative to the sum of absolute values, are the same but for rounding.
const ROUNDING: f64 = 1e-11;

/// `randomization`
pub(super) struct Randomization;

impl TestKind for Randomization {
    fn name(&self) -> &'static str {
        "randomization"
    }

    fn words(&self, _counted: Over) -> &'static str {
        "sign-flip randomization test"
    }

    fn finest_p_value(&self, settings: &Significance) -> Option<(&'static str, u32)> {
        Some(("resamples", settings.resamples))
    }

    fn found(&self, compared: &Compared, _resampled: Option<&Resampled>) -> Found {
        let columns = compared.columns();
        let tested = randomization(&columns, &compared.pairs.all, compared.settings.resamples, compared.settings.seed);
        Found::over_users(compared, tested)
    }
}

/// Tests pairs of methods: whether their mean difference is zero. `methods` hold one value per user each, the same users in the same
/// order. The statistic is the mean difference; `p` is 1 when all differences are zero.
pub fn randomization(methods: &[&[f64]], pairs: &[(usize, usize)], resamples: u32, seed: u64) -> Vec<Tested> {
    // Of a pair the p-value alone where its signs are enumerated: the differences of all pairs of many methods would not fit in memory.
    let found: Vec<(Tested, bool)> = pairs
        .par_iter()
        .map(|&(a, b)| {
            let differences = Differences::new(methods[a], methods[b]);
            let nonzero = differences.nonzero();
            let is_exact = nonzero.len() <= EXACT;
            let p_value = if is_exact { exact(&nonzero) } else { 1.0 };
            (Tested { statistic: differences.mean(), p_value, effect_size: standardised(&differences.values) }, is_exact)
        })
        .collect();
    let sampled: Vec<(usize, usize)> = pairs.iter().zip(&found).filter(|(_, (_, is_exact))| !is_exact).map(|(pair, _)| *pair).collect();
    let mut extremes = extremes(methods, &sampled, resamples, seed).into_iter();
    let mut sampled = || (1 + extremes.next().unwrap_or(0)) as f64 / (1 + u64::from(resamples)) as f64;
    found.into_iter().map(|(tested, is_exact)| if is_exact { tested } else { Tested { p_value: sampled(), ..tested } }).collect()
}

/// The share of all signs whose sum is as far from zero as the sum itself.
fn exact(differences: &[f64]) -> f64 {
    let (low, high) = differences.split_at(differences.len() / 2);
    let (low, high) = (signed_sums(low), signed_sums(high));
    let observed = differences.iter().sum::<f64>().abs() - ROUNDING * differences.iter().map(|d| d.abs()).sum::<f64>();
    let extreme = |&low: &f64| high.iter().filter(|&high| (low + high).abs() >= observed).count();
    low.iter().map(extreme).sum::<usize>() as f64 / (low.len() * high.len()) as f64
}

/// The sums of the values under all signs; bit `k` of the index gives value `k` its own sign, or turns it.
fn signed_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        let with: Vec<f64> = sums.iter().map(|sum| sum + value).collect();
        sums.iter_mut().for_each(|sum| *sum -= value);
        sums.extend(with);
    }
    sums
}

/// For each pair, how many resamples are at least as far from zero as what was observed.
fn extremes(methods: &[&[f64]], pairs: &[(usize, usize)], resamples: u32, seed: u64) -> Vec<u64> {
    if pairs.is_empty() {
        return Vec::new();
    }
    let totals: Vec<(f64, f64)> =
        methods.iter().map(|values| (values.iter().sum(), values.iter().map(|value| value.abs()).sum())).collect();
    let count = |chunk: u32| -> Vec<u64> {
        let first = chunk * CHUNK;
        let sums = flipped_sums(methods, first, CHUNK.min(resamples - first), seed);
        let of_pair = |&(a, b): &(usize, usize)| {
            let observed = (totals[a].0 - totals[b].0).abs() - ROUNDING * (totals[a].1 + totals[b].1);
            sums[a].iter().zip(&sums[b]).filter(|(a, b)| (*a - *b).abs() >= observed).count() as u64
        };
        pairs.iter().map(of_pair).collect()
    };
    let add = |left: Vec<u64>, right: Vec<u64>| left.iter().zip(&right).map(|(left, right)| left + right).collect();
    (0..resamples.div_ceil(CHUNK)).into_par_iter().map(count).reduce(|| vec![0; pairs.len()], add)
}

/// For each method, the sum over users under the random signs of each resample from `first` on.
fn flipped_sums(methods: &[&[f64]], first: u32, resamples: u32, seed: u64) -> Vec<Vec<f64>> {
    let users = methods.first().map_or(0, |values| values.len());
    let mut streams: Vec<_> = (first..first + resamples).map(|resample| stream(seed, resample)).collect();
    let mut words = vec![0; streams.len()];
    let mut sums = vec![vec![0.0; streams.len()]; methods.len()];
    for start in (0..users).step_by(64) {
        words.iter_mut().zip(&mut streams).for_each(|(word, stream)| *word = stream.next_u64());
        for (values, sums) in methods.iter().zip(&mut sums) {
            add_signed(&values[start..users.min(start + 64)], &words, sums);
        }
    }
    sums
}

/// Adds to each resample's sum the values of up to 64 users, each with the sign of its bit in the resample's word.
fn add_signed(values: &[f64], words: &[u64], sums: &mut [f64]) {
    if values.iter().all(|&value| value == 0.0) {
        return;
    }
    let mut tables = [[0.0; 256]; 8];
    for (table, values) in tables.iter_mut().zip(values.chunks(8)) {
        fill(table, values);
    }
    let [t0, t1, t2, t3, t4, t5, t6, t7] = &tables;
    for (sum, word) in sums.iter_mut().zip(words) {
        let [b0, b1, b2, b3, b4, b5, b6, b7] = word.to_le_bytes().map(usize::from);
        *sum += ((t0[b0] + t1[b1]) + (t2[b2] + t3[b3])) + ((t4[b4] + t5[b5]) + (t6[b6] + t7[b7]));
    }
}

/// The signed sums of up to eight values, repeated where there are fewer.
fn fill(table: &mut [f64; 256], values: &[f64]) {
    for bit in 0..8 {
        let value = values.get(bit).copied().unwrap_or(0.0);
        let (without, with) = table[..2 << bit].split_at_mut(1 << bit);
        for (without, with) in without.iter_mut().zip(with) {
            *with = *without + value;
            *without -= value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::tests::{A, B, in_threads, users};

    #[test]
    fn worked_example() {
        let tested = randomization(&[&A, &B], &[(0, 1)], 10, 1);
        assert!((tested[0].p_value - 0.01953125).abs() < 1e-15, "{tested:?}");
        assert!((tested[0].statistic - 0.028).abs() < 1e-15, "{tested:?}");
        assert!((tested[0].effect_size - 0.85019029).abs() < 5e-9, "{tested:?}");
    }

    #[test]
    fn sums_have_the_signs_of_the_bits() {
        let values = users(100, 3);
        let sums = flipped_sums(&[&values], 5, 3, 9);
        for (resample, sum) in (5..8).zip(&sums[0]) {
            let mut stream = stream(9, resample);
            let words = [stream.next_u64(), stream.next_u64()];
            let sign = |user: usize| if words[user / 64] >> (user % 64) & 1 == 1 { 1.0 } else { -1.0 };
            let expected: f64 = values.iter().enumerate().map(|(user, value)| sign(user) * value).sum();
            assert!((sum - expected).abs() < 1e-12);
        }
    }

    /// Differences of one size make the sum binomial, and many signs give exactly what was observed.
    #[test]
    fn ties_of_the_sum_count_as_extreme() {
        // 25 ones, 15 of them positive: p = P(|2 X - 25| >= 5), X ~ B(25, 1/2), scipy.stats.binomtest(15, 25).pvalue
        let a: Vec<f64> = (0..25).map(|user| if user < 15 { 0.3 } else { 0.2 }).collect();
        let b: Vec<f64> = (0..25).map(|user| if user < 15 { 0.2 } else { 0.3 }).collect();
        let p_value = randomization(&[&a, &b], &[(0, 1)], 200_000, 1)[0].p_value;
        assert!((p_value - 0.42435622).abs() < 4.0 * (0.42435622f64 * 0.57564378 / 200_000.0).sqrt(), "{p_value}");
    }

    /// The t-test is what sign flips converge to.
    #[test]
    fn many_users_agree_with_the_t_test() {
        let (a, b) = (users(2000, 1), users(2000, 2));
        let differences = Differences::new(&a, &b);
        let t = crate::significance::spread::over_users(&differences).p_value(differences.mean());
        let p_value = randomization(&[&a, &b], &[(0, 1)], 100_000, 1)[0].p_value;
        assert!((p_value - t).abs() < 4.0 * (t * (1.0 - t) / 100_000.0).sqrt() + 1e-3, "{p_value} {t}");
    }

    #[test]
    fn equal_methods() {
        let values = users(30, 1);
        let tested = randomization(&[&values, &values], &[(0, 1)], 100, 1);
        assert_eq!(tested, [Tested { statistic: 0.0, p_value: 1.0, effect_size: 0.0 }]);
    }

    #[test]
    fn threads_and_other_methods_change_nothing() {
        let methods = [users(300, 1), users(300, 2), users(300, 3)];
        let all: Vec<&[f64]> = methods.iter().map(Vec::as_slice).collect();
        let run = || randomization(&all, &[(0, 1), (0, 2), (1, 2)], 5000, 1);
        let one = in_threads(1, run);
        assert_eq!(one, in_threads(2, run));
        assert_eq!(one[2], randomization(&[&methods[1], &methods[2]], &[(0, 1)], 5000, 1)[0]);
    }
}

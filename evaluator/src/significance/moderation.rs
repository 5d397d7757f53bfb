//! Variances of few replicates, moderated: each is drawn towards what the methods of a dataset have in common.
//!
//! ```text
//! s²_m | σ²_m ~ σ²_m χ²(d_m) / d_m,   1 / σ²_m ~ χ²(d0) / (d0 s0²)
//! s~²_m = (d0 s0² + d_m s²_m) / (d0 + d_m),   with min(d0 + d_m, D) degrees of freedom, D = c sum of all d
//! e_m = log s²_m - digamma(d_m / 2) + log(d_m / 2)
//! trigamma(d0 / 2) = var(e) - mean trigamma(d_m / 2),   log s0² = mean(e) + digamma(d0 / 2) - log(d0 / 2),   d0 at most D
//! ```
//! `c` is the share of the degrees of freedom that are independent: 1 for seeds, and `(k - 1) / k` where what `k` methods have in common was taken out.
//! Where the variances differ by no more than chance would have it, `s0²` is their mean, weighted by degrees of freedom, and `d0` is `D`.
//! As in limma: Smyth, Stat. Appl. Genet. Mol. Biol. 2004, doi:10.2202/1544-6115.1027, section 6.2; the bound on the degrees of freedom of `s~²` is
//! its `eBayes`'. The bound on `d0` is not: there it is infinite where variances differ by chance alone, which of a thousand genes says that they are
//! alike, and of six methods next to nothing. A common variance is worth no more than the replicates that it was found from.
//!
//! Methods whose variance is no draw of the others' have their own alone (as limma's `robust` has it for most of it: Phipson et al., Ann. Appl. Stat. 2016,
//! doi:10.1214/16-AOAS920): else one method that trains to other values with every seed would hide all differences between the others, and seem surer than it is.
//! The `j` largest variances of `k` are such, of at most a third of the methods and five, where the least of them is four times the others' mean and `k P(F(d_j, d0) > s²_j / s0²) < 0.01`, with
//! `d0` and `s0²` of the others alone; the largest such `j` counts.

use statrs::function::{beta::checked_beta_reg, gamma::digamma};

/// What the variances of several methods have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// `d0`: how many degrees of freedom the common variance is worth; at most those of all methods together.
    pub degrees: f64,
    /// `s0²`, the common variance.
    pub variance: f64,
    /// D, the degrees of freedom of all methods together that the prior is of.
    pub pooled_degrees: f64,
    /// The variance from which on a method's is no draw of the others', and is not moderated; infinite where there is no such method.
    pub outlying: f64,
}

/// The level at which a variance is too large to be one of the others.
const OUTLYING: f64 = 0.01;
/// How many times the others' mean such a variance is at least, so that most resamples need no other look.
const FAR: f64 = 4.0;
/// Of so many methods one may have such a variance.
const METHODS_OF_OUTLYING: usize = 3;
/// Methods with such variances, at most.
const MOST_OUTLYING: usize = 5;
/// Variances are taken as no smaller than this share of their median, as in limma.
const SMALLEST: f64 = 1e-5;

impl Prior {
    /// The prior that fits variances with their degrees of freedom, of which a share is `independent`; `None` without any. Those that are zero while
    /// others are not count as tiny: they say that variances differ, and nothing of how small those of the others are.
    ///
    /// Methods whose variances are too large to be drawn as those of the others count for themselves.
    pub fn fit(variances: &[(f64, f64)], independent: f64) -> Option<Self> {
        let most = (variances.len() / METHODS_OF_OUTLYING).min(MOST_OUTLYING);
        if most == 0 {
            return Self::of_all(variances, independent);
        }
        let mut falling = variances.to_vec();
        falling.sort_unstable_by(|(one, _), (other, _)| other.total_cmp(one));
        let without = |count: usize| {
            let (variance, degrees) = falling[count - 1];
            let is_far = variance > FAR * mean(&falling[count..]);
            if !is_far {
                return None;
            }
            let others = Self::of_all(&falling[count..], independent)?;
            let chance = f_tail(variance / others.variance, degrees, others.degrees);
            (others.variance > 0.0 && chance * (variances.len() as f64) < OUTLYING).then_some(Self { outlying: variance, ..others })
        };
        (1..=most).rev().find_map(without).or_else(|| Self::of_all(variances, independent))
    }

    /// The prior that fits all variances.
    fn of_all(variances: &[(f64, f64)], independent: f64) -> Option<Self> {
        let degrees: f64 = variances.iter().map(|(_, degrees)| degrees).sum();
        let pooled = mean(variances);
        let pooled_degrees = independent * degrees;
        if variances.is_empty() {
            return None;
        }
        let common = Self { degrees: pooled_degrees, variance: pooled, pooled_degrees, outlying: f64::INFINITY };
        let Some(median) = median(variances.iter().map(|(variance, _)| *variance).filter(|variance| *variance > 0.0).collect()) else {
            return Some(common);
        };
        let centred = |&(variance, degrees): &(f64, f64)| {
            let half = degrees / 2.0;
            variance.max(SMALLEST * median).ln() - digamma(half) + half.ln()
        };
        let logs: Vec<f64> = variances.iter().map(centred).collect();
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let spread = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let excess = spread - variances.iter().map(|(_, degrees)| trigamma(degrees / 2.0)).sum::<f64>() / count;
        if excess <= 0.0 {
            return Some(common);
        }
        let half = inverse_trigamma(excess);
        let variance = (mean + digamma(half) - half.ln()).exp();
        Some(Self { degrees: pooled_degrees.min(2.0 * half), variance, ..common })
    }

    /// The moderated variance of a method, and its degrees of freedom, from its own; the common one where it has no degrees of freedom.
    pub fn moderated(&self, variance: f64, degrees: f64) -> (f64, f64) {
        if degrees > 0.0 && variance >= self.outlying {
            return (variance, degrees);
        }
        let own = if degrees > 0.0 { degrees * variance } else { 0.0 };
        ((self.degrees * self.variance + own) / (self.degrees + degrees), (self.degrees + degrees).min(self.pooled_degrees))
    }
}

/// The probability that a ratio of variances with so many degrees of freedom is larger.
fn f_tail(ratio: f64, degrees: f64, of_degrees: f64) -> f64 {
    if !ratio.is_finite() {
        return 0.0;
    }
    checked_beta_reg(of_degrees / 2.0, degrees / 2.0, of_degrees / (of_degrees + degrees * ratio)).unwrap_or(1.0)
}

/// The mean variance, weighted by degrees of freedom.
fn mean(variances: &[(f64, f64)]) -> f64 {
    let [sum, degrees] = variances.iter().fold([0.0, 0.0], |[sum, all], (variance, degrees)| [sum + variance * degrees, all + degrees]);
    sum / degrees
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

/// The derivative of digamma: the asymptotic series, from 15 on, after stepping up.
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 15.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + 1.0 / x
        + square / 2.0
        + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square * (1.0 / 30.0 - square * 5.0 / 66.0))))
}

/// The derivative of trigamma, likewise.
fn tetragamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 15.0 {
        sum -= 2.0 / (x * x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum - square
        - square / x
        - square * square * (0.5 - square * (1.0 / 6.0 - square * (1.0 / 6.0 - square * (3.0 / 10.0 - square * 5.0 / 6.0))))
}

/// Where trigamma has this value, more than zero: Newton's steps on its reciprocal, which is convex and nearly straight. Smyth, appendix.
fn inverse_trigamma(value: f64) -> f64 {
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..60 {
        let found = trigamma(x);
        let step = found * (1.0 - found / value) / tetragamma(x);
        x += step;
        if (step / x).abs() < 1e-14 {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }

    /// `scipy.special.polygamma`
    #[test]
    fn polygammas() {
        for (x, first, second) in [
            (0.5, 4.93480220054468, -16.828796644234316),
            (1.0, 1.6449340668482266, -2.404113806319188),
            (2.5, 0.4903577561002349, -0.23620405164172736),
            (10.0, 0.10516633568168576, -0.011049834970802069),
        ] {
            near(trigamma(x), first);
            near(tetragamma(x), second);
            near(inverse_trigamma(first), x);
        }
        near(trigamma(inverse_trigamma(1e4)), 1e4);
        near(trigamma(inverse_trigamma(1e-4)), 1e-4);
    }

    /// limma's `fitFDist` by its formulas in NumPy.
    #[test]
    fn variances_that_differ_have_a_prior_of_few_degrees() {
        let prior = Prior::fit(&[(2.1e-6, 2.0), (3.4e-6, 4.0), (0.04e-6, 2.0), (19.8e-6, 4.0), (1.2e-6, 9.0)], 1.0).unwrap();
        near(prior.degrees, 1.1776109647931607);
        near(prior.variance, 7.354592182528892e-07);
        let (variance, degrees) = prior.moderated(19.8e-6, 4.0);
        near(variance, (1.1776109647931607 * 7.354592182528892e-07 + 4.0 * 19.8e-6) / 5.1776109647931607);
        near(degrees, 5.1776109647931607);
        near(prior.moderated(f64::NAN, 0.0).0, 7.354592182528892e-07);
        assert_eq!(prior.moderated(1e-6, 30.0).1, 21.0);
    }

    /// Four methods of six have the same value in every training, as `coverage` of 1. By the formulas in NumPy: the variances differ, and the
    /// common one is worth next to nothing beside the two degrees of freedom of a method's own.
    #[test]
    fn variances_of_zero_do_not_make_others_small() {
        let prior = Prior::fit(&[(2.08e-4, 2.0), (1.5e-4, 2.0), (0.0, 2.0), (0.0, 2.0), (0.0, 2.0), (0.0, 2.0)], 1.0).unwrap();
        near(prior.degrees, 0.35176538351825637);
        let (variance, degrees) = prior.moderated(2.08e-4, 2.0);
        near(variance, 0.0001768887020633219);
        assert!(degrees < 2.5);
    }

    #[test]
    fn the_common_variance_is_worth_no_more_than_what_it_was_found_from() {
        let prior = Prior::fit(&[(2.0, 2.0), (3.0, 6.0)], 1.0).unwrap();
        assert_eq!(prior, Prior { degrees: 8.0, variance: 2.75, pooled_degrees: 8.0, outlying: f64::INFINITY });
        // (8 * 2.75 + 2 * 2) / 10
        assert_eq!(prior.moderated(2.0, 2.0), (2.6, 8.0));
        assert_eq!(Prior::fit(&[(0.5, 1.0)], 1.0).unwrap().moderated(0.5, 1.0).0, 0.5);
        assert_eq!(Prior::fit(&[(0.0, 1.0), (0.0, 2.0)], 1.0).unwrap().variance, 0.0);
        assert_eq!(Prior::fit(&[], 1.0), None);
        // Half of the degrees are those of the other half: the variance is the same.
        let half = Prior { degrees: 3.0, variance: 2.0, pooled_degrees: 3.0, outlying: f64::INFINITY };
        assert_eq!(Prior::fit(&[(2.0, 3.0), (2.0, 3.0)], 0.5), Some(half));
    }

    /// `scipy.stats.f.sf`
    #[test]
    fn tails_of_f() {
        for (ratio, degrees, of_degrees, expected) in
            [(21.0, 2.0, 30.0, 1.9807577978172155e-6), (3.5, 4.0, 1.5, 0.2910457892639721), (0.0, 2.0, 4.0, 1.0)]
        {
            near(f_tail(ratio, degrees, of_degrees), expected);
        }
        assert_eq!(f_tail(f64::INFINITY, 2.0, 4.0), 0.0);
    }

    /// Two of nine train to other values with every seed. The others are moderated as if these were not there, and these not at all.
    #[test]
    fn methods_that_are_no_draw_of_the_others_count_for_themselves() {
        let alike: Vec<(f64, f64)> = [2.0, 1.0, 3.0, 0.5, 1.5, 2.5, 1.2].map(|variance| (variance, 2.0)).to_vec();
        let with = |more: &[(f64, f64)]| Prior::fit(&[&alike[..], more].concat(), 1.0).unwrap();
        let alone = Prior::fit(&alike, 1.0).unwrap();
        let both = with(&[(60.0, 2.0), (80.0, 2.0)]);
        assert_eq!(both, Prior { outlying: 60.0, ..alone });
        assert_eq!((both.moderated(60.0, 2.0), both.moderated(80.0, 2.0)), ((60.0, 2.0), (80.0, 2.0)));
        assert_eq!((both.moderated(3.0, 2.0), both.moderated(f64::NAN, 0.0)), (alone.moderated(3.0, 2.0), alone.moderated(f64::NAN, 0.0)));
        // Six times the mean happens by chance: of eight methods in one set of ten.
        assert_eq!(with(&[(10.0, 2.0)]).outlying, f64::INFINITY);
        // Of two nobody can tell which is the outlier.
        assert_eq!(Prior::fit(&[(1.0, 9.0), (1e6, 9.0)], 1.0).unwrap().outlying, f64::INFINITY);
    }
}

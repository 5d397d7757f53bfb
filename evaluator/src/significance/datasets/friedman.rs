//! Friedman's test: whether methods differ at all over datasets.
//!
//! ```text
//! chi2 = (12 N / (k (k + 1)) sum_j R_j^2 - 3 N (k + 1)) / (1 - sum (t^3 - t) / (N k (k^2 - 1)))     k - 1 degrees of freedom
//! F    = (N - 1) chi2 / (N (k - 1) - chi2)                                                           k - 1 and (k - 1)(N - 1)
//! ```
//! k methods, N datasets, average ranks R_j, groups of t methods with the same value on a dataset. Friedman's chi-square is conservative, so
//! Demsar prefers F, of Iman and Davenport. Demsar's formula has no correction for ties; this one has, as SciPy's `friedmanchisquare`.
//!
//! Both are of many datasets: where k methods have the same order on 3 datasets, F is infinite and would reject at any level, though chance
//! does so once in (k!)^2. Where few enough arrangements of the ranks are possible, all are counted out and that p-value decides.
//! Friedman, J. Am. Stat. Assoc. 1937; Iman and Davenport, Commun. Stat. 1980; Demsar, JMLR 7 (2006).

use super::{
    AverageRanks,
    exact::{arrangements, exact},
};
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

/// What Friedman's test says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friedman {
    /// Friedman's chi-square, corrected for ties; 0 where all methods have the same value on every dataset.
    pub chi_square: f64,
    /// The p-value of the chi-square.
    pub chi_square_p: f64,
    /// Iman and Davenport's F; infinite where all datasets have the same order of methods.
    pub f: f64,
    /// The p-value of F.
    pub f_p: f64,
    /// The share of all arrangements of the ranks within datasets whose chi-square is as large; none where they are too many to count out.
    pub exact_p: Option<f64>,
}

impl Friedman {
    /// The p-value that decides: the exact one where there is one, else that of F.
    pub fn p_value(&self) -> f64 {
        self.exact_p.unwrap_or(self.f_p)
    }
}

/// Tests whether the methods have the same expected rank.
pub fn friedman(ranks: &AverageRanks) -> Friedman {
    let (methods, datasets) = (ranks.ranks.len() as f64, ranks.datasets as f64);
    let (chi_square, most) = (chi_square(ranks), datasets * (methods - 1.0));
    let left = most - chi_square;
    let f = if left > 1e-12 * most { (datasets - 1.0) * chi_square / left } else { f64::INFINITY };
    let tail = ChiSquared::new(methods - 1.0).map_or(1.0, |distribution| distribution.sf(chi_square));
    let f_tail = FisherSnedecor::new(methods - 1.0, (methods - 1.0) * (datasets - 1.0));
    Friedman {
        chi_square,
        chi_square_p: tail,
        f,
        f_p: if f.is_infinite() { 0.0 } else { f_tail.map_or(1.0, |distribution| distribution.sf(f)) },
        exact_p: exact(ranks),
    }
}

fn chi_square(ranks: &AverageRanks) -> f64 {
    let (methods, datasets) = (ranks.ranks.len() as f64, ranks.datasets as f64);
    let middle = (methods + 1.0) / 2.0;
    let squares: f64 = ranks.ranks.iter().map(|rank| (rank - middle).powi(2)).sum();
    let distinct = 1.0 - ranks.ties / (datasets * methods * (methods * methods - 1.0));
    if distinct > 1e-12 { 12.0 * datasets / (methods * (methods + 1.0)) * squares / distinct } else { 0.0 }
}

/// The least number of datasets on which the test could reject at this level, if all had the same order of methods.
pub fn fewest_datasets(methods: usize, alpha: f64) -> usize {
    let could = |datasets: &usize| 1.0 / arrangements(methods, *datasets) < alpha;
    (2..).find(could).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::datasets::tests::{blocks, demsar};

    fn of(values: &[Vec<f64>]) -> Friedman {
        friedman(&AverageRanks::new(&blocks(values)))
    }

    fn near(ours: f64, expected: f64) {
        assert!((ours - expected).abs() < 1e-9, "{ours} {expected}");
    }

    /// `scipy.stats.friedmanchisquare` and `scipy.stats.f.sf`; Demsar prints 9.28 and 3.69, without the correction for ties.
    #[test]
    fn worked_example() {
        let ranks = AverageRanks::new(&demsar());
        let found = friedman(&ranks);
        near(found.chi_square, 10.228346456692925);
        near(found.chi_square_p, 0.016721580328441323);
        near(found.f, 4.1851301115241695);
        near(found.f_p, 0.011620659515310975);
        assert_eq!((found.exact_p, found.p_value()), (None, found.f_p));
        let untied = friedman(&AverageRanks { ties: 0.0, ..ranks });
        assert_eq!((format!("{:.2}", untied.chi_square), format!("{:.2}", untied.f)), ("9.28".to_owned(), "3.69".to_owned()));
    }

    /// Three methods on three datasets: the largest chi-square is 6, and one arrangement in 36 has it.
    #[test]
    fn few_datasets_are_counted_out() {
        let found = of(&[vec![0.3, 0.2, 0.1], vec![0.4, 0.3, 0.35], vec![0.5, 0.45, 0.4]]);
        near(found.chi_square, 6.0);
        assert_eq!((found.f, found.f_p), (f64::INFINITY, 0.0));
        near(found.p_value(), 1.0 / 36.0);
    }

    #[test]
    fn equal_methods_do_not_differ() {
        let found = of(&[vec![0.25; 3], vec![0.25; 3]]);
        assert_eq!(found, Friedman { chi_square: 0.0, chi_square_p: 1.0, f: 0.0, f_p: 1.0, exact_p: Some(1.0) });
    }

    /// `(k!)^(N - 1) > 20`: two methods are a sign test, for which five datasets are too few.
    #[test]
    fn datasets_that_could_reject() {
        assert_eq!([2, 3, 4, 5].map(|methods| fewest_datasets(methods, 0.05)), [6, 3, 2, 2]);
        assert_eq!([2, 3].map(|methods| fewest_datasets(methods, 0.001)), [11, 5]);
    }
}

//! The exact distribution of Friedman's statistic: where methods do not differ, all orders of the ranks within a dataset are equally likely.
//!
//! The statistic grows with the sum over methods of the squared sum of ranks. It is the same when the methods of all datasets are renamed alike,
//! so the first dataset stays as it is and `(k!)^(N - 1)` arrangements of the others are counted. Tied ranks move like others.

use super::AverageRanks;

/// Beyond so many arrangements the distribution is left to its approximation.
const MOST: f64 = 1e6;

/// The share of all arrangements whose statistic is at least the one observed; none where there are too many of them.
pub(super) fn exact(ranks: &AverageRanks) -> Option<f64> {
    let arrangements = arrangements(ranks.ranks.len(), ranks.datasets);
    if arrangements > MOST {
        return None;
    }
    let doubled: Vec<Vec<i64>> = ranks.on.iter().map(|ranks| ranks.iter().map(|rank| (2.0 * rank) as i64).collect()).collect();
    let total = |method: usize| doubled.iter().map(|ranks| ranks[method]).sum();
    let observed = squares(&(0..ranks.ranks.len()).map(total).collect::<Vec<_>>());
    let (first, others) = doubled.split_first()?;
    Some(as_large(first, others, &orders(first.len()), observed) as f64 / arrangements)
}

/// In how many ways the ranks of all datasets but one can be arranged: `(k!)^(N - 1)`.
pub(super) fn arrangements(methods: usize, datasets: usize) -> f64 {
    let orders: f64 = (1..=methods).map(|factor| factor as f64).product();
    orders.powf(datasets as f64 - 1.0)
}

/// How many arrangements of the datasets' ranks, added to these sums, have a statistic at least as large.
fn as_large(sums: &[i64], datasets: &[Vec<i64>], orders: &[Vec<usize>], observed: i64) -> u64 {
    let Some((ranks, others)) = datasets.split_first() else {
        return u64::from(squares(sums) >= observed);
    };
    let arranged = |order: &Vec<usize>| {
        let sums: Vec<i64> = sums.iter().zip(order).map(|(sum, &place)| sum + ranks[place]).collect();
        as_large(&sums, others, orders, observed)
    };
    orders.iter().map(arranged).sum()
}

fn squares(sums: &[i64]) -> i64 {
    sums.iter().map(|sum| sum * sum).sum()
}

/// All orders of so many places.
fn orders(places: usize) -> Vec<Vec<usize>> {
    let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
    for next in 0..places {
        let with = |order: &Vec<usize>| (0..=order.len()).map(|at| [&order[..at], &[next], &order[at..]].concat()).collect::<Vec<_>>();
        orders = orders.iter().flat_map(with).collect();
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::datasets::tests::blocks;

    fn of(values: &[Vec<f64>]) -> Option<f64> {
        exact(&AverageRanks::new(&blocks(values)))
    }

    /// Counted out in Python with `itertools.permutations`.
    #[test]
    fn shares_are_those_of_all_arrangements() {
        let same_best = of(&[vec![0.3, 0.4, 0.5], vec![0.2, 0.3, 0.45], vec![0.1, 0.35, 0.4]]);
        assert_eq!(same_best, Some(7.0 / 36.0));
        let tied = of(&[vec![0.3, 0.4, 0.5, 0.6], vec![0.2, 0.4, 0.4, 0.5], vec![0.1, 0.2, 0.3, 0.65]]);
        assert_eq!(tied, Some(60.0 / 216.0));
    }

    /// `scipy.stats.binomtest(6, 6).pvalue`
    #[test]
    fn two_methods_are_a_sign_test() {
        assert_eq!(of(&[vec![0.5; 6], vec![0.4; 6]]), Some(0.03125));
    }

    #[test]
    fn too_many_arrangements_are_not_counted() {
        let many = |methods: usize, datasets: usize| (0..methods).map(|method| vec![method as f64; datasets]).collect::<Vec<_>>();
        assert_eq!(of(&many(3, 9)), None);
        assert!(of(&many(3, 8)).is_some() && arrangements(3, 9) > MOST);
        assert_eq!(of(&many(200, 3)), None);
    }
}

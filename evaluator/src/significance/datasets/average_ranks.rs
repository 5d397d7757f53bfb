//! Ranks of methods on each dataset, averaged over datasets: 1 for the best, equal values share the mean of their ranks.

use super::CompleteBlocks;
use crate::significance::ranks::{Ranks, mid_ranks};

/// The ranks of methods on datasets.
#[derive(Clone, Debug, PartialEq)]
pub struct AverageRanks {
    /// One for each method: the mean of its ranks over the datasets.
    pub ranks: Vec<f64>,
    /// How many datasets they are averaged over.
    pub datasets: usize,
    /// Sum over datasets of `t^3 - t` over groups of `t` methods with the same value.
    pub(super) ties: f64,
    /// The ranks on each dataset, by method; multiples of one half.
    pub(super) on: Vec<Vec<f64>>,
}

impl AverageRanks {
    /// Ranks the methods on each dataset.
    pub fn new(blocks: &CompleteBlocks) -> Self {
        let datasets = blocks.datasets();
        let ranked: Vec<Ranks> = (0..datasets).map(|dataset| descending(&blocks.on(dataset))).collect();
        let average = |method: usize| ranked.iter().map(|ranked| ranked.ranks[method]).sum::<f64>() / datasets as f64;
        Self {
            ranks: (0..blocks.methods()).map(average).collect(),
            datasets,
            ties: ranked.iter().map(|ranked| ranked.ties).sum(),
            on: ranked.into_iter().map(|ranked| ranked.ranks).collect(),
        }
    }

    /// The methods, best first; of equals the first.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.ranks.len()).collect();
        order.sort_by(|&one, &other| self.ranks[one].total_cmp(&self.ranks[other]));
        order
    }

    /// The standard error of the difference of two average ranks where methods do not differ: `sqrt(k (k + 1) / (6 N))`.
    pub fn standard_error(&self) -> f64 {
        standard_error(self.ranks.len(), self.datasets)
    }
}

pub(super) fn standard_error(methods: usize, datasets: usize) -> f64 {
    let methods = methods as f64;
    (methods * (methods + 1.0) / (6.0 * datasets as f64)).sqrt()
}

fn descending(values: &[f64]) -> Ranks {
    mid_ranks(&values.iter().map(|value| -value).collect::<Vec<_>>(), 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::datasets::tests::{blocks, demsar};

    /// Demsar 2006, Table 6, prints 3.143, 2.000, 2.893 and 1.964.
    #[test]
    fn worked_example() {
        let ranks = AverageRanks::new(&demsar());
        for (rank, sum) in ranks.ranks.iter().zip([44.0, 28.0, 40.5, 27.5]) {
            assert!((rank - sum / 14.0).abs() < 1e-12, "{ranks:?}");
        }
        assert_eq!(ranks.order(), [3, 1, 2, 0]);
    }

    #[test]
    fn the_largest_value_has_rank_1_and_equal_values_share() {
        let ranks = AverageRanks::new(&blocks(&[vec![0.5, 0.1], vec![0.2, 0.1], vec![0.3, 0.1]]));
        assert_eq!(ranks.on, [[1.0, 3.0, 2.0], [2.0, 2.0, 2.0]]);
        assert_eq!((ranks.ranks, ranks.ties), (vec![1.5, 2.5, 2.0], 24.0));
    }
}

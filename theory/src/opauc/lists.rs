//! Correlations of metrics and partial areas over real lists, which differ in their numbers of positives and negatives.
//!
//! The area is taken as the share of its largest value, `OPAUC N- / b`, so that lists of all sizes compare.

use super::{
    Correlation, TopKMetric,
    correlation::{depths, discounts},
    moments::Moments,
};

/// Where the positives of one list stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankedList<'a> {
    /// Ranks of the positives, ascending, from 1.
    pub ranks: &'a [u32],
    /// Places of the list.
    pub places: u32,
}

impl RankedList<'_> {
    /// `sum_{k <= b} c_k`: each positive stands above all of the best b negatives but those before it.
    fn sum(&self, depth: u32) -> u64 {
        let before = self.ranks.iter().zip(1..).map(|(&rank, place)| rank - place);
        before.map(|before: u32| u64::from(depth.saturating_sub(before))).sum()
    }

    fn negatives(&self) -> u32 {
        self.places - self.ranks.len() as u32
    }

    fn value(&self, metric: TopKMetric, cutoff: u32, discounts: &[f64]) -> f64 {
        let hits = self.ranks.partition_point(|&rank| rank <= cutoff);
        match metric {
            TopKMetric::Recall => hits as f64 / self.ranks.len() as f64,
            TopKMetric::Precision => hits as f64 / f64::from(cutoff),
            TopKMetric::Ndcg => {
                let gain: f64 = self.ranks[..hits].iter().map(|&rank| discounts[rank as usize - 1]).sum();
                gain / discounts[..self.ranks.len().min(cutoff as usize)].iter().sum::<f64>()
            }
        }
    }
}

/// Correlations over lists, by metric, cutoff and depth, down to the fewest negatives of a list. Lists without positives are passed over.
pub fn of_lists(lists: &[RankedList], cutoffs: &[u32]) -> Vec<Correlation> {
    let lists = || lists.iter().filter(|list| !list.ranks.is_empty() && list.negatives() > 0);
    let Some(fewest) = lists().map(RankedList::negatives).min() else { return Vec::new() };
    let (depths, discounts) = (depths(fewest, cutoffs), discounts(cutoffs.iter().copied().max().unwrap_or(0)));
    let metrics: Vec<(TopKMetric, u32)> =
        TopKMetric::ALL.into_iter().flat_map(|metric| cutoffs.iter().map(move |&cutoff| (metric, cutoff))).collect();
    let mut moments = Moments::new(metrics.len(), depths.len());
    for list in lists() {
        let x: Vec<f64> = metrics.iter().map(|&(metric, cutoff)| list.value(metric, cutoff, &discounts)).collect();
        let share = |&depth: &u32| list.sum(depth) as f64 / (list.ranks.len() as f64 * f64::from(depth));
        moments.add(&x, &depths.iter().map(share).collect::<Vec<f64>>());
    }
    let row = |(x, &(metric, cutoff)): (usize, &(TopKMetric, u32))| {
        let moments = &moments;
        depths.iter().enumerate().map(move |(y, &depth)| Correlation { metric, cutoff, depth, value: moments.correlation(x, y) })
    };
    metrics.iter().enumerate().flat_map(row).collect::<Vec<_>>()
}

#[cfg(test)]
mod tests {
    use super::super::sums;
    use super::*;
    use crate::testing::assert_near;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_from_ranks_are_those_of_the_list(list in prop::collection::vec(any::<bool>(), 1..80)) {
            let ranks: Vec<u32> = (1..).zip(&list).filter(|(_, positive)| **positive).map(|(rank, _)| rank).collect();
            let ranked = RankedList { ranks: &ranks, places: list.len() as u32 };
            let sums = sums(list.iter().copied());
            prop_assert_eq!(ranked.negatives() as usize + 1, sums.len());
            prop_assert!(sums.iter().zip(0..).all(|(&sum, depth)| ranked.sum(depth) == sum));
        }
    }

    /// Three lists of 6, 7 and 8 places, with their values by hand and `numpy.corrcoef` of them.
    #[test]
    fn lists_of_several_sizes() {
        let lists = [(&[1, 3][..], 6), (&[2][..], 7), (&[4, 5, 8][..], 8)].map(|(ranks, places)| RankedList { ranks, places });
        // Recall@3: 1, 1, 0. Shares at b = 2: (2 + 1) / 4, 1 / 2, 0 of 6. At b = 4: (4 + 3) / 8, 3 / 4, (1 + 1 + 0) / 12.
        let found = of_lists(&lists, &[3]);
        let at = |metric, depth| found.iter().find(|row| row.metric == metric && row.depth == depth).unwrap().value.unwrap();
        assert_near(at(TopKMetric::Recall, 2), 0.9449111825, 1e-9);
        assert_near(at(TopKMetric::Precision, 4), 0.9367659069, 1e-9);
        assert_near(at(TopKMetric::Ndcg, 2), 0.9997702498, 1e-9);
        assert_eq!(found.iter().map(|row| row.depth).max(), Some(4), "the fewest negatives");
        assert_eq!(of_lists(&[], &[3]), []);
    }
}

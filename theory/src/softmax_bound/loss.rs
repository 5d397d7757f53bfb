//! The loss and its bound on one user's scores.

/// One user's scores.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// Scores of all items.
    pub scores: Vec<f64>,
    /// The items that are positives.
    pub positives: Vec<usize>,
    /// K.
    pub cutoff: usize,
}

/// The items that the inner sum is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denominator {
    /// All items: the theorem's.
    All,
    /// The items that are no positives: the release's, with all of them drawn.
    Negatives,
}

impl List {
    /// The K-th largest score.
    pub fn quantile(&self) -> f64 {
        kth_largest(self.scores.clone(), self.cutoff)
    }

    /// SL@K with this quantile, temperature and weight temperature.
    pub fn loss(&self, quantile: f64, temperature: f64, weight_temperature: f64, denominator: Denominator) -> f64 {
        let sum = self.log_sum(temperature, denominator);
        let term = |&item: &usize| {
            let score = self.scores[item];
            sigmoid((score - quantile) / weight_temperature) * (sum - score / temperature)
        };
        self.positives.iter().map(term).sum()
    }

    /// The theorem's lower bound on the loss: `-log DCG@K`, half of it where one positive is in the list; none where none is.
    pub fn bound(&self) -> Option<f64> {
        let quantile = self.quantile();
        let rank = |score: f64| self.scores.iter().filter(|&&other| other >= score).count() as f64;
        let hits: Vec<f64> = self.positives.iter().map(|&item| self.scores[item]).filter(|&score| score >= quantile).collect();
        let gain: f64 = hits.iter().map(|&score| 1.0 / (1.0 + rank(score)).log2()).sum();
        match hits.len() {
            0 => None,
            1 => Some(-gain.ln() / 2.0),
            _ => Some(-gain.ln()),
        }
    }

    /// The negatives, ascending.
    pub(super) fn negatives(&self) -> impl Iterator<Item = usize> {
        (0..self.scores.len()).filter(|item| !self.positives.contains(item))
    }

    fn log_sum(&self, temperature: f64, denominator: Denominator) -> f64 {
        let scaled: Vec<f64> = match denominator {
            Denominator::All => self.scores.iter().map(|score| score / temperature).collect(),
            Denominator::Negatives => self.negatives().map(|item| self.scores[item] / temperature).collect(),
        };
        let largest = scaled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        largest + scaled.iter().map(|score| (score - largest).exp()).sum::<f64>().ln()
    }
}

/// The k-th largest number, counted from 1.
pub(super) fn kth_largest(mut numbers: Vec<f64>, k: usize) -> f64 {
    *numbers.select_nth_unstable_by(k - 1, |one, other| other.total_cmp(one)).1
}

fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LIKED, SCORES, assert_near};

    fn example() -> List {
        List { scores: SCORES.to_vec(), positives: LIKED.to_vec(), cutoff: 3 }
    }

    /// LOSSES section 6.
    #[test]
    fn the_example_of_the_reference() {
        let list = example();
        assert_eq!(list.quantile(), 0.5);
        assert_near(list.loss(0.5, 0.2, 1.0, Denominator::All), 3.344_404_89, 1e-8);
        assert_near(list.loss(0.5, 0.2, 1e12, Denominator::All), 7.478_311_06 / 2.0, 1e-8);
        assert_near(list.bound().unwrap(), -0.405_465_11, 1e-8);
    }

    /// The released sum over the negatives 3, 4 and 6: as if the others were not there.
    #[test]
    fn the_release_sums_over_negatives() {
        let kept = [0, 2, 5, 3, 4, 6].map(|item| SCORES[item]).to_vec();
        let list = List { scores: kept, positives: vec![0, 1, 2], cutoff: 3 };
        assert_eq!(list.quantile(), 0.5);
        assert_near(list.loss(0.5, 0.2, 1.0, Denominator::Negatives), 1.117_560_78, 1e-8);
    }

    /// 30 items, a positive at rank 1 and no other in the list: DCG is 1, and the loss may not be below 0.
    #[test]
    fn one_hit_counts_half_and_none_is_undefined() {
        let list = |positive: usize| List { scores: (0..30).map(f64::from).collect(), positives: vec![positive], cutoff: 2 };
        assert_eq!(list(29).bound(), Some(0.0));
        assert_near(list(28).bound().unwrap(), 0.5 * 3_f64.log2().ln(), 1e-12);
        assert_eq!(list(5).bound(), None);
    }

    #[test]
    fn equal_scores_are_all_in_the_list() {
        let list = List { scores: vec![1.0, 1.0, 1.0, 0.0], positives: vec![0, 2], cutoff: 1 };
        assert_near(list.bound().unwrap(), -(1.0_f64).ln(), 1e-12);
    }
}

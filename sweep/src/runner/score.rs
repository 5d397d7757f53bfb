//! The score that a configuration is judged by: the validation of its trials.

use std::cmp::Ordering;
use trainer::Fit;

/// How a configuration did on validation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    /// Trials that did not fail.
    living: usize,
    /// Their mean validation value; minus infinity where there is no validation part.
    mean: f64,
}

impl Score {
    /// The score of a configuration by the trainings of its trials that did not fail.
    pub(super) fn of<'a>(fits: impl Iterator<Item = &'a Fit>) -> Self {
        let values: Vec<f64> = fits.map(|fit| fit.validation.unwrap_or(f64::NEG_INFINITY)).collect();
        Self { living: values.len(), mean: values.iter().sum::<f64>() / values.len() as f64 }
    }

    /// Whether any trial has a model.
    pub(super) fn lives(&self) -> bool {
        self.living > 0
    }

    /// Less for the better: fewer failed seeds, then the larger mean.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        other.living.cmp(&self.living).then(other.mean.total_cmp(&self.mean))
    }
}

/// The best `count` of the configurations that live, the best first; of equals the first.
pub(super) fn best(scores: &[(usize, Score)], count: usize) -> Vec<usize> {
    let mut living: Vec<&(usize, Score)> = scores.iter().filter(|(_, score)| score.lives()).collect();
    living.sort_by(|a, b| a.1.order(&b.1).then(a.0.cmp(&b.0)));
    living.into_iter().take(count).map(|(configuration, _)| *configuration).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The score of one trial with a validation value; `None` for one that failed.
    pub(in crate::runner) fn score(value: Option<f64>) -> Score {
        Score { living: value.iter().count(), mean: value.unwrap_or(f64::NAN) }
    }

    #[test]
    fn whole_configurations_come_before_those_with_a_failed_seed_and_dead_ones_nowhere() {
        let fit =
            |value| Fit { epochs: 1, best_epoch: 1, validation: Some(value), seconds: 0.0, device: "cpu".to_owned(), remarks: vec![] };
        let of = |values: &[f64]| Score::of(values.iter().map(|&value| fit(value)).collect::<Vec<_>>().iter());
        let scores = [(0, of(&[0.9])), (1, of(&[0.1, 0.2])), (2, of(&[])), (3, of(&[0.2, 0.3])), (4, of(&[0.3, 0.2]))];
        assert_eq!(best(&scores, 9), [3, 4, 1, 0]);
        assert_eq!(best(&scores, 2), [3, 4]);
    }
}

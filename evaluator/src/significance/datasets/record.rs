//! Wins, ties and losses of one method against another over datasets.

use std::cmp::Ordering;

/// On how many datasets one method is better than another, neither, and worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Datasets where the one is better.
    pub wins: usize,
    /// Datasets where neither is.
    pub ties: usize,
    /// Datasets where the other is better.
    pub losses: usize,
}

impl Record {
    /// Counts one outcome for each dataset, `Greater` where the one is better.
    pub fn of(outcomes: impl Iterator<Item = Ordering>) -> Self {
        let mut record = Self::default();
        for outcome in outcomes {
            match outcome {
                Ordering::Greater => record.wins += 1,
                Ordering::Equal => record.ties += 1,
                Ordering::Less => record.losses += 1,
            }
        }
        record
    }

    /// Counts by the values alone, whether or not a difference is significant.
    pub fn of_values(one: &[f64], other: &[f64]) -> Self {
        Self::of(one.iter().zip(other).map(|(one, other)| one.partial_cmp(other).unwrap_or(Ordering::Equal)))
    }

    /// The record as the other method has it.
    pub fn reversed(self) -> Self {
        Self { wins: self.losses, losses: self.wins, ..self }
    }

    /// The record over the datasets of both, or against the opponents of both.
    pub fn plus(self, other: Self) -> Self {
        Self { wins: self.wins + other.wins, ties: self.ties + other.ties, losses: self.losses + other.losses }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_counted_from_the_one_side() {
        let record = Record::of_values(&[0.3, 0.2, 0.5, 0.0], &[0.1, 0.2, 0.4, -0.0]);
        assert_eq!(record, Record { wins: 2, ties: 2, losses: 0 });
        assert_eq!(record.reversed(), Record { wins: 0, ties: 2, losses: 2 });
        assert_eq!(record.plus(record.reversed()), Record { wins: 2, ties: 4, losses: 2 });
    }
}

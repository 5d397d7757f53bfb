//! Which of two values of a metric is the better one.

use std::cmp::Ordering;

/// Whether more or less of a metric is better, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Of two methods that with the higher mean is better.
    HigherIsBetter,
    /// Of two methods that with the lower mean is better.
    LowerIsBetter,
    /// Means differ, and none of them is better.
    Neither,
}

impl Direction {
    /// The order of two values in a table: the better one first, and where neither is better the higher one.
    pub fn order(self, one: f64, other: f64) -> Ordering {
        match self {
            Self::HigherIsBetter | Self::Neither => other.total_cmp(&one),
            Self::LowerIsBetter => one.total_cmp(&other),
        }
    }
}

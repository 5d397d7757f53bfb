//! How many of the sampled negatives must score high for a loss to bound a metric.
//!
//! | | BPR, BCE | CCE | CCE, tight |
//! |---|---|---|---|
//! | NDCG | `log2 log2(1 + r)` | `log2(1 + r)` | `log2(1 + r) - 1` |
//! | RR | `log2 r` | `r` | `r - 1` |
//!
//! A count `G` reaches the threshold `t` from `ceil(t)` on. The paper prints `1 - CDF(t)`, the probability of `G > t`, which is too small
//! where the threshold is an integer. Its proof for CCE drops the positive's own term of the sum; with it, the threshold is 1 less.

/// The metric of one positive at rank r, whose negative logarithm is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// `1 / log2(1 + r)`
    Ndcg,
    /// `1 / r`
    ReciprocalRank,
}

/// The loss, a sum over K sampled negatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loss {
    /// `sum_j softplus(s_j - s)`
    Bpr,
    /// `softplus(-s) + sum_j softplus(s_j)`
    Bce,
    /// `log(1 + sum_j exp(s_j - s))`
    Cce,
}

/// The form of a probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The probability as the paper prints it: of more than the threshold.
    Printed,
    /// The probability of at least the threshold.
    Survival,
    /// The probability of at least the threshold that the whole sum of CCE gives. The other losses have none.
    Tight,
}

impl Metric {
    /// Both metrics.
    pub const ALL: [Self; 2] = [Self::Ndcg, Self::ReciprocalRank];

    /// The name in tables: `ndcg`, `rr`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ndcg => "ndcg",
            Self::ReciprocalRank => "rr",
        }
    }
}

impl Loss {
    /// All losses.
    pub const ALL: [Self; 3] = [Self::Bpr, Self::Bce, Self::Cce];

    /// The name in a sweep file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bpr => "bpr",
            Self::Bce => "bce",
            Self::Cce => "cce",
        }
    }

    /// The probabilities that there are of the loss.
    pub fn forms(self) -> &'static [Form] {
        match self {
            Self::Bpr | Self::Bce => &[Form::Printed, Form::Survival],
            Self::Cce => &[Form::Printed, Form::Survival, Form::Tight],
        }
    }
}

impl Form {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Survival => "survival",
            Self::Tight => "tight",
        }
    }
}

/// The most that rounding may add to a threshold that is an integer.
const GUARD: f64 = 1e-12;

/// The least count that the form asks for, of a positive at this rank, from 1.
pub(super) fn needed(metric: Metric, loss: Loss, form: Form, rank: u64) -> u64 {
    let threshold = match (metric, loss) {
        (Metric::Ndcg, Loss::Bpr | Loss::Bce) => (1.0 + rank as f64).log2().log2(),
        (Metric::ReciprocalRank, Loss::Bpr | Loss::Bce) => (rank as f64).log2(),
        (Metric::Ndcg, Loss::Cce) => (1.0 + rank as f64).log2(),
        (Metric::ReciprocalRank, Loss::Cce) => rank as f64,
    };
    let count = match form {
        Form::Printed => (threshold + GUARD).floor() + 1.0,
        Form::Survival => (threshold - GUARD).ceil(),
        Form::Tight => (threshold - 1.0 - GUARD).ceil(),
    };
    count.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Survival and printed are one apart where the threshold is an integer: THEORY section 2.
    #[test]
    fn the_printed_form_asks_for_one_more_at_integer_thresholds() {
        let differ = |metric, loss| {
            let apart = |rank: &u64| needed(metric, loss, Form::Printed, *rank) != needed(metric, loss, Form::Survival, *rank).max(1);
            (2..70_000).filter(apart).collect::<Vec<u64>>()
        };
        assert_eq!(differ(Metric::Ndcg, Loss::Bpr), [3, 15, 255, 65_535]);
        assert_eq!(differ(Metric::Ndcg, Loss::Cce), (2..=16).map(|power| (1 << power) - 1).collect::<Vec<u64>>());
        assert_eq!(differ(Metric::ReciprocalRank, Loss::Bpr), (1..=16).map(|power| 1 << power).collect::<Vec<u64>>());
        assert_eq!(differ(Metric::ReciprocalRank, Loss::Cce), (2..70_000).collect::<Vec<u64>>());
    }

    #[test]
    fn thresholds_keep_the_order_of_theorem_3() {
        for rank in 1..100_000 {
            let count = |loss, form| needed(Metric::Ndcg, loss, form, rank);
            assert!(count(Loss::Bpr, Form::Survival) <= count(Loss::Cce, Form::Tight), "rank {rank}");
            assert!(count(Loss::Cce, Form::Tight) <= count(Loss::Cce, Form::Survival), "rank {rank}");
        }
    }

    #[test]
    fn the_first_rank_needs_nothing_but_for_cce_without_its_own_term() {
        let first = |metric, loss, form| needed(metric, loss, form, 1);
        assert_eq!([Form::Survival, Form::Tight].map(|form| first(Metric::Ndcg, Loss::Cce, form)), [1, 0]);
        assert_eq!([Form::Printed, Form::Survival].map(|form| first(Metric::Ndcg, Loss::Bpr, form)), [1, 0]);
    }
}

//! Dynamic negative sampling (DNS): the candidate of the highest score.
//!
//! ```text
//! j* = argmax_j s_uj   over N candidates
//! ```
//! From a uniform pool of N distinct items of n, the one of rank k is kept with probability `C(n - k, N - 1) / C(n, N)`; with replacement
//! with `((n - k + 1)^N - (n - k)^N) / n^N`. For several negatives of a pair from the same pool see [`DnsMn`](super::DnsMn). Zhang et al.,
//! SIGIR 2013, doi:10.1145/2484028.2484126.

use crate::{
    Draws, Facts, Pool, SamplerKind, Stream, facts,
    rule::{Choice, RowScores, Rule},
};
use losses::fused::lanes;
use serde::{Deserialize, Serialize};

/// `dns` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dns {
    /// Items that are drawn and scored for each positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    /// Where candidates come from.
    #[serde(default)]
    pub pool: Pool,
}

impl SamplerKind for Dns {
    fn facts(&self) -> Facts {
        Facts { paper: "Zhang et al., SIGIR 2013", values: "–", state: "none", cost: facts::CANDIDATES }
    }

    fn draws(&self) -> Draws {
        Draws { pool: self.pool.clone(), count: self.candidates }
    }

    fn count_key(&self) -> &'static str {
        "candidates"
    }

    fn rule(&self, _items: usize) -> Option<Box<dyn Rule>> {
        Some(Box::new(DnsRule))
    }
}

/// The rule of `dns`.
#[derive(Debug)]
pub(super) struct DnsRule;

impl Rule for DnsRule {
    /// Keeps the first of the highest scores.
    fn choose(&self, _rng: &mut Stream, row: RowScores<'_>, choice: &mut Choice) {
        let max = lanes::max(row.candidates);
        choice.keep_one(row.candidates.iter().position(|&score| score == max).unwrap_or(0), 1.0);
    }

    fn subset(&self) -> Option<usize> {
        Some(1)
    }

    fn weighs(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_ranks, choose, pool};
    use super::DnsRule;

    #[test]
    fn ranks_of_distinct_candidates_have_the_worked_distribution() {
        let distribution = [0.4, 0.26666667, 0.16666667, 0.0952381, 0.04761905, 0.01904762, 0.0047619, 0.0, 0.0, 0.0];
        assert_ranks(&DnsRule, &pool(4, false), &distribution);
    }

    #[test]
    fn ranks_of_independent_candidates_have_the_worked_distribution() {
        let distribution = [0.3439, 0.2465, 0.1695, 0.1105, 0.0671, 0.0369, 0.0175, 0.0065, 0.0015, 0.0001];
        assert_ranks(&DnsRule, &pool(4, true), &distribution);
    }

    #[test]
    fn the_first_of_equals_is_kept() {
        assert_eq!(choose(&DnsRule, 0.0, &[1.0, 3.0, -1e30, 3.0], None).places, [1]);
        assert_eq!(choose(&DnsRule, 0.0, &[-1e30, -1e30], None).places, [0]);
    }
}

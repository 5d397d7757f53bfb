//! DNS(M, N): the M candidates of the highest scores.
//!
//! ```text
//! p_j = 1 / M   for the M highest of N candidates, else 0
//! loss = sum_j p_j l(s_ui, s_uj)
//! ```
//! Sampling is harder for smaller M and larger N, and the smaller the K of the metric, the harder it should be; M = 1 is
//! [`Dns`](super::Dns), M = N uniform. The release takes the sum over the M, not the mean, which `sum: true` is; its pool holds the user's
//! train items too. From a uniform pool of distinct items the kept have rank k with probability
//! `1/M sum_{m <= M} C(k - 1, m - 1) C(n - k, N - m) / C(n, N)`. Shi et al., WWW 2023, doi:10.1145/3543507.3583223, Algorithm 1; its values
//! are N 200 or 500, and M from 1 to 20.

use super::{is_item, top::keep_top};
use crate::{
    Draws, Facts, Pool, SamplerKind, Stream, check_negatives, facts,
    rule::{Choice, RowScores, Rule},
};
use serde::{Deserialize, Serialize};

/// `dns-mn` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DnsMn {
    /// N: items that are drawn and scored for each positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    /// M: how many of them are kept.
    pub negatives: u32,
    /// Whether the loss is the sum over the kept, not their mean; for losses that weigh their negatives alone.
    #[serde(default)]
    pub sum: bool,
    /// Where candidates come from.
    #[serde(default)]
    pub pool: Pool,
}

impl SamplerKind for DnsMn {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Shi et al., WWW 2023, Algorithm 1",
            values: "`candidates` 200 (Gowalla, Yelp) or 500 (Amazon), `negatives` 1 to 20",
            state: "none",
            cost: facts::CANDIDATES,
        }
    }

    fn draws(&self) -> Draws {
        Draws { pool: self.pool.clone(), count: self.candidates }
    }

    fn check_values(&self) -> Result<(), String> {
        check_kept(self.negatives, self.candidates)
    }

    /// 1 where it sums: a mean was taken for the sum.
    fn revision(&self) -> u32 {
        u32::from(self.sum)
    }

    fn count_key(&self) -> &'static str {
        "candidates"
    }

    fn rule(&self, _items: usize) -> Option<Box<dyn Rule>> {
        Some(Box::new(DnsMnRule { negatives: self.negatives as usize, mean: !self.sum }))
    }
}

/// The error of more kept than drawn.
pub(super) fn check_kept(negatives: u32, candidates: Option<u32>) -> Result<(), String> {
    match candidates {
        Some(candidates) if negatives > candidates => {
            Err(format!("negatives is {negatives}: expected at most the {candidates} candidates"))
        }
        _ => check_negatives("negatives", negatives),
    }
}

/// The rule of `dns-mn`.
#[derive(Debug)]
struct DnsMnRule {
    negatives: usize,
    mean: bool,
}

impl Rule for DnsMnRule {
    /// Keeps the highest scores.
    fn choose(&self, _rng: &mut Stream, row: RowScores<'_>, choice: &mut Choice) {
        let scores = row.candidates;
        keep_top(scores.iter().copied(), self.negatives, choice);
        let items = choice.places.iter().filter(|&&place| is_item(scores[place as usize])).count();
        let weight = if self.mean { 1.0 / items as f32 } else { 1.0 };
        choice.weights.clear();
        choice.weights.extend(choice.places.iter().map(|&place| if is_item(scores[place as usize]) { weight } else { 0.0 }));
    }

    fn subset(&self) -> Option<usize> {
        Some(self.negatives)
    }

    /// Weights of 1 too: a loss that is a mean without weights becomes the sum by them.
    fn weighs(&self) -> bool {
        self.negatives > 1
    }

    fn sums(&self) -> bool {
        !self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        dns::DnsRule,
        tests::{CANDIDATES, LOSSES, POSITIVE, assert_ranks, choose, expectation, pool},
    };
    use crate::Sampler;

    fn rule(negatives: usize, mean: bool) -> super::DnsMnRule {
        super::DnsMnRule { negatives, mean }
    }

    #[test]
    fn ranks_have_the_worked_distribution() {
        let distribution = [0.2, 0.2, 0.18333333, 0.1547619, 0.11904762, 0.08095238, 0.0452381, 0.01666667, 0.0, 0.0];
        assert_ranks(&rule(2, true), &pool(4, false), &distribution);
    }

    #[test]
    fn all_kept_are_uniform() {
        assert_ranks(&rule(4, true), &pool(4, false), &[0.1; 10]);
        let choice = choose(&rule(4, true), POSITIVE, &CANDIDATES, None);
        assert_eq!((choice.places, choice.weights), (vec![0, 1, 2, 3], vec![0.25; 4]));
    }

    #[test]
    fn one_kept_is_dns() {
        assert_eq!(choose(&rule(1, true), POSITIVE, &CANDIDATES, None).places, choose(&DnsRule, POSITIVE, &CANDIDATES, None).places);
    }

    #[test]
    fn the_worked_losses_of_paper_and_release() {
        for (mean, expected) in [(true, 0.70435524), (false, 1.40871049)] {
            let choice = choose(&rule(2, mean), POSITIVE, &CANDIDATES, None);
            assert_eq!(choice.places, [0, 2]);
            assert!((expectation(&choice, &LOSSES) - expected).abs() < 2e-8);
        }
    }

    /// Beside the pool's own.
    #[test]
    fn a_sum_has_a_revision() {
        let revision = |text: &str| serde_json::from_str::<Sampler>(text).unwrap().revision();
        assert_eq!(revision(r#"{"dns-mn": {"candidates": 8, "negatives": 3}}"#), 0);
        assert_eq!(revision(r#"{"dns-mn": {"candidates": 8, "negatives": 3, "sum": true}}"#), 1);
        assert_eq!(revision(r#"{"dns-mn": {"candidates": 8, "negatives": 3, "pool": {"in-batch": {}}}}"#), 1);
        assert_eq!(revision(r#"{"dns-mn": {"candidates": 8, "negatives": 3, "sum": true, "pool": {"in-batch": {}}}}"#), 2);
    }

    #[test]
    fn ties_and_masks() {
        assert_eq!(choose(&rule(2, true), 0.0, &[1.0, 2.0, 1.0, 1.0], None).places, [0, 1]);
        assert_eq!(choose(&rule(2, true), 0.0, &[-0.0, 0.0, 0.0], None).places, [0, 1]);
        let choice = choose(&rule(3, true), 0.0, &[-1e30, 2.0, -1e30, -3.0], None);
        assert_eq!((choice.places, choice.weights), (vec![0, 1, 3], vec![0.0, 0.5, 0.5]));
        assert_eq!(choose(&rule(2, true), 0.0, &[-1e30; 3], None).weights, [0.0; 2]);
    }
}

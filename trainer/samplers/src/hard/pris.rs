//! PRIS: all candidates, weighed by the softmax of their scores, corrected for how they are drawn.
//!
//! ```text
//! w_j = exp(s_uj - s_ui - log q_uj) / sum_k exp(s_uk - s_ui - log q_uk)
//! loss = sum_j w_j l(s_ui, s_uj)
//! ```
//! The positive's score cancels. PRIS(U) has a uniform pool and is `softmax` at the temperature 1; PRIS(P) has one by popularity, where the
//! release takes the `logarithm`. Unlike the sampled softmax loss this weighs pairs, and is no logarithm of a sum.
//! Lian et al., WWW 2020, doi:10.1145/3366423.3380187.

use super::weights;
use crate::{
    Draws, Facts, Pool, SamplerKind, Stream, facts,
    rule::{Choice, RowScores, Rule},
};
use serde::{Deserialize, Serialize};

/// `pris` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pris {
    /// Items that are drawn and scored for each positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    /// Where candidates come from.
    #[serde(default)]
    pub pool: Pool,
}

impl SamplerKind for Pris {
    fn facts(&self) -> Facts {
        Facts { paper: "Lian et al., WWW 2020", values: "–", state: "none", cost: facts::CANDIDATES }
    }

    fn draws(&self) -> Draws {
        Draws { pool: self.pool.clone(), count: self.candidates }
    }

    fn count_key(&self) -> &'static str {
        "candidates"
    }

    fn rule(&self, _items: usize) -> Option<Box<dyn Rule>> {
        Some(Box::new(PrisRule))
    }
}

/// The rule of `pris`.
#[derive(Debug)]
struct PrisRule;

impl Rule for PrisRule {
    /// Weighs all candidates.
    fn choose(&self, _rng: &mut Stream, row: RowScores<'_>, choice: &mut Choice) {
        choice.keep_all(row.candidates.len());
        weights::weigh(row.candidates, 1.0, row.log_probabilities, &mut choice.weights);
    }

    fn subset(&self) -> Option<usize> {
        None
    }

    fn weighs(&self) -> bool {
        true
    }

    fn needs_log_probabilities(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{CANDIDATES, LOSSES, POSITIVE, assert_weights, choose, expectation},
        PrisRule,
    };

    #[test]
    fn the_worked_weights_and_loss() {
        let q = [0.4f32, 0.1, 0.3, 0.2].map(f32::ln);
        let choice = choose(&PrisRule, POSITIVE, &CANDIDATES, Some(&q));
        assert_weights(&choice, &[0.18073618, 0.21774676, 0.43909705, 0.16242]);
        assert!((expectation(&choice, &LOSSES) - 0.56586301).abs() < 2e-7);
    }

    #[test]
    fn a_uniform_pool_is_the_softmax() {
        let worked = [0.2799049, 0.08430574, 0.51001998, 0.12576938];
        assert_weights(&choose(&PrisRule, POSITIVE, &CANDIDATES, Some(&[-3.0; 4])), &worked);
        assert_weights(&choose(&PrisRule, POSITIVE, &CANDIDATES, None), &worked);
    }
}

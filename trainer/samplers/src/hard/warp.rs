//! WARP: the first candidate that violates the margin, and the rank that its place tells of.
//!
//! ```text
//! N = the first place with s_uj > s_ui - margin          rank = floor((n - 1) / N)
//! ```
//! for n items. Candidates are independent and uniform over the possible negatives, which the estimate needs: with v violators of Y
//! possible negatives one is found within T candidates with probability `1 - (1 - v / Y)^T`. Where none is found the rank is 0 and the
//! weight 0: the paper goes on drawing, up to n - 1 times, and then leaves the pair alone too. The estimate is too high for few violators,
//! as `E[1 / N] > 1 / E[N]`. All candidates are scored at once and not one by one: what is saved by stopping early is less than what it
//! costs. LightFM draws 10 and takes the user's own items as trials, which are never drawn here. Weston et al., IJCAI 2011; the loss of the
//! rank is the loss `warp`'s, which has to have the same margin.

use super::is_item;
use crate::{
    Draws, Facts, Pool, SamplerKind, Stream, facts,
    rule::{Choice, RowScores, Rule},
};
use serde::{Deserialize, Serialize};

/// `warp` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Warp {
    /// Items that are drawn and scored for each positive.
    pub candidates: u32,
    /// How far below the positive's score a negative's has to stay.
    #[serde(default = "super::super::popularity::one")]
    pub margin: f64,
}

impl SamplerKind for Warp {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Weston, Bengio and Usunier, IJCAI 2011",
            values: "`margin` 1; LightFM: 10 candidates",
            state: "none",
            cost: facts::CANDIDATES,
        }
    }

    fn draws(&self) -> Draws {
        Draws { pool: Pool::default(), count: Some(self.candidates) }
    }

    fn check_values(&self) -> Result<(), String> {
        match self.margin {
            margin if margin.is_finite() && margin >= 0.0 => Ok(()),
            margin => Err(format!("margin is {margin}: expected a finite number, at least 0")),
        }
    }

    fn count_key(&self) -> &'static str {
        "candidates"
    }

    fn estimated_rank_margin(&self) -> Option<f64> {
        Some(self.margin)
    }

    fn rule(&self, items: usize) -> Option<Box<dyn Rule>> {
        Some(Box::new(WarpRule { margin: self.margin as f32, items }))
    }
}

/// The rule of `warp`.
#[derive(Debug)]
struct WarpRule {
    margin: f32,
    items: usize,
}

impl Rule for WarpRule {
    /// Keeps the first violator; without one the first candidate, weighing nothing.
    fn choose(&self, _rng: &mut Stream, row: RowScores<'_>, choice: &mut Choice) {
        let bound = row.positive - self.margin;
        match row.candidates.iter().position(|&score| score > bound && is_item(score)) {
            Some(place) => {
                choice.keep_one(place, 1.0);
                choice.rank = (self.items.saturating_sub(1) / (place + 1)) as f32;
            }
            None => choice.keep_one(0, 0.0),
        }
    }

    fn subset(&self) -> Option<usize> {
        Some(1)
    }

    fn weighs(&self) -> bool {
        true
    }

    fn may_leave_none(&self) -> bool {
        true
    }

    fn needs_positive(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{choose, choose_as};
    use super::*;
    use crate::{Prepared, Row, Sampler};
    use dataset::Interactions;
    use streams::{Purpose, Stream};
    use testing::assert_drawn_from;

    fn rule(items: usize) -> WarpRule {
        WarpRule { margin: 1.0, items }
    }

    #[test]
    fn the_worked_rank() {
        let mut scores = [0.0; 100];
        (scores[6], scores[9]) = (0.6, 5.0);
        let choice = choose(&rule(1000), 1.5, &scores, None);
        assert_eq!((choice.places, choice.weights, choice.rank), (vec![6], vec![1.0], 142.0));
    }

    #[test]
    fn nothing_violates() {
        // The margin itself is no violation.
        let choice = choose(&rule(1000), 1.5, &[0.5, -1.0, -1e30], None);
        assert_eq!((choice.places, choice.weights, choice.rank), (vec![0], vec![0.0], 0.0));
    }

    /// 20 violators of 999 possible negatives: found within 100 candidates with the worked probability, at a geometric place.
    #[test]
    fn places_are_geometric() {
        let train = Interactions::from_pairs(1, [(0, 999)].into_iter());
        let sampler = Sampler::Warp(Warp { candidates: 100, margin: 1.0 });
        let prepared = Prepared::new(&sampler, &train, 1000).unwrap();
        let (mut ids, ends) = ([0; 100], [1, 5, 20, 50, 100]);
        let mut found = [0.0; 6];
        for row in 0..20_000 {
            prepared.draw(&mut Stream::new(7, Purpose::Negatives, 1, 0, row), Row::alone(0), &mut ids, None);
            let scores = ids.map(|id| if id < 20 { 0.5 } else { -0.5 });
            let choice = choose_as(row, &rule(1000), 1.0, &scores, None);
            let trials = choice.places[0] + 1;
            let class = if choice.weights[0] == 0.0 { 5 } else { ends.iter().position(|&end| trials <= end).unwrap() };
            found[class] += 1.0;
        }
        let within = |trials: i32| 1.0 - (1.0 - 20.0 / 999.0f64).powi(trials);
        assert!((within(100) - 0.86765109).abs() < 5e-9);
        let distribution = [
            within(1),
            within(5) - within(1),
            within(20) - within(5),
            within(50) - within(20),
            within(100) - within(50),
            1.0 - within(100),
        ];
        assert_drawn_from(&found, &distribution, 1.0);
    }
}

//! What a hard sampler makes of its candidates' scores: it keeps some of them, or weighs them all.
//!
//! Neither has a gradient: losses see the kept scores, and weights are constants. Candidates whose score is masked stand for no item;
//! they are kept only where there are too few others, and weigh 0.

use super::Stream;
use std::fmt;

/// The scores of a row's candidates, and of the positive.
#[derive(Clone, Copy, Debug)]
pub struct RowScores<'a> {
    /// The positive's.
    pub positive: f32,
    /// `[N]`, the candidates'.
    pub candidates: &'a [f32],
    /// `[N]`, the log-probabilities of the candidates' draws; `None` stands for equally probable ones, as does the pool `all`.
    pub log_probabilities: Option<&'a [f32]>,
}

/// A rule with its values, ready to run on the rows of a batch from any thread.
pub trait Rule: fmt::Debug + Send + Sync {
    /// Looks at the scores of a row.
    fn choose(&self, rng: &mut Stream, row: RowScores<'_>, choice: &mut Choice);

    /// How many it keeps of many; `None` where it keeps all.
    fn subset(&self) -> Option<usize>;

    /// M, the same for every row of so many candidates.
    fn chosen(&self, candidates: usize) -> usize {
        self.subset().map_or(candidates, |chosen| chosen.min(candidates))
    }

    /// Whether the loss is to take the rule's weights in place of its own, which only losses that sum over negatives, or take their mean, can.
    fn weighs(&self) -> bool;

    /// Whether it is by a value of its own that the loss sums over what is chosen, where it would be their mean.
    fn sums(&self) -> bool {
        false
    }

    /// Whether of a row with candidates none may be left, which a weight of 0 says.
    fn may_leave_none(&self) -> bool {
        false
    }

    /// Whether the rule looks at the log-probabilities of the draws.
    fn needs_log_probabilities(&self) -> bool {
        false
    }

    /// Whether the rule looks at the score of one positive, which lists of several do not have.
    fn needs_positive(&self) -> bool {
        false
    }
}

/// What a rule leaves of a row; reused from row to row.
#[derive(Default)]
pub struct Choice {
    /// `[M]`, places of the kept candidates among the row's, ascending.
    pub places: Vec<u32>,
    /// `[M]`, their weights, for losses that sum over negatives.
    pub weights: Vec<f32>,
    /// What `warp` estimates the positive's rank to be; 0 by other rules, and where it stands above all negatives.
    pub rank: f32,
    /// `[N]`, what the candidates are ordered by, with their places.
    pub(crate) keys: Vec<u64>,
}

impl Choice {
    /// Keeps one candidate.
    pub(crate) fn keep_one(&mut self, place: usize, weight: f32) {
        self.rank = 0.0;
        self.places.clear();
        self.places.push(place as u32);
        self.weights.clear();
        self.weights.push(weight);
    }

    /// Keeps all candidates; makes room for their weights.
    pub(crate) fn keep_all(&mut self, candidates: usize) {
        self.rank = 0.0;
        self.places.clear();
        self.places.extend(0..candidates as u32);
        self.weights.resize(candidates, 0.0);
    }
}

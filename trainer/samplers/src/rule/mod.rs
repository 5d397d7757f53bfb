//! What a hard sampler makes of its candidates' scores: it keeps some of them, or weighs them all.
//!
//! Neither has a gradient: losses see the kept scores, and weights are constants. Candidates whose score is masked stand for no item;
//! they are kept only where there are too few others, and weigh 0.

use super::Stream;
use losses::primitives::MASKED_BELOW;

mod dns;
mod dns_mn;
mod pris;
mod softmax;
mod softmax_v;
#[cfg(test)]
mod tests;
mod top;
mod warp;
mod weights;

pub use dns::Dns;
pub use dns_mn::DnsMn;
pub use pris::Pris;
pub use softmax::Softmax;
pub use softmax_v::{SoftmaxV, Variance};
pub use warp::Warp;

use dns_mn::DnsMnRule;
use softmax::SoftmaxRule;
use softmax_v::SoftmaxVRule;
use warp::WarpRule;

/// A rule with its values, ready to run on the rows of a batch from any thread.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// `dns`
    Dns,
    /// `dns-mn`
    DnsMn(DnsMnRule),
    /// `softmax`
    Softmax(SoftmaxRule),
    /// `softmax-v`
    SoftmaxV(SoftmaxVRule),
    /// `pris`
    Pris,
    /// `warp`
    Warp(WarpRule),
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
    keys: Vec<u64>,
}

impl Rule {
    /// Looks at the scores of a row's candidates, `[N]`, and the positive's.
    ///
    /// `log_probabilities` are those of the candidates' draws, `[N]`; `None` stands for equally probable ones, as does the pool `all`.
    pub fn choose(&self, rng: &mut Stream, positive: f32, scores: &[f32], log_probabilities: Option<&[f32]>, choice: &mut Choice) {
        choice.rank = 0.0;
        match self {
            Rule::Dns => dns::choose(scores, choice),
            Rule::DnsMn(rule) => rule.choose(scores, choice),
            Rule::Softmax(rule) => rule.choose(rng, scores, log_probabilities, choice),
            Rule::SoftmaxV(rule) => rule.choose(positive, scores, log_probabilities, choice),
            Rule::Pris => pris::choose(scores, log_probabilities, choice),
            Rule::Warp(rule) => rule.choose(positive, scores, choice),
        }
    }

    /// M, the same for every row of so many candidates.
    pub fn chosen(&self, candidates: usize) -> usize {
        self.subset().map_or(candidates, |chosen| chosen.min(candidates))
    }

    /// How many it keeps of many; `None` where it keeps all.
    pub fn subset(&self) -> Option<usize> {
        match self {
            Rule::Dns | Rule::Warp(_) => Some(1),
            Rule::DnsMn(rule) => Some(rule.negatives),
            Rule::Softmax(rule) => rule.negatives,
            Rule::SoftmaxV(_) | Rule::Pris => None,
        }
    }

    /// Whether the rule's weights are other than 1, which only losses that sum over negatives can have.
    pub fn weighs(&self) -> bool {
        match self {
            Rule::Dns => false,
            Rule::DnsMn(rule) => rule.weighs(),
            Rule::Softmax(rule) => rule.negatives.is_none(),
            Rule::SoftmaxV(_) | Rule::Pris | Rule::Warp(_) => true,
        }
    }

    /// Whether the rule looks at the log-probabilities of the draws.
    pub fn needs_log_probabilities(&self) -> bool {
        match self {
            Rule::Dns | Rule::DnsMn(_) | Rule::Warp(_) => false,
            Rule::Softmax(rule) => rule.corrected,
            Rule::SoftmaxV(rule) => rule.corrected,
            Rule::Pris => true,
        }
    }

    /// Whether the rule looks at the score of one positive, which lists of several do not have.
    pub fn needs_positive(&self) -> bool {
        matches!(self, Rule::SoftmaxV(_) | Rule::Warp(_))
    }
}

impl Choice {
    /// Keeps one candidate.
    fn keep_one(&mut self, place: usize, weight: f32) {
        self.places.clear();
        self.places.push(place as u32);
        self.weights.clear();
        self.weights.push(weight);
    }

    /// Keeps all candidates; makes room for their weights.
    fn keep_all(&mut self, candidates: usize) {
        self.places.clear();
        self.places.extend(0..candidates as u32);
        self.weights.resize(candidates, 0.0);
    }
}

/// Whether a score stands for an item.
#[inline(always)]
fn is_item(score: f32) -> bool {
    score >= MASKED_BELOW as f32
}

//! Smooth ranks of a list's positives, and what losses make of them.

use super::{
    items::is_item,
    lanes::{Step, replace_and_sum},
    pairwise::sum,
    softmax::scale,
};
use multiversion::multiversion;
use std::cell::RefCell;
use vectors::elementary::exp_of_negative;

/// Values of the ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SmoothRank {
    /// Temperature, above 0.
    pub(crate) temperature: f32,
    /// Whether an item counts itself, as half.
    pub(crate) include_self: bool,
}

/// The rank of a positive; where derivatives are, those of the loss by it.
#[derive(Clone, Copy, Default)]
pub(super) struct Rank {
    pub(super) in_list: f64,
    pub(super) among_positives: f64,
}

/// Buffers of a thread, which keep their size from list to list.
#[derive(Default)]
struct Buffers {
    /// Scores of the positives that are items, and the derivatives of the loss by them.
    scores: Vec<f32>,
    derivatives: Vec<f64>,
    ranks: Vec<Rank>,
    /// `[P, N]`: how a rank grows with a negative's score, times the temperature.
    slopes: Vec<f32>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

/// The loss of a list, whose scores become derivatives: `loss` turns the ranks of its positives into the derivatives by them.
pub(super) fn of_ranks(settings: SmoothRank, positives: &mut [f32], negatives: &mut [f32], loss: impl FnOnce(&mut [Rank]) -> f64) -> f32 {
    BUFFERS.with_borrow_mut(|buffers| {
        let inverse_temperature = 1.0 / settings.temperature;
        buffers.take(positives);
        buffers.find_ranks(negatives, inverse_temperature, settings.include_self);
        let loss = loss(&mut buffers.ranks);
        buffers.back(negatives, inverse_temperature);
        buffers.give(positives);
        loss as f32
    })
}

impl Buffers {
    fn take(&mut self, positives: &[f32]) {
        self.scores.clear();
        self.scores.extend(positives.iter().filter(|&&score| is_item(score)));
        self.derivatives.clear();
        self.derivatives.resize(self.scores.len(), 0.0);
        self.ranks.clear();
        self.ranks.resize(self.scores.len(), Rank::default());
    }

    fn give(&self, positives: &mut [f32]) {
        let mut derivatives = self.derivatives.iter();
        for positive in positives {
            *positive = if is_item(*positive) { *derivatives.next().expect("one an item") as f32 } else { 0.0 };
        }
    }

    fn find_ranks(&mut self, negatives: &[f32], inverse_temperature: f32, include_self: bool) {
        let first = if include_self { 1.5 } else { 1.0 };
        self.ranks.iter_mut().for_each(|rank| rank.among_positives = first);
        self.each_pair(inverse_temperature, |ranks, _, (p, q), (above, _)| {
            ranks[p].among_positives += above;
            ranks[q].among_positives += 1.0 - above;
        });
        self.slopes.clear();
        for (rank, &score) in self.ranks.iter_mut().zip(&self.scores) {
            let from = self.slopes.len();
            self.slopes.extend_from_slice(negatives);
            rank.in_list = rank.among_positives + sigmoids(&mut self.slopes[from..], &Sigmoid { score, inverse_temperature });
        }
    }

    /// From the derivatives by the ranks to those by the scores.
    fn back(&mut self, negatives: &mut [f32], inverse_temperature: f32) {
        let sharp = f64::from(inverse_temperature);
        self.each_pair(inverse_temperature, |ranks, derivatives, (p, q), (_, slope)| {
            let of = |rank: &Rank| rank.in_list + rank.among_positives;
            let pull = (of(&ranks[p]) - of(&ranks[q])) * slope * sharp; // q above p is p's loss and q's gain
            derivatives[q] += pull;
            derivatives[p] -= pull;
        });
        let count = negatives.len();
        negatives.fill(0.0);
        for (at, (rank, derivative)) in self.ranks.iter().zip(&mut self.derivatives).enumerate() {
            let slopes = &mut self.slopes[at * count..][..count];
            scale(slopes, (rank.in_list * sharp) as f32);
            *derivative -= sum(slopes);
            add(negatives, slopes);
        }
    }

    /// For each two positives: `sigmoid((s_q - s_p) / t)` and its slope.
    fn each_pair(&mut self, inverse_temperature: f32, mut visit: impl FnMut(&mut [Rank], &mut [f64], (usize, usize), (f64, f64))) {
        for p in 0..self.scores.len() {
            for q in p + 1..self.scores.len() {
                let (slope, sigmoid) = Sigmoid { score: self.scores[p], inverse_temperature }.step(self.scores[q]);
                visit(&mut self.ranks, &mut self.derivatives, (p, q), (f64::from(sigmoid), f64::from(slope)));
            }
        }
    }
}

struct Sigmoid {
    score: f32,
    inverse_temperature: f32,
}

impl Step for Sigmoid {
    /// The slope of the sigmoid, and the sigmoid.
    #[inline(always)]
    fn step(&self, other: f32) -> (f32, f32) {
        let x = (other - self.score) * self.inverse_temperature;
        let small = exp_of_negative(-x.abs());
        let share = 1.0 / (1.0 + small);
        (small * share * share, if x < 0.0 { small * share } else { share })
    }
}

/// Replaces scores by slopes; the sum of the sigmoids.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn sigmoids(scores: &mut [f32], sigmoid: &Sigmoid) -> f64 {
    replace_and_sum(scores, sigmoid)
}

/// Adds entry by entry.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn add(values: &mut [f32], addends: &[f32]) {
    for (value, addend) in values.iter_mut().zip(addends) {
        *value += addend;
    }
}

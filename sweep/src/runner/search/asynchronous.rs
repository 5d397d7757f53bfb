//! A configuration goes on as soon as it is among the best one in `factor` of those that have come to its rung.
//!
//! ```text
//! from the rung below the last down to the first: the best of the best |rung| / factor that has not gone on yet goes on;
//! where there is none, the next configuration starts;
//! where none is left, the best of a rung from which none has gone on: each has at least one
//! ```
//! Algorithm 2 of Li et al., "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020, with one worker, so that the order of the
//! decisions is fixed. The last line is ours: theirs starts configurations for ever. One that went on early and is overtaken later has
//! still gone on; so that more of them may than when each rung is awaited.

use super::{Climb, Score, Shape, best};
use anyhow::Result;

/// The configurations that have come to a rung.
#[derive(Clone, Default)]
struct RungState {
    scores: Vec<(usize, Score)>,
    gone_on: Vec<usize>,
}

impl RungState {
    /// The best of its best `count` that has not gone on.
    fn next(&self, count: usize) -> Option<usize> {
        best(&self.scores, count).into_iter().find(|configuration| !self.gone_on.contains(configuration))
    }
}

/// The last rung that each configuration reaches.
pub(super) fn halve(shape: Shape, climb: &mut Climb<'_>) -> Result<Vec<usize>> {
    let mut reached = vec![0; shape.configurations];
    let mut rungs = vec![RungState::default(); shape.rungs];
    let mut fresh = 0..shape.configurations;
    loop {
        let next = promotable(&rungs, shape.factor).or_else(|| fresh.next().map(|configuration| (configuration, 0)));
        let Some((configuration, rung)) = next.or_else(|| left_alone(&rungs)) else { return Ok(reached) };
        if rung > 0 {
            rungs[rung - 1].gone_on.push(configuration);
        }
        reached[configuration] = rung;
        rungs[rung].scores.push((configuration, climb(configuration, rung)?));
    }
}

/// A configuration and the rung that it goes on to; the highest first.
fn promotable(rungs: &[RungState], factor: u32) -> Option<(usize, usize)> {
    let below_last = rungs.iter().enumerate().rev().skip(1);
    below_last.filter_map(|(at, rung)| Some((rung.next(rung.scores.len() / factor as usize)?, at + 1))).next()
}

/// A configuration and the rung that it goes on to, from a rung from which none has gone on; the lowest first.
fn left_alone(rungs: &[RungState]) -> Option<(usize, usize)> {
    let below_last = rungs.iter().enumerate().take(rungs.len() - 1).filter(|(_, rung)| rung.gone_on.is_empty());
    below_last.filter_map(|(at, rung)| Some((rung.next(1)?, at + 1))).next()
}

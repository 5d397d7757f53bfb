//! An optimizer's steps in the words of a GPU's kernels.

use gpu::adam;
use optimizers::{Leap, Step};

/// The constants of a step.
pub(crate) fn step(step: Step) -> adam::Step {
    let Step { weight_decay, shrinkage, first_decay, first_gain, second_decay, second_gain, second_scale, rate, epsilon } = step;
    adam::Step { weight_decay, shrinkage, first_decay, first_gain, second_decay, second_gain, second_scale, rate, epsilon }
}

/// What steps without gradient do to rows.
pub(crate) fn leaps(leaps: &[Leap]) -> Vec<adam::Leap> {
    leaps.iter().map(|&Leap { scale, weight, terms }| adam::Leap { scale, weight, terms }).collect()
}

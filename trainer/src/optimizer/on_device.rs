//! What a device needs of an optimizer to make its steps.

use super::{idle::Leap, stepper::Stepper};
use gpu::adam;

impl Stepper {
    /// The constants of the next step.
    pub(crate) fn on_device(&self) -> adam::Step {
        let step = self.adam.constants(self.steps + 1);
        adam::Step {
            weight_decay: step.weight_decay,
            first_decay: step.first_decay,
            first_gain: step.first_gain,
            second_decay: step.second_decay,
            second_gain: step.second_gain,
            second_scale: step.second_scale,
            rate: step.rate,
            epsilon: step.epsilon,
        }
    }

    /// Whether rows without a gradient move too.
    pub(crate) fn moves_all_rows(&self) -> bool {
        self.all_rows_move
    }

    /// Whether rows without a gradient can be left behind at all.
    pub(crate) fn may_leave(&self) -> bool {
        self.idle.is_some()
    }

    /// Whether the next step leaves them.
    pub(crate) fn leaves(&self) -> bool {
        self.idle.as_ref().is_some_and(|idle| idle.holds(self.steps))
    }

    /// All rows have been brought up to date, elsewhere.
    pub(crate) fn caught_up_there(&mut self) {
        let steps = self.steps;
        self.idle.iter_mut().for_each(|idle| idle.restart(steps));
    }

    /// What is added to the root of the second moment.
    pub(crate) fn epsilon(&self) -> f32 {
        self.adam.epsilon as f32
    }

    /// What is left of a row's moments after each number of steps without gradient, up to `most`.
    pub(crate) fn decays(&self, most: usize) -> Vec<[f32; 2]> {
        self.idle.as_ref().map_or_else(Vec::new, |idle| idle.decays(most))
    }

    /// The leaps to now by their length, up to the window: that of no step alone where all rows are up to date.
    pub(crate) fn recent_leaps(&self) -> Vec<adam::Leap> {
        self.idle.as_ref().map_or_else(Vec::new, |idle| idle.recent().iter().map(leap).collect())
    }

    /// The leaps to now from each place in time since all rows were up to date.
    pub(crate) fn leaps_by_place(&self) -> Vec<adam::Leap> {
        self.idle.as_ref().map_or_else(Vec::new, |idle| (0..=idle.now()).map(|left| leap(&idle.leap(left).0)).collect())
    }
}

fn leap(leap: &Leap) -> adam::Leap {
    adam::Leap { scale: leap.scale, weight: leap.weight, terms: leap.terms }
}

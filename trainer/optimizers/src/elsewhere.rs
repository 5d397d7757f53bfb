//! What an optimizer tells to one that makes its steps elsewhere, as a GPU does.

use super::{
    catch_up::{CatchUp, Leap},
    kernels::Step,
    stepper::Stepper,
};

impl Stepper {
    /// The constants of the next step.
    pub fn next_step(&self) -> Step {
        self.optimizer.step(self.steps + 1)
    }

    /// Whether rows without a gradient move too.
    pub fn moves_all_rows(&self) -> bool {
        self.optimizer.moves_all_rows()
    }

    /// Whether rows without a gradient can be left behind at all.
    pub fn may_leave(&self) -> bool {
        self.idle.is_some()
    }

    /// Whether the next step leaves them.
    pub fn leaves(&self) -> bool {
        self.idle.as_ref().is_some_and(|idle| idle.holds(self.steps))
    }

    /// All rows have been brought up to date, elsewhere.
    pub fn caught_up_there(&mut self) {
        let steps = self.steps;
        self.idle.iter_mut().for_each(|idle| idle.restart(steps));
    }

    /// What is added to the root of the second moment of rows that are left behind; 1 where none are.
    pub fn epsilon(&self) -> f32 {
        self.idle.as_ref().map_or(1.0, CatchUp::epsilon)
    }

    /// What is left of a row's moments after each number of steps without gradient, up to `most`.
    pub fn decays(&self, most: usize) -> Vec<[f32; 2]> {
        self.idle.as_ref().map_or_else(Vec::new, |idle| idle.decays(most))
    }

    /// The leaps to now by their length, up to the window: that of no step alone where all rows are up to date.
    pub fn recent_leaps(&self) -> Vec<Leap> {
        self.idle.as_ref().map_or_else(Vec::new, |idle| idle.recent().to_vec())
    }

    /// The leaps to now from each place in time since all rows were up to date.
    pub fn leaps_by_place(&self) -> Vec<Leap> {
        self.idle.as_ref().map_or_else(Vec::new, |idle| (0..=idle.now()).map(|left| idle.leap(left).0).collect())
    }
}

//! Rows that are left behind, and make all their steps at once when they are next looked at.
//!
//! Steps without gradient are a leap: trainer/optimizers/src/catch_up.rs has its formula, and makes the numbers. Places in time are counted from a
//! base at which all rows had been brought up to date; `left` has for each row the place to which it is. The leap to now from each place
//! stands in a table by that place. A row that was left more than a window ago does not move any more, so that a step changes the leaps of the
//! last places alone: those are sent, and the older ones stay as they are.

use super::{Rows, Step, Table};
use crate::{
    Buffer, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, LaunchArgument, count, number},
};

/// Some steps without gradient at once, as trainer/optimizers/src/catch_up.rs has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leap {
    /// D
    pub scale: f32,
    /// M_0
    pub weight: f32,
    /// M_j / M_0 for j = 2 to 6, negative where j is odd.
    pub terms: [f32; 5],
}

/// Numbers of a leap in the table; the last one fills it up.
const NUMBERS: usize = 8;

impl Leap {
    fn numbers(&self) -> [f32; NUMBERS] {
        let [a, b, c, d, e] = self.terms;
        [self.scale, self.weight, a, b, c, d, e, 0.0]
    }
}

/// The leaps to now of one optimizer, for all its tables.
#[derive(Debug)]
pub struct Leaps {
    epsilon: f32,
    /// Steps since all rows were up to date.
    now: usize,
    /// `[most + 1, NUMBERS]`, by the place that a row was left at.
    leaps: Buffer<f32>,
    /// `[most + 1, 2]`, by the length of the leap.
    decays: Buffer<f32>,
}

impl Leaps {
    /// Makes leaps by what n steps leave of the first and second moment, `decays[n]` from n = 0 on. There is room for as many steps as these reach.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(gpu: &Gpu, epsilon: f32, decays: &[[f32; 2]]) -> Result<Self> {
        let leaps = gpu.zeros(NUMBERS * decays.len())?;
        Ok(Self { epsilon, now: 0, leaps, decays: gpu.upload(decays.as_flattened())? })
    }

    /// Steps since all rows were up to date.
    pub fn now(&self) -> usize {
        self.now
    }

    /// How many more steps there is room for before all rows have to be brought up to date.
    pub fn room(&self) -> usize {
        self.decays.len() / 2 - 1 - self.now
    }

    /// Goes on by one step. `recent[n]` is the leap of n steps to the new now, from n = 0 on: back to the base, or over a whole window.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When there is no room, or the leaps reach beyond the base.
    pub fn advance(&mut self, gpu: &Gpu, recent: &[Leap]) -> Result<()> {
        assert!(self.room() > 0, "{} steps without bringing all rows up to date", self.now + 1);
        self.now += 1;
        let first = (self.now + 1).checked_sub(recent.len()).expect("no row was left before the base");
        let numbers: Vec<f32> = recent.iter().rev().flat_map(Leap::numbers).collect();
        gpu.write_at(&mut self.leaps, NUMBERS * first, &numbers)
    }

    /// Goes on from where a training was left: `by_place[p]` is the leap to now from place p, up to now itself.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When there is not so much room.
    pub fn resume(&mut self, gpu: &Gpu, by_place: &[Leap]) -> Result<()> {
        self.now = by_place.len().saturating_sub(1);
        assert!(self.decays.len() / 2 > self.now, "{} steps without bringing all rows up to date", self.now);
        let numbers: Vec<f32> = by_place.iter().flat_map(Leap::numbers).collect();
        gpu.write(&mut self.leaps, &numbers)
    }

    /// All rows are up to date, and places are counted anew.
    pub fn restart(&mut self) {
        self.now = 0;
    }

    /// Brings the listed rows up to date: a step may read them then. `left [rows]` says where each row is.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When `left` is not as long as the table.
    pub fn current(&self, gpu: &Gpu, mut table: Table, left: &mut Buffer<u32>, rows: Rows) -> Result<()> {
        assert_eq!(left.len(), table.rows(), "each row was left somewhere");
        let listed = [read(rows.0), read(rows.1), write(left)];
        let arguments: Vec<_> = table.arguments().into_iter().chain(listed).chain(self.arguments()).chain([number(self.epsilon)]).collect();
        gpu.launch("adam_current", Grid::warps(rows.0.len()), &arguments)
    }

    /// The next step of the listed rows, with their `gradient [rows, dim]`; they are brought up to date before it, if they are not yet. Whether
    /// they are shows in no bit. [`advance`](Self::advance) when all tables have made the step.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When `left` or the gradient has another length than the table.
    pub fn move_rows(
        &self,
        gpu: &Gpu,
        mut table: Table,
        left: &mut Buffer<u32>,
        rows: Rows,
        gradient: &Buffer<f32>,
        step: &Step,
    ) -> Result<()> {
        assert_eq!([left.len(), gradient.len()], [table.rows(), table.values.len()], "gradients have the shape of their table");
        let listed = [read(rows.0), read(rows.1), read(gradient), write(left)];
        let arguments: Vec<_> = table.arguments().into_iter().chain(listed).chain(self.arguments()).chain(step.arguments()).collect();
        gpu.launch("adam_move_rows", Grid::warps(rows.0.len()), &arguments)
    }

    /// Brings all rows of a table up to date. [`restart`](Self::restart) when all tables are.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When `left` is not as long as the table.
    pub fn catch_up(&self, gpu: &Gpu, mut table: Table, left: &mut Buffer<u32>) -> Result<()> {
        let rows = table.rows();
        assert_eq!(left.len(), rows, "each row was left somewhere");
        let all = [count(rows), write(left)];
        let arguments: Vec<_> = table.arguments().into_iter().chain(all).chain(self.arguments()).chain([number(self.epsilon)]).collect();
        gpu.launch("adam_catch_up", Grid::warps(rows), &arguments)
    }

    fn arguments(&self) -> [LaunchArgument<'_>; 3] {
        [count(self.now), read(&self.leaps), read(&self.decays)]
    }
}

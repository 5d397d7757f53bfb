//! An optimizer under way: which rows of a parameter a step moves.

use super::{
    Optimizer, Parameter,
    catch_up::CatchUp,
    kernels::{self, Row, Step},
    part::{BLOCK, LISTED, Part, blocks},
};
use crate::prefetch::prefetch;
use embeddings::RowGradients;
use rayon::prelude::*;
use vectors::Matrix;

/// How many listed rows ahead of its use a row is asked for.
const AHEAD: usize = 6;

/// What a step does with rows that have no gradient.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    Move,
    Leave,
    Stay,
}

/// An optimizer, the steps it has made, and what they have left to do.
pub struct Stepper {
    pub(super) optimizer: Optimizer,
    /// Steps made.
    pub steps: u64,
    pub(super) idle: Option<CatchUp>,
}

impl Stepper {
    /// Goes on after so many steps, at which every row is up to date.
    pub fn new(optimizer: &Optimizer, steps: u64) -> Self {
        let mut idle = optimizer.idles().and_then(CatchUp::new);
        idle.iter_mut().for_each(|idle| idle.restart(steps));
        Self { optimizer: optimizer.clone(), steps, idle }
    }

    /// Goes on after so many steps with parameters of which no row is ever left behind.
    pub fn of_moving_rows(optimizer: &Optimizer, steps: u64) -> Self {
        Self { idle: None, ..Self::new(optimizer, steps) }
    }

    /// Goes on after so many steps, since `caught_up` of which rows have been left behind.
    pub fn resumed(optimizer: &Optimizer, steps: u64, caught_up: u64) -> Self {
        let mut stepper = Self::new(optimizer, steps);
        if let Some(idle) = &mut stepper.idle {
            idle.restart(caught_up);
            (caught_up..steps).for_each(|_| idle.advance());
        }
        stepper
    }

    /// The step at which all rows were up to date.
    pub fn caught_up(&self) -> u64 {
        self.idle.as_ref().map_or(self.steps, |idle| self.steps - u64::from(idle.now()))
    }

    /// The next step of a parameter by the gradient of each of its values, `[rows * dim]`.
    pub fn move_by(&self, parameter: &mut Parameter, gradient: Vec<f32>) {
        let gradient = Matrix { rows: parameter.values.rows, dim: parameter.values.dim, values: gradient };
        self.move_all(parameter, &RowGradients::whole(gradient));
    }

    /// The listed rows, ascending, as they are before the next step: `out [rows.len(), dim]`.
    pub fn current(&self, rows: &[u32], parameter: &Parameter, out: &mut [f32]) {
        let Parameter { values: table, first, second, left, .. } = parameter;
        let dim = table.dim;
        let behind = self.idle.as_ref().filter(|_| !left.is_empty());
        let row = |row: u32| {
            let values = row as usize * dim..(row as usize + 1) * dim;
            (&table.values[values.clone()], &first[values.clone()], &second[values])
        };
        out.par_chunks_mut(LISTED * dim).zip(rows.par_chunks(LISTED)).for_each(|(out, rows)| {
            for (at, (out, &id)) in out.chunks_exact_mut(dim).zip(rows).enumerate() {
                if let Some(&later) = rows.get(at + AHEAD) {
                    let (values, first, second) = row(later);
                    [values, first, second].into_iter().for_each(prefetch);
                }
                let (values, first, second) = row(id);
                match behind {
                    None => out.copy_from_slice(values),
                    Some(idle) => kernels::leapt(out, values, first, second, idle.leap(left[id as usize]).0, idle.epsilon()),
                }
            }
        });
    }

    /// The next step of a parameter, for a list of rows, ascending, that have a gradient: `gradient(k, g)` writes that of the k-th row.
    /// `current` holds these rows as [`current`](Self::current) gave them.
    pub fn move_rows(&self, rows: &[u32], current: &[f32], parameter: &mut Parameter, gradient: impl Fn(usize, &mut [f32]) + Sync) {
        self.move_some_rows(rows, current, parameter, |_| true, gradient);
    }

    /// As [`move_rows`](Self::move_rows), where of some listed rows nothing is in the loss: those for which `is_in_loss(k)` does not hold have a gradient of zero, and
    /// stay where rows without gradient do.
    pub fn move_some_rows(
        &self,
        rows: &[u32],
        current: &[f32],
        parameter: &mut Parameter,
        is_in_loss: impl Fn(usize) -> bool + Sync,
        gradient: impl Fn(usize, &mut [f32]) + Sync,
    ) {
        let stay = self.others(parameter) == Others::Stay;
        let (dim, step, all) = (parameter.values.dim, self.next_step(), self.others(parameter) == Others::Move);
        let Parameter { values, first, second, left, .. } = parameter;
        let part = Part { row: 0, place: 0, listed: rows, values: &mut values.values, first, second, left };
        part.divide(dim, all, &|mut part| {
            let mut sum = vec![0.0; dim];
            if all {
                return part.move_all(dim, step, &gradient, &mut sum);
            }
            for (at, (&row, place)) in part.listed.iter().zip(part.place..).enumerate() {
                if let Some(&later) = part.listed.get(at + AHEAD) {
                    let Row { values, first, second } = part.at(later as usize, dim);
                    [&*values, first, second].into_iter().for_each(prefetch);
                }
                if !stay || is_in_loss(place) {
                    gradient(place, &mut sum);
                    self.move_row(&mut part, row as usize, &current[place * dim..][..dim], &sum, step);
                }
            }
        });
    }

    fn move_row(&self, part: &mut Part, row: usize, now: &[f32], gradient: &[f32], step: Step) {
        let dim = now.len();
        match &self.idle {
            Some(idle) if !part.left.is_empty() => {
                let decay = idle.decay_to_next(part.left[row - part.row]);
                kernels::moved_from(now, part.at(row, dim), gradient, decay, step);
                part.left[row - part.row] = idle.now() + 1;
            }
            _ => kernels::moved(part.at(row, dim), gradient, step),
        }
    }

    /// The next step of a parameter whose rows are not left behind.
    pub fn move_all(&self, parameter: &mut Parameter, gradients: &RowGradients) {
        self.move_decayed(parameter, gradients, None);
    }

    /// The next step of a parameter whose rows are not left behind, each row with a weight decay of its own, `[rows]`, beside that of all.
    pub fn move_decayed(&self, parameter: &mut Parameter, gradients: &RowGradients, decays: Option<&[f32]>) {
        let step = self.next_step();
        let gradients = gradients.values().par_chunks(BLOCK * parameter.values.dim).zip(gradients.touched().par_chunks(BLOCK));
        blocks(parameter, BLOCK).zip(gradients).enumerate().for_each(|(at, (block, (gradients, touched)))| match decays {
            None => self.move_block(block, gradients, touched, step),
            Some(decays) => self.move_decayed_block(block, gradients, touched, &decays[at * BLOCK..], step),
        });
    }

    /// The next step of a parameter whose rows are not left behind, block by block of so many rows: `gradient(block, rows, gradients, touched)` finds the
    /// gradients of a block's rows.
    pub fn move_blocks(&self, parameter: &mut Parameter, rows: usize, gradient: impl Fn(usize, &[f32], &mut [f32], &mut [bool]) + Sync) {
        let (step, dim) = (self.next_step(), parameter.values.dim);
        let buffers = || (vec![0.0; rows * dim], vec![false; rows]);
        blocks(parameter, rows).enumerate().for_each_init(buffers, |(gradients, touched), (at, block)| {
            let (gradients, touched) = (&mut gradients[..block.values.len()], &mut touched[..block.values.len() / dim]);
            gradient(at, block.values, gradients, touched);
            self.move_block(block, gradients, touched, step);
        });
    }

    fn move_block(&self, block: Row, gradients: &[f32], touched: &[bool], step: Step) {
        let (dim, all_rows_move) = (block.values.len() / touched.len(), self.moves_all_rows());
        let rows = block.values.chunks_exact_mut(dim).zip(block.first.chunks_exact_mut(dim)).zip(block.second.chunks_exact_mut(dim));
        for ((((values, first), second), gradient), &touched) in rows.zip(gradients.chunks_exact(dim)).zip(touched) {
            let row = Row { values, first, second };
            match touched {
                true => kernels::moved(row, gradient, step),
                false if all_rows_move => kernels::still(row, step),
                false => {}
            }
        }
    }

    fn move_decayed_block(&self, block: Row, gradients: &[f32], touched: &[bool], decays: &[f32], step: Step) {
        let (dim, all_rows_move) = (block.values.len() / touched.len(), self.moves_all_rows());
        let rows = block.values.chunks_exact_mut(dim).zip(block.first.chunks_exact_mut(dim)).zip(block.second.chunks_exact_mut(dim));
        for (((((values, first), second), gradient), &touched), &decay) in rows.zip(gradients.chunks_exact(dim)).zip(touched).zip(decays) {
            let (row, step) = (Row { values, first, second }, Step { weight_decay: step.weight_decay + decay, ..step });
            match touched {
                true => kernels::moved(row, gradient, step),
                false if all_rows_move || decay > 0.0 => kernels::still(row, step),
                false => {}
            }
        }
    }

    fn others(&self, parameter: &Parameter) -> Others {
        match &self.idle {
            _ if !self.moves_all_rows() => Others::Stay,
            Some(idle) if !parameter.left.is_empty() && idle.holds(self.steps) => Others::Leave,
            _ => Others::Move,
        }
    }

    /// Every parameter has made the step.
    pub fn finish_step(&mut self) {
        let holds = self.idle.as_ref().is_some_and(|idle| idle.holds(self.steps));
        self.steps += 1;
        if let Some(idle) = &mut self.idle {
            if holds { idle.advance() } else { idle.restart(self.steps) }
        }
    }

    /// Brings all rows of all parameters up to date.
    pub fn catch_up<'p>(&mut self, parameters: impl Iterator<Item = &'p mut Parameter>) {
        let Some(idle) = &mut self.idle else { return };
        for parameter in parameters.filter(|parameter| !parameter.left.is_empty()) {
            let (dim, epsilon, idle) = (parameter.values.dim, idle.epsilon(), &*idle);
            let mut left = std::mem::take(&mut parameter.left);
            blocks(parameter, BLOCK).zip(left.par_chunks_mut(BLOCK)).for_each(|(block, left)| {
                let Row { values, first, second } = block;
                let rows = values.chunks_exact_mut(dim).zip(first.chunks_exact_mut(dim)).zip(second.chunks_exact_mut(dim));
                for (((values, first), second), left) in rows.zip(left) {
                    let (leap, decay) = idle.leap(std::mem::take(left));
                    kernels::leap(Row { values, first, second }, leap, decay, epsilon);
                }
            });
            parameter.left = left;
        }
        idle.restart(self.steps);
    }
}

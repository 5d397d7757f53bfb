//! One block's moves.

use super::{Block, block::Local};
use embeddings::{combine, dots, weighted_sum};
use losses::fused::softplus_sum;
use rayon::prelude::*;
use vectors::Matrix;

/// Rows that one parallel task moves.
const ROWS: usize = 64;

/// Room for a block's moves.
#[derive(Default)]
pub(super) struct Learner {
    /// How far each piece moves its rows: of all pieces `[rows, dim]`.
    moves: Vec<f32>,
}

impl Learner {
    /// Moves the table against the derivatives of a block's loss, which it gives.
    pub(super) fn step(&mut self, table: &mut Matrix, block: &Block, rate: f32) -> f64 {
        let rows: usize = block.pieces.iter().map(|piece| piece.rows.len()).sum();
        self.moves.resize(rows * table.dim, 0.0);
        let mut rest = &mut *self.moves;
        let mut tasks = Vec::with_capacity(block.pieces.len());
        for piece in &block.pieces {
            let own;
            (own, rest) = rest.split_at_mut(piece.rows.len() * table.dim);
            tasks.push((piece, own));
        }
        let losses: Vec<f64> = tasks.into_par_iter().map(|(piece, own)| learn(piece, table, rate, own)).collect();
        self.apply(table, block);
        losses.into_iter().sum()
    }

    /// Moves each row as far as all pieces together.
    fn apply(&self, table: &mut Matrix, block: &Block) {
        let (dim, touched) = (table.dim, &block.touched);
        let (mut rest, mut first) = (&mut *table.values, 0);
        let mut tasks = Vec::with_capacity(touched.rows.len().div_ceil(ROWS));
        for (at, rows) in (0..).step_by(ROWS).zip(touched.rows.chunks(ROWS)) {
            let (end, own) = (rows.last().map_or(first, |&last| last as usize + 1), first);
            let part;
            (part, rest) = rest.split_at_mut((end - first) * dim);
            first = end;
            tasks.push((at, rows, part, own));
        }
        tasks.into_par_iter().for_each(|(at, rows, part, first)| {
            for (at, &row) in (at..).zip(rows) {
                let row = &mut part[(row as usize - first) * dim..][..dim];
                combine(&self.moves, touched.places(at), |place| (place, 1.0), row);
            }
        });
    }
}

/// The loss of a piece, group after group, and how far its rows move: `[rows, dim]`.
fn learn(piece: &Local, table: &Matrix, rate: f32, moves: &mut [f32]) -> f64 {
    let dim = table.dim;
    for (own, &row) in moves.chunks_exact_mut(dim).zip(&piece.rows) {
        own.copy_from_slice(table.row(row as usize));
    }
    let mut group = Group::default();
    let loss = piece.groups().map(|(inputs, outputs)| group.learn(inputs, outputs, rate, moves, dim)).sum();
    for (own, &row) in moves.chunks_exact_mut(dim).zip(&piece.rows) {
        own.iter_mut().zip(table.row(row as usize)).for_each(|(own, before)| *own -= before);
    }
    loss
}

/// Room for a group.
#[derive(Default)]
struct Group {
    /// Scores, then derivatives by them: `[outputs, inputs]`.
    scores: Vec<f32>,
    /// Derivatives by the scores of an input.
    of_input: Vec<f32>,
    /// Derivatives by the inputs and the outputs: `[inputs + outputs, dim]`.
    derivatives: Vec<f32>,
}

impl Group {
    /// The loss of a group, whose rows it moves.
    fn learn(&mut self, inputs: &[u32], outputs: &[u32], rate: f32, rows: &mut [f32], dim: usize) -> f64 {
        let (Self { scores, of_input, derivatives }, count) = (self, inputs.len());
        scores.resize(outputs.len() * count, 0.0);
        for (at, (&output, scores)) in outputs.iter().zip(scores.chunks_exact_mut(count)).enumerate() {
            match at > 0 && output == outputs[0] {
                true => scores.fill(f32::NEG_INFINITY), // a loss of 0
                false => dots(&rows[output as usize * dim..][..dim], rows, inputs, scores),
            }
        }
        scores[..count].iter_mut().for_each(|score| *score = -*score);
        let loss = softplus_sum(scores, 0.0);
        scores[..count].iter_mut().for_each(|derivative| *derivative = -*derivative);
        derivatives.clear();
        derivatives.resize((count + outputs.len()) * dim, 0.0);
        let (by_inputs, by_outputs) = derivatives.split_at_mut(count * dim);
        for (at, own) in by_inputs.chunks_exact_mut(dim).enumerate() {
            of_input.clear();
            of_input.extend(scores[at..].iter().step_by(count));
            weighted_sum(rows, outputs, of_input, own);
        }
        for (scores, own) in scores.chunks_exact(count).zip(by_outputs.chunks_exact_mut(dim)) {
            weighted_sum(rows, inputs, scores, own);
        }
        for (place, &row) in (0..).zip(inputs.iter().chain(outputs)) {
            combine(derivatives, &[place], |place| (place, -rate), &mut rows[row as usize * dim..][..dim]);
        }
        loss
    }
}

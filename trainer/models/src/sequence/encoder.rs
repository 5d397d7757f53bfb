//! Histories to vectors, and back: windows of like lengths make one pass of the model.

use super::{first_of_window, histories};
use crate::Result;
use crate::{
    autograd::Seeded,
    encoder::{Backward, Encoder, TrainStep},
    noise::{Keyed, dropout},
    operations::times_constants,
    parameters::Parameters,
};
use candle_core::{Device, Tensor, Var};
use dataset::{Dataset, Histories};
use embeddings::{RowGradients, Tables};
use optimizers::Parameter;
use rayon::prelude::*;
use std::{cmp::Reverse, ops::Range};
use streams::Purpose;
use vectors::Matrix;

/// Tokens of a pass, about: several passes have several threads, and candle leaves operations on so few numbers to one thread.
pub(super) const TOKENS: usize = 512;
/// Places of a model where numbers are dropped, at most.
const PLACES: u32 = 1 << 12;

/// A model of sequences.
pub(crate) trait Model: Send + Sync {
    /// The state after each item of windows: `[windows * length, dim]` from the items' vectors, of the same shape, window after window, and the weights. A state
    /// depends on no later item; windows that are shorter end in zeros.
    ///
    /// # Errors
    /// Those of tensor operations.
    fn states(&self, items: Tensor, shape: [usize; 2], weights: &[Tensor], noise: Option<Dropout>) -> candle_core::Result<Tensor>;
}

/// What is dropped in one pass of a step.
#[derive(Clone, Copy)]
pub(crate) struct Dropout<'a> {
    seed: u64,
    step: &'a TrainStep<'a>,
    pass: u32,
}

impl<'a> Dropout<'a> {
    /// The noise of a pass of a step.
    pub(super) fn new(seed: u64, step: &'a TrainStep<'a>, pass: u32) -> Self {
        Self { seed, step, pass }
    }

    /// A matrix without a share of its numbers, the others as much larger.
    ///
    /// # Errors
    /// Those of tensor operations.
    pub(crate) fn drop(self, matrix: Tensor, share: f64, place: u32) -> candle_core::Result<Tensor> {
        if share == 0.0 {
            return Ok(matrix);
        }
        let keyed = Keyed { seed: self.seed, purpose: Purpose::Dropout, place: self.pass * PLACES + place, first: 0 };
        times_constants(&matrix, keyed.rows(self.step, &matrix, dropout(share as f32))?)
    }
}

/// A model of sequences as an encoder, with what a step leaves for the way back.
pub(crate) struct Sequences<M> {
    model: M,
    seed: u64,
    max_length: usize,
    /// Histories before validation and before test.
    histories: [Histories; 2],
    vectors: Tables,
    /// The weights of the last step, and each of its passes.
    passes: (Vec<Var>, Vec<WindowPass>),
    of_users: RowGradients,
    of_weights: Vec<RowGradients>,
}

/// A part of a window: items from its beginning on, and the states that are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WindowPiece {
    pub(super) user: usize,
    /// The places of the items in the history.
    pub(super) items: Range<usize>,
    /// The rows of the vectors that its last states are.
    rows: Range<usize>,
}

/// Pieces that make one pass of the model.
pub(super) struct WindowBlock {
    pub(super) pieces: Vec<WindowPiece>,
    /// Items of the longest piece.
    pub(super) length: usize,
}

/// What a pass leaves for the way back.
struct WindowPass {
    block: WindowBlock,
    /// `[pieces * length, dim]`
    items: Var,
    /// `[pieces * length, dim]`
    states: Tensor,
}

/// Longest pieces first, in blocks of about [`TOKENS`] tokens; the cut depends on the pieces alone.
pub(super) fn blocks(mut pieces: Vec<WindowPiece>) -> Vec<WindowBlock> {
    pieces.sort_by_key(|piece| Reverse(piece.items.len()));
    let mut blocks: Vec<WindowBlock> = Vec::new();
    for piece in pieces {
        match blocks.last_mut() {
            Some(block) if (block.pieces.len() + 1) * block.length <= TOKENS => block.pieces.push(piece),
            _ => blocks.push(WindowBlock { length: piece.items.len(), pieces: vec![piece] }),
        }
    }
    blocks
}

/// The rows of a batch in pieces: targets of a window that follow each other make one.
pub(super) fn pieces(histories: &Histories, max_length: usize, users: &[u32], positives: &[u32]) -> Vec<WindowPiece> {
    let mut pieces: Vec<WindowPiece> = Vec::new();
    for (row, (&user, &positive)) in users.iter().zip(positives).enumerate() {
        let user = user as usize;
        let history = histories.row(user);
        let first = |place: usize| first_of_window(history.len(), place, max_length);
        match pieces.last_mut() {
            Some(WindowPiece { user: same, items, rows })
                if *same == user && history.get(items.end + 1) == Some(&positive) && first(items.end + 1) == items.start =>
            {
                items.end += 1;
                rows.end += 1;
            }
            _ => {
                let place = history.iter().position(|&item| item == positive).expect("a target is an item of its user");
                pieces.push(WindowPiece { user, items: first(place)..place, rows: row..row + 1 });
            }
        }
    }
    pieces
}

/// The last items of each user that has any, in pieces whose rows are the users.
pub(super) fn last_pieces(histories: &Histories, max_length: usize) -> Vec<WindowPiece> {
    let users = (0..histories.users()).filter(|&user| !histories.row(user).is_empty());
    let piece = |user: usize| {
        let length = histories.row(user).len();
        WindowPiece { user, items: length.saturating_sub(max_length)..length, rows: user..user + 1 }
    };
    users.map(piece).collect()
}

impl WindowBlock {
    pub(super) fn shape(&self) -> [usize; 2] {
        [self.pieces.len(), self.length]
    }

    /// The items' vectors, zeros behind the end of a piece.
    fn vectors(&self, histories: &Histories, table: &Matrix) -> Vec<f32> {
        let dim = table.dim;
        let mut vectors = vec![0.0; self.pieces.len() * self.length * dim];
        for (piece, vectors) in self.pieces.iter().zip(vectors.chunks_exact_mut(self.length * dim)) {
            let items = &histories.row(piece.user)[piece.items.clone()];
            items.iter().zip(vectors.chunks_exact_mut(dim)).for_each(|(&item, vector)| vector.copy_from_slice(table.row(item as usize)));
        }
        vectors
    }

    /// The rows that are asked for, and the places of their states.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.pieces.iter().enumerate().flat_map(|(at, piece)| {
            let end = at * self.length + piece.items.len();
            piece.rows.clone().zip(end - piece.rows.len()..end)
        })
    }
}

impl<M: Model> Sequences<M> {
    /// Makes an encoder for a dataset whose order is known; one without order has no histories.
    pub(crate) fn new(model: M, dataset: &Dataset, [dim, max_length]: [u32; 2], seed: u64) -> Self {
        let none = || Histories::none(dataset.users());
        Self {
            model,
            seed,
            max_length: max_length as usize,
            histories: histories(dataset).unwrap_or_else(|| [none(), none()]),
            vectors: Tables::zeros(dataset.users(), dataset.items(), dim as usize),
            passes: (Vec::new(), Vec::new()),
            of_users: RowGradients::new(0, dim as usize),
            of_weights: Vec::new(),
        }
    }

    /// All users' vectors after the last items of these histories; zeros for users without any.
    fn encode_users(&self, parameters: &Parameters, histories: &Histories) -> Result<Matrix> {
        let (table, dim) = (&parameters.items.values, parameters.items.values.dim);
        let weights: Vec<Tensor> = parameters.weights.iter().map(tensor).collect::<candle_core::Result<_>>()?;
        let pieces = last_pieces(histories, self.max_length);
        let states = |block: WindowBlock| -> candle_core::Result<(WindowBlock, Vec<f32>)> {
            let items = Tensor::from_vec(block.vectors(histories, table), (block.pieces.len() * block.length, dim), &Device::Cpu)?;
            let states = self.model.states(items, block.shape(), &weights, None)?.flatten_all()?.to_vec1::<f32>()?;
            let rows = block.places().flat_map(|(_, place)| states[place * dim..][..dim].to_vec()).collect();
            Ok((block, rows))
        };
        let found: Vec<(WindowBlock, Vec<f32>)> = blocks(pieces).into_par_iter().map(states).collect::<candle_core::Result<_>>()?;
        let mut users = Matrix { rows: histories.users(), dim, values: vec![0.0; histories.users() * dim] };
        for (block, states) in found {
            block
                .places()
                .zip(states.chunks_exact(dim))
                .for_each(|((user, _), state)| users.values[user * dim..][..dim].copy_from_slice(state));
        }
        Ok(users)
    }

    /// One pass of a step.
    fn pass(&self, block: WindowBlock, table: &Matrix, weights: &[Tensor], noise: Dropout) -> candle_core::Result<WindowPass> {
        let vectors = block.vectors(&self.histories[0], table);
        let items = Var::from_vec(vectors, (block.pieces.len() * block.length, table.dim), &Device::Cpu)?;
        let states = self.model.states(items.as_tensor().clone(), block.shape(), weights, Some(noise))?;
        Ok(WindowPass { block, items, states })
    }
}

fn tensor(Parameter { values: Matrix { rows, dim, values }, .. }: &Parameter) -> candle_core::Result<Tensor> {
    Tensor::from_slice(values, (*rows, *dim), &Device::Cpu)
}

impl WindowPass {
    /// The gradients of the items' vectors and of the weights, from those of the rows' vectors.
    fn backward(&self, of_rows: &RowGradients, weights: &[Var]) -> candle_core::Result<(Vec<f32>, Vec<Vec<f32>>)> {
        let dim = of_rows.dim();
        let mut seeds = vec![0.0; self.states.elem_count()];
        for (row, place) in self.block.places().filter(|&(row, _)| of_rows.touched()[row]) {
            seeds[place * dim..][..dim].copy_from_slice(&of_rows.values()[row * dim..][..dim]);
        }
        let seeds = Tensor::from_vec(seeds, self.states.shape(), &Device::Cpu)?;
        let gradients = self.states.apply_op1(Seeded(seeds))?.backward()?;
        let of = |variable: &Var| match gradients.get(variable) {
            Some(gradient) => gradient.flatten_all()?.to_vec1::<f32>(),
            None => Ok(vec![0.0; variable.elem_count()]),
        };
        Ok((of(&self.items)?, weights.iter().map(of).collect::<candle_core::Result<_>>()?))
    }
}

impl<M: Model> Encoder for Sequences<M> {
    fn encode(&mut self, parameters: &Parameters) -> Result<()> {
        self.vectors = Tables { users: self.encode_users(parameters, &self.histories[0])?, items: parameters.items.values.clone() };
        Ok(())
    }

    fn encode_step(&mut self, parameters: &Parameters, step: &TrainStep) -> Result<()> {
        self.passes = (Vec::new(), Vec::new()); // before its successor takes as much
        let (table, dim) = (&parameters.items.values, parameters.items.values.dim);
        let variable = |weights: &Parameter| Var::from_tensor(&tensor(weights)?);
        let variables: Vec<Var> = parameters.weights.iter().map(variable).collect::<candle_core::Result<_>>()?;
        let weights: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
        let blocks = blocks(pieces(&self.histories[0], self.max_length, step.users, step.positives));
        let pass = |(pass, block)| self.pass(block, table, &weights, Dropout::new(self.seed, step, pass as u32));
        let passes: Vec<WindowPass> = blocks.into_par_iter().enumerate().map(pass).collect::<candle_core::Result<_>>()?;
        let Tables { users, items } = &mut self.vectors;
        users.rows = step.users.len();
        users.values.resize(users.rows * dim, 0.0);
        items.values.copy_from_slice(&table.values);
        for WindowPass { block, states, .. } in &passes {
            let states = states.flatten_all()?.to_vec1::<f32>()?;
            block.places().for_each(|(row, place)| users.values[row * dim..][..dim].copy_from_slice(&states[place * dim..][..dim]));
        }
        self.passes = (variables, passes);
        Ok(())
    }

    fn has_vectors_of_rows(&self) -> bool {
        true
    }

    fn users_before_test(&self, parameters: &Parameters) -> Result<Option<Matrix>> {
        self.encode_users(parameters, &self.histories[1]).map(Some)
    }

    fn vectors<'a>(&'a self, _parameters: &'a Parameters) -> [&'a Matrix; 2] {
        self.vectors.both()
    }

    fn backward<'a>(&'a mut self, [of_rows, of_items]: [&'a mut RowGradients; 2]) -> Result<Backward<'a>> {
        let (variables, passes) = std::mem::take(&mut self.passes);
        let found: Vec<(Vec<f32>, Vec<Vec<f32>>)> =
            passes.par_iter().map(|pass| pass.backward(of_rows, &variables)).collect::<candle_core::Result<_>>()?;
        let mut of_weights: Vec<Matrix> = Vec::new();
        for variable in &variables {
            let (rows, dim) = variable.dims2()?;
            of_weights.push(Matrix { rows, dim, values: vec![0.0; rows * dim] });
        }
        for (WindowPass { block, .. }, (of_inputs, weights)) in passes.iter().zip(found) {
            for (total, gradient) in of_weights.iter_mut().zip(weights) {
                total.values.iter_mut().zip(gradient).for_each(|(total, value)| *total += value);
            }
            for (piece, gradients) in block.pieces.iter().zip(of_inputs.chunks_exact(block.length * of_items.dim())) {
                let items = &self.histories[0].row(piece.user)[piece.items.clone()];
                items
                    .iter()
                    .zip(gradients.chunks_exact(of_items.dim()))
                    .for_each(|(&item, gradient)| of_items.add(item as usize, gradient));
            }
        }
        self.of_weights = of_weights.into_iter().map(RowGradients::whole).collect();
        Ok(Backward { tables: [&self.of_users, of_items], weights: &self.of_weights, auxiliary: 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::Wanted;
    use dataset::{Interactions, Order};
    use testing::dataset_of;

    /// A state is the sum of the items so far, times the one weight.
    struct Sum;

    impl Model for Sum {
        fn states(
            &self,
            items: Tensor,
            [windows, length]: [usize; 2],
            weights: &[Tensor],
            _: Option<Dropout>,
        ) -> candle_core::Result<Tensor> {
            let mut rows: Vec<Tensor> = Vec::new();
            for place in 0..windows * length {
                let row = items.narrow(0, place, 1)?;
                rows.push(if place % length == 0 { row } else { (&rows[place - 1] + row)? });
            }
            Tensor::cat(&rows, 0)?.broadcast_mul(&weights[0])
        }
    }

    /// User 0 took 4, 1, 3, 0 and 2, user 1 took 2, user 2 nothing, user 3 took 1 and 0; user 1 has 4 in validation, user 0 item 5.
    fn ordered() -> Dataset {
        let pairs = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (3, 0), (3, 1)];
        let order = Order { train: vec![3, 1, 4, 2, 0, 0, 1, 0], fold_in: Vec::new(), validation: vec![5, 1], test: Vec::new() };
        let validation = Interactions::from_pairs(4, [(0, 5), (1, 4)].into_iter());
        Dataset { order: Some(order), validation, ..dataset_of([4, 6], &pairs) }
    }

    /// Item i is `[i + 1, -10^-i]`, and the weight 2 and 3.
    fn parameters() -> Parameters {
        let values = (0..6).flat_map(|item| [item as f32 + 1.0, -(0.1f32.powi(item))]).collect();
        let users = Matrix { rows: 0, dim: 2, values: Vec::new() };
        let weights = vec![("w".to_owned(), Matrix { rows: 1, dim: 2, values: vec![2.0, 3.0] })];
        Parameters::new(Tables { users, items: Matrix { rows: 6, dim: 2, values } }, weights)
    }

    fn sums(max_length: u32) -> Sequences<Sum> {
        Sequences::new(Sum, &ordered(), [2, max_length], 1)
    }

    fn of_items(items: &[u32]) -> [f32; 2] {
        let sum = |value: &dyn Fn(u32) -> f32| items.iter().map(|&item| value(item)).sum::<f32>();
        [2.0 * sum(&|item| item as f32 + 1.0), 3.0 * sum(&|item| -(0.1f32.powi(item as i32)))]
    }

    fn assert_rows(found: &Matrix, expected: &[&[u32]]) {
        assert_eq!(found.rows, expected.len());
        for (row, items) in expected.iter().enumerate() {
            let close = found.row(row).iter().zip(of_items(items)).all(|(found, expected)| (found - expected).abs() < 1e-5);
            assert!(close, "row {row}: {:?}, of {items:?}", found.row(row));
        }
    }

    #[test]
    fn users_are_what_their_last_items_make() {
        let (mut encoder, parameters) = (sums(3), parameters());
        encoder.encode(&parameters).unwrap();
        assert_rows(encoder.vectors(&parameters)[0], &[&[3, 0, 2], &[2], &[], &[1, 0]]);
        let before_test = encoder.users_before_test(&parameters).unwrap().unwrap();
        assert_rows(&before_test, &[&[0, 2, 5], &[2, 4], &[], &[1, 0]]);
    }

    const USERS: [u32; 5] = [0, 0, 3, 0, 0];
    const POSITIVES: [u32; 5] = [3, 0, 0, 2, 1];

    fn step(encoder: &mut Sequences<Sum>, parameters: &Parameters) {
        let step = TrainStep { epoch: 1, step: 1, users: &USERS, positives: &POSITIVES, wanted: Wanted::default() };
        encoder.encode_step(parameters, &step).unwrap();
    }

    /// Rows of a batch that begins within one window and ends within another.
    #[test]
    fn a_row_is_what_stands_before_its_target() {
        let parameters = parameters();
        let whole: [&[u32]; 5] = [&[4, 1], &[4, 1, 3], &[1], &[4, 1, 3, 0], &[4]];
        let of_three: [&[u32]; 5] = [&[1], &[1, 3], &[1], &[1, 3, 0], &[4]];
        for (max_length, expected) in [(50, whole), (4, whole), (3, of_three)] {
            let mut encoder = sums(max_length);
            step(&mut encoder, &parameters);
            assert_rows(encoder.vectors(&parameters)[0], &expected);
            assert_eq!(*encoder.vectors(&parameters)[1], parameters.items.values);
        }
    }

    /// Each row passes its gradient, times the weight, to each item before its target, and these items' sum, times it, to the weight.
    #[test]
    fn gradients_go_to_all_items_before_a_target() {
        let (mut encoder, parameters) = (sums(3), parameters());
        step(&mut encoder, &parameters);
        let (mut of_rows, mut of_items) = (RowGradients::new(5, 2), RowGradients::new(6, 2));
        of_rows.add(1, &[1.0, -1.0]);
        of_rows.add(3, &[0.5, 10.0]);
        of_items.add(3, &[100.0, 200.0]);
        let Backward { tables: [users, items], weights, auxiliary } = encoder.backward([&mut of_rows, &mut of_items]).unwrap();
        assert_eq!((users.touched().len(), auxiliary), (0, 0.0));
        let row = |item: usize| &items.values()[2 * item..][..2];
        assert_eq!((row(1), row(3), row(0)), (&[3.0, 27.0][..], &[103.0, 227.0][..], &[1.0, 30.0][..]));
        assert!(!items.touched()[2] && row(4) == [0.0, 0.0], "item 4 comes before a target whose row has no gradient");
        let expected = [(2.0 + 4.0) + 0.5 * (2.0 + 4.0 + 1.0), (0.1 + 0.001) - 10.0 * (0.1 + 0.001 + 1.0)];
        assert!(
            weights[0].values().iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-4),
            "{:?}",
            weights[0].values()
        );
    }

    #[test]
    fn passes_are_cut_by_their_pieces_alone() {
        let piece = |length: usize| WindowPiece { user: length, items: 0..length, rows: 0..1 };
        let cut = blocks([3, 300, 200, 1, 170, 180].map(piece).to_vec());
        let lengths: Vec<Vec<usize>> = cut.iter().map(|block| block.pieces.iter().map(|piece| piece.user).collect()).collect();
        assert_eq!(lengths, [vec![300], vec![200, 180], vec![170, 3, 1]]);
        assert!(cut.iter().all(|block| block.length == block.pieces[0].items.len()));
    }
}

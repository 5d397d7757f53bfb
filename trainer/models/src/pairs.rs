//! Scores of pairs by a network in candle's operations, and the gradient back.

use super::encoder::TrainStep;
use crate::Result;
use crate::parameters::Parameters;
use candle_core::{Device, Tensor, Var};
use embeddings::Touched;
use evaluator::Scorer;
use optimizers::Parameter;
use rayon::prelude::*;
use vectors::Matrix;

/// A network that scores pairs of vectors.
pub trait PairNetwork: Send + Sync {
    /// One score for each pair, `[R]`.
    ///
    /// # Errors
    /// Those of tensor operations.
    fn score(&self, pairs: &Pairs, weights: &[Tensor], step: &TrainStep) -> candle_core::Result<Tensor>;

    /// What is ranked.
    fn scorer(&self, parameters: &Parameters) -> Scorer;

    /// Floats that a pair needs at the peak, on the way forward and back.
    fn floats_of_pair(&self) -> u64;
}

/// Pairs of users and items, which have their vectors in common.
pub struct Pairs {
    /// `[U, width]`: vectors of distinct users.
    pub users: Tensor,
    /// `[I, width]`: vectors of distinct items.
    pub items: Tensor,
    /// `[R]`: where the user and the item of each pair stand among them.
    pub places: [Tensor; 2],
    /// The number of the first pair, among those of all ranks.
    pub first: usize,
}

/// Pairs of a block. Their layers stay in the cache of a core, and are smaller than what candle shares out over its own threads, for which blocks would wait.
const BLOCK: usize = 256;

/// The pairs of a step, their scores, and what the network leaves for the way back: block by block, each on its own.
pub struct ScoredPairs(Vec<PairBlock>);

/// Some of the pairs.
struct PairBlock {
    touched: [Touched; 2],
    /// Touched rows of users and of items, and the weights, which all blocks have in common.
    variables: Vec<Var>,
    scores: Tensor,
}

/// Gradients of the touched rows of both tables, and of the weights.
pub struct PairGradients {
    /// The touched rows of each block, and the gradients of rows and of weights.
    blocks: Vec<([Touched; 2], Vec<Vec<f32>>)>,
}

impl ScoredPairs {
    /// Scores pairs, `first` of which come before them in the step.
    ///
    /// # Errors
    /// Those of tensor operations.
    pub fn new(
        network: &dyn PairNetwork,
        parameters: &Parameters,
        [users, items]: [&[u32]; 2],
        first: usize,
        step: &TrainStep,
    ) -> Result<Self> {
        let weights = parameters.weights.iter();
        let weight =
            |Parameter { values: Matrix { rows, dim, values }, .. }: &Parameter| Var::from_slice(values, (*rows, *dim), &Device::Cpu);
        let weights: Vec<Var> = weights.map(weight).collect::<candle_core::Result<_>>()?;
        let from = (parameters.tables(), &weights[..]);
        let block =
            |(at, (users, items)): (usize, (&[u32], &[u32]))| PairBlock::new(network, from, [users, items], first + at * BLOCK, step);
        users.par_chunks(BLOCK).zip(items.par_chunks(BLOCK)).enumerate().map(block).collect::<Result<_>>().map(Self)
    }

    /// `[R]`
    ///
    /// # Errors
    /// Those of tensor operations.
    pub fn scores(&self) -> Result<Vec<f32>> {
        let of_blocks: Vec<Vec<f32>> = self.0.iter().map(|block| block.scores.to_vec1()).collect::<candle_core::Result<_>>()?;
        Ok(of_blocks.concat())
    }

    /// Gradients of a loss from its derivatives by the scores, `[R]`.
    ///
    /// # Errors
    /// Those of tensor operations.
    pub fn backward(self, derivatives: &[f32]) -> Result<PairGradients> {
        let blocks = self.0.into_par_iter().zip(derivatives.par_chunks(BLOCK)).map(|(block, derivatives)| block.backward(derivatives));
        Ok(PairGradients { blocks: blocks.collect::<Result<_>>()? })
    }
}

impl PairBlock {
    fn new(
        network: &dyn PairNetwork,
        (tables, weights): ([&Matrix; 2], &[Var]),
        [users, items]: [&[u32]; 2],
        first: usize,
        step: &TrainStep,
    ) -> Result<Self> {
        let mut touched: [Touched; 2] = Default::default();
        touched[0].find(users);
        touched[1].find(items);
        let rows = tables.into_iter().zip(&touched).map(|(table, Touched { rows, .. })| {
            let values: Vec<f32> = rows.iter().flat_map(|&row| table.row(row as usize)).copied().collect();
            Var::from_vec(values, (rows.len(), table.dim), &Device::Cpu)
        });
        let variables: Vec<Var> = rows.chain(weights.iter().cloned().map(Ok)).collect::<candle_core::Result<_>>()?;
        let tensors: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
        let place = |Touched { locals, .. }: &Touched| Tensor::from_slice(locals, locals.len(), &Device::Cpu);
        let places = [place(&touched[0])?, place(&touched[1])?];
        let pairs = Pairs { users: tensors[0].clone(), items: tensors[1].clone(), places, first };
        let scores = network.score(&pairs, &tensors[2..], step)?;
        Ok(Self { touched, variables, scores })
    }

    fn backward(self, derivatives: &[f32]) -> Result<([Touched; 2], Vec<Vec<f32>>)> {
        let derivatives = Tensor::from_slice(derivatives, derivatives.len(), &Device::Cpu)?;
        let gradients = (&self.scores * derivatives)?.sum_all()?.backward()?;
        let of_variable = |variable: &Var| match gradients.get(variable) {
            Some(gradient) => gradient.flatten_all()?.to_vec1(),
            None => Ok(vec![0.0; variable.elem_count()]),
        };
        Ok((self.touched, self.variables.iter().map(of_variable).collect::<candle_core::Result<_>>()?))
    }
}

impl PairGradients {
    /// The touched rows of the users' table, or of the items', with their gradients; a row comes once for each block that has it.
    pub fn rows(&self, side: usize) -> impl Iterator<Item = (usize, &[f32])> {
        self.blocks.iter().flat_map(move |(touched, values)| {
            let rows = &touched[side].rows;
            let dim = values[side].len() / rows.len().max(1);
            rows.iter().map(|&row| row as usize).zip(values[side].chunks_exact(dim.max(1)))
        })
    }

    /// The gradients of the weights, in their order.
    pub fn weights(self) -> impl Iterator<Item = Vec<f32>> {
        let add = |mut sums: Vec<Vec<f32>>, weights: Vec<Vec<f32>>| {
            let numbers = sums.iter_mut().flatten().zip(weights.iter().flatten());
            numbers.for_each(|(sum, value)| *sum += value);
            sums
        };
        let of_blocks = self.blocks.into_iter().map(|(_, values)| values.into_iter().skip(2).collect::<Vec<_>>());
        of_blocks.reduce(add).unwrap_or_default().into_iter()
    }
}

//! Scores of pairs by a network in candle's operations, and the gradient back.

use super::encoder::TrainStep;
use crate::{
    Result,
    parameters::{Parameters, Weights},
    scoring::Touched,
};
use candle_core::{Device, Tensor, Var};
use evaluator::{Matrix, Scorer};

/// A network that scores pairs of vectors.
pub(crate) trait PairNetwork: Send + Sync {
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
pub(crate) struct Pairs {
    /// Vectors of distinct users and of distinct items.
    pub(crate) users: Tensor,
    pub(crate) items: Tensor,
    /// `[R]`: where the user and the item of each pair stand among them.
    pub(crate) places: [Tensor; 2],
    /// The number of the first pair, among those of all ranks.
    pub(crate) first: usize,
}

/// The pairs of a step, their scores, and what the network leaves for the way back.
pub(crate) struct ScoredPairs {
    touched: [Touched; 2],
    variables: Vec<Var>,
    scores: Tensor,
}

/// Gradients of the touched rows of both tables, and of the weights.
pub(crate) struct PairGradients {
    touched: [Touched; 2],
    /// Rows, and weights.
    values: Vec<Vec<f32>>,
}

impl ScoredPairs {
    /// Scores pairs, `first` of which come before them in the step.
    ///
    /// # Errors
    /// Those of tensor operations.
    pub(crate) fn new(
        network: &dyn PairNetwork,
        parameters: &Parameters,
        [users, items]: [&[u32]; 2],
        (first, step): (usize, &TrainStep),
    ) -> Result<Self> {
        let mut touched: [Touched; 2] = Default::default();
        touched[0].find(users);
        touched[1].find(items);
        let tables = [&parameters.tables.users, &parameters.tables.items];
        let rows = tables.into_iter().zip(&touched).map(|(table, Touched { rows, .. })| {
            let values: Vec<f32> = rows.iter().flat_map(|&row| table.row(row as usize)).copied().collect();
            Var::from_vec(values, (rows.len(), table.dim), &Device::Cpu)
        });
        let weights = parameters
            .weights
            .iter()
            .map(|Weights { values: Matrix { rows, dim, values }, .. }| Var::from_slice(values, (*rows, *dim), &Device::Cpu));
        let variables: Vec<Var> = rows.chain(weights).collect::<candle_core::Result<_>>()?;
        let tensors: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
        let place = |Touched { locals, .. }: &Touched| Tensor::from_slice(locals, locals.len(), &Device::Cpu);
        let places = [place(&touched[0])?, place(&touched[1])?];
        let pairs = Pairs { users: tensors[0].clone(), items: tensors[1].clone(), places, first };
        let scores = network.score(&pairs, &tensors[2..], step)?;
        Ok(Self { touched, variables, scores })
    }

    /// `[R]`
    ///
    /// # Errors
    /// Those of tensor operations.
    pub(crate) fn scores(&self) -> Result<Vec<f32>> {
        Ok(self.scores.to_vec1()?)
    }

    /// Gradients of a loss from its derivatives by the scores, `[R]`.
    ///
    /// # Errors
    /// Those of tensor operations.
    pub(crate) fn backward(self, derivatives: &[f32]) -> Result<PairGradients> {
        let derivatives = Tensor::from_slice(derivatives, derivatives.len(), &Device::Cpu)?;
        let gradients = (&self.scores * derivatives)?.sum_all()?.backward()?;
        let of_variable = |variable: &Var| match gradients.get(variable) {
            Some(gradient) => gradient.flatten_all()?.to_vec1(),
            None => Ok(vec![0.0; variable.elem_count()]),
        };
        Ok(PairGradients { touched: self.touched, values: self.variables.iter().map(of_variable).collect::<candle_core::Result<_>>()? })
    }
}

impl PairGradients {
    /// The touched rows of the users' table, or of the items', with their gradients.
    pub(crate) fn rows(&self, side: usize) -> impl Iterator<Item = (usize, &[f32])> {
        let rows = &self.touched[side].rows;
        let dim = self.values[side].len() / rows.len().max(1);
        rows.iter().map(|&row| row as usize).zip(self.values[side].chunks_exact(dim.max(1)))
    }

    /// Those of the weights, in their order.
    pub(crate) fn weights(self) -> impl Iterator<Item = Vec<f32>> {
        self.values.into_iter().skip(2)
    }
}

//! Histories to vectors in candle's operations, for any device: the passes of [`Sequences`](super::Sequences), one after the other.

use super::{
    Dropout, Model,
    encoder::{WindowBlock, blocks, last_pieces, pieces},
    histories,
};
use crate::{Encoded, Forward, encoder::TrainStep, operations::select_rows};
use candle_core::{Result, Tensor};
use dataset::{Dataset, Histories};

/// A model of sequences in candle's operations.
pub(crate) struct SequenceFormula<M> {
    model: M,
    seed: u64,
    max_length: usize,
    /// Train histories.
    histories: Histories,
}

impl<M: Model> SequenceFormula<M> {
    /// The model for a dataset whose order is known; one without order has no histories.
    pub(crate) fn new(model: M, dataset: &Dataset, max_length: u32, seed: u64) -> Self {
        let histories = histories(dataset).map_or_else(|| Histories::none(dataset.users()), |[train, _]| train);
        Self { model, seed, max_length: max_length as usize, histories }
    }

    /// The states after the items of a block, `[windows * length, dim]`.
    fn states(&self, block: &WindowBlock, items: &Tensor, weights: &[Tensor], noise: Option<Dropout>) -> Result<Tensor> {
        let [windows, length] = block.shape();
        let (mut ids, mut is_item) = (vec![0u32; windows * length], vec![0.0f32; windows * length]);
        for (piece, (ids, is_item)) in block.pieces.iter().zip(ids.chunks_exact_mut(length).zip(is_item.chunks_exact_mut(length))) {
            let own = &self.histories.row(piece.user)[piece.items.clone()];
            ids[..own.len()].copy_from_slice(own);
            is_item[..own.len()].fill(1.0);
        }
        let is_item = Tensor::from_vec(is_item, (windows * length, 1), items.device())?.to_dtype(items.dtype())?;
        let vectors = select_rows(items, &ids)?.broadcast_mul(&is_item)?;
        self.model.states(vectors, block.shape(), weights, noise)
    }
}

impl<M: Model> Forward for SequenceFormula<M> {
    fn forward(&self, parameters: &[Tensor], step: Option<&TrainStep>) -> Result<Encoded> {
        let (items, weights) = (&parameters[1], &parameters[2..]);
        let (rows, pieces) = match step {
            Some(step) => (step.users.len(), pieces(&self.histories, self.max_length, step.users, step.positives)),
            None => (self.histories.users(), last_pieces(&self.histories, self.max_length)),
        };
        let nothing = Tensor::zeros((1, items.dim(1)?), items.dtype(), items.device())?;
        let (mut found, mut at, mut place_of_row) = (vec![nothing], 1, vec![0u32; rows]);
        for (pass, block) in blocks(pieces).into_iter().enumerate() {
            let states = self.states(&block, items, weights, step.map(|step| Dropout::new(self.seed, step, pass as u32)))?;
            if step.is_some() {
                block.places().for_each(|(row, place)| place_of_row[row] = (at + place) as u32);
                at += states.dim(0)?;
                found.push(states);
                continue;
            }
            // Of a whole history the last state is wanted, and the others go.
            let (of_rows, places): (Vec<usize>, Vec<u32>) = block.places().map(|(row, place)| (row, place as u32)).unzip();
            of_rows.into_iter().for_each(|row| {
                place_of_row[row] = at as u32;
                at += 1;
            });
            found.push(select_rows(&states, &places)?);
        }
        let users = select_rows(&Tensor::cat(&found, 0)?, &place_of_row)?;
        Ok(Encoded { users, items: items.clone(), auxiliary: None })
    }

    fn reached(&self, step: &TrainStep) -> [Option<Vec<u32>>; 2] {
        let pieces = pieces(&self.histories, self.max_length, step.users, step.positives);
        let items = pieces.into_iter().flat_map(|piece| &self.histories.row(piece.user)[piece.items]);
        [Some(Vec::new()), Some(items.copied().collect())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Backbone,
        encoder::{Backward, Wanted},
        parameters::Parameters,
    };
    use candle_core::Device;
    use dataset::{Interactions, Order};
    use embeddings::RowGradients;
    use testing::dataset_of;

    /// User 0 took 4, 1, 3, 0 and 2, user 1 took 2, user 2 nothing, user 3 took 1 and 0.
    fn ordered() -> Dataset {
        let pairs = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (3, 0), (3, 1)];
        let order = Order { train: vec![3, 1, 4, 2, 0, 0, 1, 0], fold_in: Vec::new(), validation: Vec::new(), test: Vec::new() };
        Dataset { order: Some(order), validation: Interactions::empty(4), ..dataset_of([4, 6], &pairs) }
    }

    fn tensors(parameters: &Parameters) -> Vec<Tensor> {
        let matrices = parameters.iter().map(|parameter| &parameter.values);
        matrices.map(|matrix| Tensor::from_slice(&matrix.values, (matrix.rows, matrix.dim), &Device::Cpu).unwrap()).collect()
    }

    #[track_caller]
    fn assert_close(found: &Tensor, expected: &[f32]) {
        let found: Vec<f32> = found.flatten_all().unwrap().to_vec1().unwrap();
        assert_eq!(found.len(), expected.len());
        let close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5 * expected.abs().max(1.0));
        assert!(close, "{found:?} {expected:?}");
    }

    /// Of the encoder: in a step with dropout, as ranked, and the gradient of items and of each of the weights.
    #[test]
    fn vectors_and_gradients_are_those_of_the_encoder() {
        for model in [
            r#"{"sas-rec": {"dim": 4, "hidden": 8, "max_length": 3, "init": {"normal": {"std": 0.5}}}}"#,
            r#"{"gru4rec": {"dim": 4, "hidden": 6, "max_length": 3}}"#,
        ] {
            let backbone: Backbone = serde_json::from_str(model).unwrap();
            let (model, dataset) = (backbone.learned().unwrap(), ordered());
            let (parameters, mut encoder) = (model.parameters(&dataset, 3), model.encoder(&dataset, 3));
            let formula = model.formula(&dataset, 3);
            encoder.encode(&parameters).unwrap();
            assert_close(&formula.forward(&tensors(&parameters), None).unwrap().users, &encoder.vectors(&parameters)[0].values);
            let step = TrainStep { epoch: 1, step: 1, users: &[0, 0, 3, 0, 0], positives: &[3, 0, 0, 2, 1], wanted: Wanted::default() };
            encoder.encode_step(&parameters, &step).unwrap();
            let variables: Vec<candle_core::Var> =
                tensors(&parameters).iter().map(|tensor| candle_core::Var::from_tensor(tensor).unwrap()).collect();
            let given: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
            let encoded = formula.forward(&given, Some(&step)).unwrap();
            assert_close(&encoded.users, &encoder.vectors(&parameters)[0].values);
            let seeds: Vec<f32> = (0..20).map(|at| (at as f32).sin()).collect();
            let (mut of_rows, mut of_items) = (RowGradients::new(5, 4), RowGradients::new(6, 4));
            seeds.chunks_exact(4).enumerate().for_each(|(row, gradient)| of_rows.add(row, gradient));
            let found =
                (encoded.users * Tensor::from_vec(seeds, (5, 4), &Device::Cpu).unwrap()).unwrap().sum_all().unwrap().backward().unwrap();
            let Backward { weights, .. } = encoder.backward([&mut of_rows, &mut of_items]).unwrap();
            assert_eq!(weights.len(), given.len() - 2);
            weights.iter().zip(&given[2..]).for_each(|(expected, weights)| assert_close(found.get(weights).unwrap(), expected.values()));
            assert_close(found.get(&given[1]).unwrap(), of_items.fill());
        }
    }
}

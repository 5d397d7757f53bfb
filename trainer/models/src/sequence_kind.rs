//! What every model of sequences is to the training loop. A model says what is its own.

use super::{
    BackboneKind, Forward, Sizes, TensorSize,
    encoder::Encoder,
    kind::Learned,
    sequence::{self, Model, SequenceFormula, SequenceSizes, Sequences, Targets},
};
use crate::{Result, parameters::Parameters};
use dataset::Dataset;

/// A model of sequences with its values; each is a [`Learned`] model.
pub(super) trait SequenceKind: BackboneKind + Model + Clone + 'static {
    /// Its vectors, its windows and what it predicts.
    fn sequence_sizes(&self) -> SequenceSizes;

    /// Names and shapes of the weights, in their order.
    fn weights(&self) -> Vec<(String, [usize; 2])>;

    /// Parameters as they are at first.
    fn start(&self, dataset: &Dataset, seed: u64) -> Parameters;

    /// Numbers that a token leaves in a pass, with those that its derivative needs.
    fn of_token(&self) -> u64;

    /// Numbers that a token leaves in candle's operations, with those that its derivative needs.
    fn formula_of_token(&self) -> u64;
}

impl<M: SequenceKind> Learned for M {
    fn dim(&self) -> u32 {
        self.sequence_sizes().dim
    }

    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters {
        self.start(dataset, seed)
    }

    fn encoder(&self, dataset: &Dataset, seed: u64) -> Box<dyn Encoder> {
        let SequenceSizes { dim, max_length, .. } = self.sequence_sizes();
        Box::new(Sequences::new(self.clone(), dataset, [dim, max_length], seed))
    }

    fn formula(&self, dataset: &Dataset, seed: u64) -> Box<dyn Forward> {
        Box::new(SequenceFormula::new(self.clone(), dataset, self.sequence_sizes().max_length, seed))
    }

    fn targets(&self, dataset: &Dataset) -> Result<Option<Targets>> {
        let SequenceSizes { max_length, targets, .. } = self.sequence_sizes();
        Targets::new(dataset, max_length, targets).map(Some)
    }

    fn longest_history(&self) -> Option<u32> {
        Some(self.sequence_sizes().max_length)
    }

    fn memory(&self, sizes: Sizes) -> u64 {
        sequence::memory(sizes, self.sequence_sizes(), self.of_token(), sequence::numbers(&self.weights()))
    }

    fn formula_memory(&self, sizes: Sizes) -> u64 {
        sequence::formula_memory(sizes, self.sequence_sizes(), self.formula_of_token())
    }

    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        sequence::largest_tensor(sizes, self.sequence_sizes())
    }
}

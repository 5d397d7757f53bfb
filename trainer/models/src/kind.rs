//! What a model is to the rest of the system. Each model says it in its own file.

use super::{
    Epochs, Facts, FoldIn, Forward, Sizes, Stored, TensorSize, autograd::Autograd, encoder::Encoder, pairs::PairNetwork, sequence::Targets,
};
use crate::Result;
use crate::{graph::Adjacency, parameters::Parameters, pretrained::Contents};
use dataset::{Dataset, Files, quote};
use evaluator::Scorer;

/// A model with its values.
pub trait BackboneKind {
    /// Where it comes from, what it costs, and what it makes of what it does not know.
    fn facts(&self) -> Facts;

    /// Whether the values make sense.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    fn check(&self) -> std::result::Result<(), String> {
        Ok(())
    }

    /// Raised when a trial with it would give other numbers than before, and one without it would not: what is stored of the others stays good.
    fn revision(&self) -> u32 {
        0
    }

    /// Whether a loss of its own counts how often a batch has an item.
    fn counts_repeats(&self) -> bool {
        false
    }

    /// What is stored of it, and ranked.
    fn stored(&self) -> Stored;

    /// How it scores users that it has not seen, from their histories. When left out: item weights as they are, vectors by ridge regression, states of histories by the network, others not.
    fn how_to_fold_in(&self) -> FoldIn {
        FoldIn::of(self.stored())
    }

    /// The propagations of a table whose mean are its vectors; `None` for models whose vectors come about in another way.
    fn mean_of_layers(&self) -> Option<MeanOfLayers> {
        None
    }
}

/// Vectors that are the mean of a table's rows and their propagations over the train graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeanOfLayers {
    /// Numbers of a vector.
    pub dim: u32,
    /// Propagations; 0 where the rows are the vectors.
    pub layers: u32,
}

/// A model that fits without a loss, a sampler and an optimizer.
pub trait ClosedForm: BackboneKind {
    /// The fitted model, by at most so many bytes of memory.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) for a dataset that is too large, [`Error::Impossible`](crate::Error::Impossible) for values that
    /// give no numbers.
    fn fit(&self, dataset: &Dataset, memory: usize) -> Result<Scorer>;

    /// Bytes that a fit needs at its peak, `ranking` being what ranking the validation part needs.
    fn memory(&self, sizes: Sizes, ranking: u64) -> u64;

    /// Multiplications, or steps that take as long, of a fit; `None` where nobody has counted them.
    fn operations(&self, _sizes: Sizes) -> Option<f64> {
        None
    }
}

/// A model that learns in epochs towards an objective of its own, without a loss, a sampler and an optimizer of the sweep.
pub trait Iterative: BackboneKind {
    /// The model before its first epoch.
    ///
    /// # Errors
    /// [`Error::Impossible`](crate::Error::Impossible) for a dataset that it cannot learn from.
    fn start<'d>(&self, dataset: &'d Dataset, seed: u64) -> Result<Box<dyn Epochs + 'd>>;

    /// Bytes that a training needs at its peak beside the dataset, `ranking` being what ranking the validation part needs.
    fn memory(&self, sizes: Sizes, ranking: u64) -> u64;
}

/// A file that a model is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedFile<'a> {
    /// The file's key in the sweep file.
    pub key: &'static str,
    /// Where the file stands, as typed.
    pub path: &'a str,
}

/// A model that another program trained.
pub trait Pretrained: BackboneKind {
    /// The files that it is read from.
    fn files(&self) -> Vec<PlannedFile<'_>>;

    /// The model from its files, by their keys, and what a reader should know of it.
    ///
    /// # Errors
    /// [`Error::Impossible`](crate::Error::Impossible) with all that is wrong with the files.
    fn read(&self, contents: &Contents, dataset: &Dataset) -> Result<(Scorer, Vec<String>)>;

    /// What is stored of it, by the sizes of its files and of the dataset.
    fn size(&self, files: &Files, users: u64, items: u64) -> Stored;

    /// Bytes that reading it needs at its peak, `ranking` being what ranking the validation part needs.
    fn memory(&self, files: &Files, sizes: Sizes, ranking: u64) -> u64;
}

/// More bytes than any file has, and few enough to reckon with.
const MOST_BYTES: u64 = 1 << 48;

/// Bytes of a file of a model; 0 where it has none.
pub(super) fn bytes_of(files: &Files, key: &str) -> u64 {
    files.get(key).map_or(0, |file| file.bytes.min(MOST_BYTES))
}

/// Letters of the name of a model that another program trained, at most.
const LONGEST_NAME: usize = 60;

/// Checks that the name of a model that another program trained can stand in the name of a method.
pub(super) fn check_name(name: &str) -> std::result::Result<(), String> {
    let fine = |letter: char| letter.is_alphanumeric() || "-_.+ @:".contains(letter);
    if !name.trim().is_empty() && name.trim() == name && name.chars().all(fine) && name.chars().count() <= LONGEST_NAME {
        return Ok(());
    }
    Err(format!("name is `{}`: expected at most {LONGEST_NAME} letters, digits, spaces and `-_.+@:`", quote::value(name)))
}

/// A model that learns by gradients.
pub trait Learned: BackboneKind {
    /// Numbers of a row of its tables; vectors may have more.
    fn dim(&self) -> u32;

    /// Parameters as they are at first.
    fn parameters(&self, dataset: &Dataset, seed: u64) -> Parameters;

    /// What makes vectors of parameters on a CPU, and gradients by the parameters of those by the vectors. Left out, it is [`formula`](Self::formula).
    ///
    /// # Panics
    /// Where it is left out by a model that is not stored as vectors.
    fn encoder(&self, dataset: &Dataset, seed: u64) -> Box<dyn Encoder> {
        let dim = self.stored().dim().expect("a forward pass makes vectors") as usize;
        Box::new(Autograd::new(self.formula(dataset, seed), [dataset.users(), dataset.items(), dim]))
    }

    /// The vectors in candle's operations, for any device.
    fn formula(&self, dataset: &Dataset, seed: u64) -> Box<dyn Forward>;

    /// Bytes that it needs beside its tables, their moments and the gradients of its vectors.
    fn memory(&self, sizes: Sizes) -> u64;

    /// Edges of the train graph that [`formula`](Self::formula) propagates over, without loops. Left out, there are none, or they are counted by
    /// [`formula_memory`](Self::formula_memory).
    fn propagated_edges(&self, _sizes: Sizes) -> u64 {
        0
    }

    /// Bytes that a step by [`formula`](Self::formula) needs on another device than a CPU, beside the parameters, their moments and the gradients of the
    /// vectors: what lies there of the data, what the forward pass leaves, and what its derivative needs. Left out, it is [`memory`](Self::memory) with what
    /// [`propagated_edges`](Self::propagated_edges) need there.
    fn formula_memory(&self, sizes: Sizes) -> u64 {
        self.memory(sizes) + Adjacency::elsewhere_memory(self.propagated_edges(sizes), self.dim().into())
    }

    /// The largest tensor that [`formula`](Self::formula) makes in a step. Left out, it is the vectors of all users and items, or the rows of the tables where
    /// a network scores pairs of them.
    fn largest_tensor(&self, sizes: Sizes) -> TensorSize {
        let of_vectors = self.stored().dim().filter(|_| self.network(0).is_none());
        TensorSize::of_nodes(sizes, of_vectors.unwrap_or(u64::from(self.dim())))
    }

    /// The train interactions that it learns to predict, where it reads histories in order; `None` for models that learn from all in any order.
    ///
    /// # Errors
    /// [`Error::Impossible`](crate::Error::Impossible) for a dataset without order, or where no user has a history.
    fn targets(&self, _dataset: &Dataset) -> Result<Option<Targets>> {
        Ok(None)
    }

    /// The last items of a history that it reads, at most, where it reads histories in order.
    fn longest_history(&self) -> Option<u32> {
        None
    }

    /// Whether it reads histories in order.
    fn reads_order(&self) -> bool {
        self.longest_history().is_some()
    }

    /// What scores pairs of vectors, where that is not a similarity; the vectors are the rows of the tables then.
    fn network(&self, _seed: u64) -> Option<Box<dyn PairNetwork>> {
        None
    }
}

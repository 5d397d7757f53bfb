//! What a kind of scorer is to the rest of the crate. Each says it in its own file.

use super::{Lists, Scorer, scores::Scores, tensors::Tensors};
use crate::Result;
use dataset::Interactions;
use safetensors::tensor::TensorView;
use serde::{Serialize, de::DeserializeOwned};

/// A trained model, as it is ranked.
pub trait ScorerKind {
    /// The number of items that are scored.
    fn items(&self) -> usize;

    /// The number of users that can be scored; `None` where a history is all that is needed.
    fn users(&self) -> Option<usize>;

    /// What was fitted to users and items: both sides' vectors, all weights, or the scores of lists. A network's layers are not among it.
    fn values(&self) -> Vec<f32>;

    /// Checks that lengths fit and all values are finite.
    ///
    /// # Errors
    /// In words: the tensor and the row of what does not.
    fn check(&self) -> std::result::Result<(), String>;

    /// The scores of all items, made ready for all users: `history` is the train part, `is_ordered` whether items that many users will score high should come
    /// first, and `memory` the bytes that may be used for speed.
    ///
    /// # Errors
    /// [`Error::Ranking`](crate::Error::Ranking) where most items have no score.
    fn scores<'a>(&'a self, history: &'a Interactions, is_ordered: bool, memory: usize) -> Result<Box<dyn Scores + 'a>>;

    /// What ranks the validation part, where that is not what ranks test.
    fn before_validation(&self) -> Option<Scorer> {
        None
    }

    /// The top-N lists, where no more is known of the model.
    fn lists(&self) -> Option<&Lists> {
        None
    }
}

/// A scorer on storage: its sizes stand in `scorer.json`, its tensors in `scorer.safetensors`.
pub(super) trait Stored: ScorerKind + Sized {
    /// What its tensors' shapes follow from, and what they mean.
    type Sizes: Serialize + DeserializeOwned;

    fn sizes(&self) -> Self::Sizes;

    /// The tensors by the names that they have in a checkpoint.
    fn tensors(&self) -> Vec<(String, TensorView<'_>)>;

    /// The scorer of these sizes.
    ///
    /// # Errors
    /// In words: a tensor that is missing, or of another type or shape.
    fn read(sizes: Self::Sizes, tensors: &Tensors<'_>) -> std::result::Result<Self, String>;
}

//! The memory of a GPU on which candle's operations train, at the moment when most tensors are there.
//!
//! ```text
//! kept   the parameters and their two moments; where the device's own code scores drawn items, a copy of the vectors, their gradients, for cosines the items at length one, and
//!        what it sorts
//! step   a copy of the parameters as variables; what the model's formula leaves and its derivative needs (`formula_memory` in the model's file); and either
//!        vectors as variables, their gradients as they come and added up, with a block of scores or what the loss's formula leaves of some;
//!        or the gradients of vectors and of parameters, and what a step of the optimizer makes of the larger table
//! ```

use super::{FLOAT, OPERATIONS};
use crate::{
    Learning, Trial,
    fit::step::{
        candle::{blocks::BLOCK, scoring::FEW},
        parts::SCORES_ELSEWHERE,
    },
};
use dataset::Manifest;
use evaluator::Similarity;
use models::Sizes;

/// Bytes of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMemory {
    /// Bytes that stay from step to step.
    pub kept: u64,
    /// Bytes beside them within a step, at most.
    pub step: u64,
}

impl DeviceMemory {
    /// All bytes.
    pub fn total(self) -> u64 {
        self.kept + self.step
    }
}

/// Tensors of vectors while the loss is derived: the variables, gradients as a block gives them, and their sums; and while the model moves.
const OF_VECTORS: u64 = 4;
/// Numbers that a block of products leaves for each of its places on the way there, by similarity; those of one product on the way back; and those for each score of its rows.
const OF_PRODUCT: u64 = 1;
const OF_DISTANCE: u64 = 5;
const OF_WAY_BACK: u64 = 2;
const OF_SCORE: u64 = 6;
/// Numbers that a formula leaves for each of the similarities of a batch's users with each other, and of its positives.
const OF_RELATIONS: u64 = 20;
/// Tensors of the larger table while the optimizer moves it.
const OF_MOVE: u64 = 9;

/// Bytes of a score of drawn items by the device's own code, about: its item, its derivative, keys and places of a sort, each twice, and its part of sums.
const OF_DRAWN: u64 = 28;

/// The bytes of each of so many GPUs that train a trial by candle's operations; `None` of what does not learn by a loss.
pub fn device_memory(trial: &Trial, manifest: &Manifest, ranks: u32) -> Option<DeviceMemory> {
    let (model, learning) = (trial.backbone.learned()?, trial.learning.as_ref()?);
    let (users, items, train) = (manifest.users as u64, manifest.items as u64, manifest.train as u64);
    let (all, list) = learning.batch(users, train);
    let (rows, dim) = (all.div_ceil(u64::from(ranks.max(1))), u64::from(model.dim()));
    // Of models of histories, which have no table of users, a row of a batch has a vector.
    let (own_users, scored_users) = if model.reads_order() { (0, all) } else { (users, users) };
    let [table, largest] = [own_users + items, own_users.max(items)].map(|rows| rows * dim * FLOAT);
    let layers = trial.backbone.mean_of_layers().filter(|_| learning.sampler.mixes()).map_or(1, |mean| 1 + u64::from(mean.layers));
    let vector = trial.backbone.stored().dim().unwrap_or(dim) * FLOAT;
    let vectors = layers * (scored_users + items) * vector;
    let of_model = model.formula_memory(Sizes { users, items, train, batch: all, positives: all * list });
    let shape = Shape { rows, scores: learning.candidates().map_or(items, |candidates| list + candidates as u64), items };
    let floats_of_pair = model.network(0).map(|network| network.floats_of_pair());
    let scoring = floats_of_pair.map_or_else(|| shape.products(learning, layers), |floats| shape.pairs(floats));
    let weighing = OF_VECTORS * vectors + scoring.max(shape.formula(learning));
    let moving = OF_VECTORS * vectors + table + OF_MOVE * largest;
    let is_drawn = learning.candidates().is_some() && floats_of_pair.is_none() && !learning.sampler.mixes();
    let scores_of_device = is_drawn && !learning.loss.relations().of_negatives;
    let unit_items = u64::from(learning.loss.similarity() == Similarity::Cosine) * items * vector;
    let drawn = if scores_of_device { 2 * vectors + unit_items + OF_DRAWN * shape.rows * shape.scores } else { 0 };
    Some(DeviceMemory { kept: 3 * table + drawn, step: table + of_model + weighing.max(moving) })
}

/// The rows of a rank, the scores of each, and the items that there are.
struct Shape {
    rows: u64,
    scores: u64,
    items: u64,
}

impl Shape {
    /// A block of products of rows with the items of the batch, or the relations of a batch.
    fn products(&self, learning: &Learning, layers: u64) -> u64 {
        // Where the rows have not few of the items, all are columns.
        let columns = if self.rows * self.scores * FEW as u64 > self.items { self.items } else { self.rows * self.scores };
        let of_product = if learning.loss.similarity() == Similarity::NegativeSquaredDistance { OF_DISTANCE } else { OF_PRODUCT };
        let of_row = layers * columns * (1 + u64::from(learning.loss.relations().of_negatives));
        let rows = self.rows.min((BLOCK as u64 / of_row.max(1)).max(1));
        rows * (of_product * of_row + OF_WAY_BACK * columns + OF_SCORE * self.scores) * FLOAT
    }

    /// A block of pairs that a network scores.
    fn pairs(&self, floats: u64) -> u64 {
        let of_row = self.scores * floats;
        self.rows.min((BLOCK as u64 / of_row.max(1)).max(1)) * of_row * FLOAT
    }

    /// What the loss's formula leaves of the scores that it is given at once.
    fn formula(&self, learning: &Learning) -> u64 {
        let scores = self.rows * self.scores;
        let at_once = if learning.loss.couples_rows() { scores } else { scores.min(SCORES_ELSEWHERE as u64) };
        let of_rows = u64::from(learning.loss.relations().of_rows) * OF_RELATIONS * self.rows * self.rows;
        (OPERATIONS * at_once + of_rows) * FLOAT
    }
}

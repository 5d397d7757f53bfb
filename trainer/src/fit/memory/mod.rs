//! The memory of a training: the buffers that grow with the data, at the moment when most of them are there.
//!
//! ```text
//! table        [users + items, dim]: the parameters; the two moments of each; what the model adds (`memory` in its file)
//! working      what a step needs: batches, scores, gradients
//! evaluation   a copy of the vectors and what ranks or writes them, or the file of the state as a training that goes on reads it, whichever is more
//! ```

mod by_kernels;
mod on_device;

pub use by_kernels::kernel_sizes;
pub use on_device::{DeviceMemory, device_memory};

use crate::fit::step::{parts, path::StepKind, sparse::AHEAD};
use crate::{Learning, Trial, has_kernels};
use dataset::{Location, Manifest};
use embeddings::{Catalogue, Others, Ranks};
use losses::{Adversary, Per, Related, StateSpec, Update};
use models::{Learned, Sizes};
use samplers::PoolSizes;

/// Bytes of a float, and of an id.
pub(crate) const FLOAT: u64 = 4;
const ID: u64 = 4;
/// More than any machine has, and few enough to add to.
const MOST: u64 = 1 << 60;

/// The sizes that a training's buffers follow from.
#[derive(Clone, Copy)]
struct TableSizes {
    users: u64,
    items: u64,
    train: u64,
    dim: u64,
}

impl TableSizes {
    /// `[users + items, dim]`
    fn table(self) -> u64 {
        (self.users + self.items) * self.dim * FLOAT
    }
}

/// Bytes that a training on the CPU needs beside the dataset, `ranking` being what ranking the validation part needs.
pub fn memory(trial: &Trial, manifest: &Manifest, ranking: u64) -> u64 {
    let of_model = model_sizes(trial, manifest);
    if let Some(model) = trial.backbone.closed_form() {
        return model.memory(of_model, ranking);
    }
    if let (Some(model), Some(files)) = (trial.backbone.pretrained(), &trial.files) {
        return model.memory(&files.files, of_model, ranking);
    }
    if let Some(model) = trial.backbone.iterative() {
        // Users who are held out are added to a copy.
        let copied = manifest.fold_in.map_or(0, |_| trial.backbone.stored().bytes(manifest));
        return model.memory(of_model, ranking) + copied;
    }
    LearnedMemory::of(trial, manifest).map_or(0, |memory| memory.between_steps(ranking) + memory.step())
}

/// Bytes of the host that a rank of a training on a GPU needs beside the dataset: what [`memory`] has, with the rows of a batch alone in the place of what a step needs on the CPU.
pub fn host_memory(trial: &Trial, manifest: &Manifest, ranking: u64) -> u64 {
    LearnedMemory::of(trial, manifest).map_or(0, |memory| memory.between_steps(ranking) + memory.step_elsewhere())
}

fn model_sizes(trial: &Trial, manifest: &Manifest) -> Sizes {
    let (users, items, train) = (manifest.users as u64, manifest.items as u64, manifest.train as u64);
    let (batch, own) = trial.learning.as_ref().map_or((0, 0), |learning| learning.batch(users, train));
    Sizes { users, items, train, batch, positives: batch * own }
}

/// What the memory of a model that learns by a loss follows from.
struct LearnedMemory<'a> {
    trial: &'a Trial,
    model: &'a dyn Learned,
    learning: &'a Learning,
    manifest: &'a Manifest,
    tables: TableSizes,
    vectors: TableSizes,
    /// Layers whose mean the vectors are; one of other models.
    layers: u64,
}

impl<'a> LearnedMemory<'a> {
    fn of(trial: &'a Trial, manifest: &'a Manifest) -> Option<Self> {
        let (model, learning) = (trial.backbone.learned()?, trial.learning.as_ref()?);
        let (users, items, train) = (manifest.users as u64, manifest.items as u64, manifest.train as u64);
        // Models of histories have no table of users.
        let tables = TableSizes { users: if model.reads_order() { 0 } else { users }, items, train, dim: u64::from(model.dim()) };
        let vectors = TableSizes { users, dim: trial.backbone.stored().dim().unwrap_or(tables.dim), ..tables };
        let layers = trial.backbone.mean_of_layers().map_or(1, |mean| 1 + u64::from(mean.layers));
        Some(Self { trial, model, learning, manifest, tables, vectors, layers })
    }

    /// Parameters, moments, the model, its pool, and an evaluation.
    fn between_steps(&self, ranking: u64) -> u64 {
        let Self { trial, model, learning, manifest, tables, vectors, layers } = *self;
        let of_model = model.memory(model_sizes(trial, manifest));
        let TableSizes { users, items, train, dim } = vectors;
        // What a pool draws from is in the file of the state too.
        let pool =
            learning.sampler.memory(PoolSizes { users, items, train, dim }) + u64::from(learning.sampler.needs_tables()) * vectors.table();
        let keeps = trial.backbone.how_to_fold_in().keeps_parameters();
        let folded = manifest.fold_in.filter(|_| keeps).map_or(0, |folded| match model.reads_order() {
            true => 2 * folded as u64 * dim * FLOAT,
            // The graph with these users, and what the layers leave; tables of all users, as they are and as tensors.
            false => of_model + (layers + ATTACHED) * vectors.table(),
        });
        let evaluating = Evaluating { ranking, kept: u64::from(keeps) * tables.table(), folded };
        learned(tables, vectors, evaluating) + of_model + pool
    }

    /// What a step needs on the CPU.
    fn step(&self) -> u64 {
        let Self { trial, model, learning, manifest, tables, vectors, layers } = *self;
        let kind = StepKind::new(&trial.backbone, learning, [manifest.users, manifest.items, manifest.train]);
        let rows = match (kind.sparse_items, kind.has_dense_items()) {
            _ if learning.sampler.mixes() => mixed(vectors, learning, layers),
            _ if trial.backbone.has_network() => pairs(tables, learning, model.network(0).map_or(0, |network| network.floats_of_pair())),
            (true, _) => sparse(vectors, learning),
            (_, true) => dense_items(vectors, learning),
            _ => full_tables(vectors, learning),
        };
        rows + lists(vectors, learning) + loss_state(vectors, learning) + formula(vectors, learning)
    }

    /// What a step needs on the host where a GPU makes it. By kernels that is nothing; by candle's operations the items of the batch with their scores and derivatives, and what the
    /// loss has or looks at beside scores.
    fn step_elsewhere(&self) -> u64 {
        let Self { trial, learning, vectors, .. } = *self;
        if has_kernels(trial).is_ok() {
            return 0;
        }
        let looks_at_vectors = learning.loss.needs_ranks() || learning.loss.needs_others();
        let related = auxiliary_inputs(vectors, learning) + u64::from(looks_at_vectors) * vectors.table();
        held(vectors, learning) * (2 * ID + 4 * FLOAT) + loss_state(vectors, learning) + related
    }
}

/// Tables that are there beside those of layers when users are attached to the train graph: the parameters with their rows, these as tensors, users and items together, and the mean.
const ATTACHED: u64 = 4;

/// Bytes that an evaluation needs beside a copy of the vectors.
struct Evaluating {
    /// What ranks.
    ranking: u64,
    /// The parameters that a checkpoint keeps.
    kept: u64,
    /// What gives vectors to users whom the split holds out.
    folded: u64,
}

/// Parameters and moments, the users and the order of the pairs, and what an evaluation adds: a copy of the vectors and what makes, ranks or stores them, or the file of the state,
/// which is read as a whole.
fn learned(tables: TableSizes, vectors: TableSizes, evaluating: Evaluating) -> u64 {
    let table = tables.table();
    let Evaluating { ranking, kept, folded } = evaluating;
    let evaluation = vectors.table() + ranking.max(Location::memory_to_write(vectors.table() + kept)).max(folded);
    let resume = 3 * table + (tables.users + tables.items) * ID;
    3 * table + tables.train * 2 * ID + evaluation.max(resume)
}

/// Rows of a batch and scores of each: its own and its negatives'; every item where none are drawn.
fn scores(sizes: TableSizes, learning: &Learning) -> (u64, u64) {
    let (batch, own) = learning.batch(sizes.users, sizes.train);
    (batch, learning.candidates().map_or(sizes.items, |negatives| own + negatives as u64))
}

/// Scores that a step holds at once: of all its rows, or, where nothing is drawn, of some rows by all items.
fn held(sizes: TableSizes, learning: &Learning) -> u64 {
    let (batch, scores) = scores(sizes, learning);
    if learning.candidates().is_some() { batch * scores } else { Catalogue::held(batch, sizes.items) }
}

/// What each thread needs for the loss of one list.
fn lists(sizes: TableSizes, learning: &Learning) -> u64 {
    let (_, scores) = scores(sizes, learning);
    learning.loss.list_memory(scores).saturating_mul(rayon::current_num_threads() as u64).min(MOST)
}

/// What a loss keeps of its own. Each number, its gradient, how often a batch has it and its part of the file of the resume state; where it is
/// learned, two moments more in both. An adversary: its tables, their moments and gradients, their part of that file, and its own scores.
fn loss_state(sizes: TableSizes, learning: &Learning) -> u64 {
    let of_column = |column: StateSpec| {
        let numbers = match column.per {
            Per::Users => sizes.users,
            Per::Items => sizes.items,
            Per::Whole(length) => length as u64,
        };
        numbers * FLOAT * if matches!(column.update, Update::Learned(_)) { 8 } else { 4 }
    };
    let of_adversary = |adversary: Adversary| {
        let (batch, scores) = scores(sizes, learning);
        let sizes = TableSizes { dim: adversary.dim as u64, ..sizes };
        7 * sizes.table() + (sizes.items + 2 * batch) * sizes.dim * FLOAT + batch * scores * (2 * ID + 3 * FLOAT)
    };
    learning.loss.columns().into_iter().map(of_column).sum::<u64>() + learning.loss.adversary().map_or(0, of_adversary)
}

/// Where a loss is its formula: a copy of the scores, their derivatives in parts and together, and what the operations leave of the scores
/// that a loss is computed of at once; a fused form with more to move than a model needs the copies alone.
fn formula(sizes: TableSizes, learning: &Learning) -> u64 {
    let (batch, scores) = scores(sizes, learning);
    let parts = (rayon::current_num_threads() * parts::SCORES) as u64;
    let at_once = if learning.loss.couples_rows() { batch * scores } else { parts.min(batch * scores) };
    let copied = held(sizes, learning);
    let operations = if learning.loss.fused_with_state().is_some() { 0 } else { OPERATIONS * at_once };
    let of_draws = learning.loss.fused_of_draws().is_some() && learning.sampler.rule(1).is_none();
    u64::from(learning.loss.fused().is_none() && !of_draws) * (3 * copied + operations) * FLOAT
}

/// Tensors of the scores' size that a formula leaves for its derivative, about.
pub(crate) const OPERATIONS: u64 = 32;

/// Where a step touches a small part of the rows: the plans of the steps ahead, which hold an id, a place and a key to sort by for each touch; and the
/// touched rows, also as unit vectors.
fn sparse(sizes: TableSizes, learning: &Learning) -> u64 {
    let (batch, scores) = scores(sizes, learning);
    let touches = batch * (1 + scores);
    let plans = 2 * AHEAD as u64 * touches * (5 * ID + 8);
    plans + 2 * touches * sizes.dim * FLOAT + batch * scores * FLOAT
}

/// Where a step touches a small part of the users and most items: unit vectors of the items; of the batch the users' vectors as they are, as units and
/// their gradients; and for each score an id, the score and an entry of the items' gradients.
fn dense_items(sizes: TableSizes, learning: &Learning) -> u64 {
    let (batch, scores) = scores(sizes, learning);
    (sizes.items + 3 * batch) * sizes.dim * FLOAT + batch * scores * (2 * ID + 2 * FLOAT) + decays(sizes.items, learning)
}

/// Where negatives are mixed: the vectors of all layers, their gradients and one table between two layers; of the batch its draws.
fn mixed(sizes: TableSizes, learning: &Learning, layers: u64) -> u64 {
    let (batch, scores) = scores(sizes, learning);
    (2 * layers + 2) * sizes.table() + batch * (scores * ID + sizes.dim * FLOAT)
}

/// Where a network scores pairs: gradients of both tables, of each pair two ids, two places, its score twice and what the network leaves of it, and
/// the touched rows with their gradients.
fn pairs(tables: TableSizes, learning: &Learning, floats_of_pair: u64) -> u64 {
    let (batch, scores) = scores(tables, learning);
    let pairs = batch * scores;
    let touched = batch.min(tables.users) + pairs.min(tables.items);
    tables.table() + tables.users + tables.items + pairs * (4 * ID + 8 + (4 + floats_of_pair) * FLOAT) + 4 * touched * tables.dim * FLOAT
}

/// Otherwise gradients of both tables, unit vectors of the items and of the batch, and for each score an id, the score and an entry of
/// the items' gradients.
fn full_tables(sizes: TableSizes, learning: &Learning) -> u64 {
    let (batch, _) = scores(sizes, learning);
    let gradients = sizes.table() + sizes.users + sizes.items;
    let vectors = (sizes.items + 2 * batch) * sizes.dim * FLOAT;
    let of_score = if learning.candidates().is_some() { 2 * ID + 2 * FLOAT } else { FLOAT };
    gradients + vectors + held(sizes, learning) * of_score + auxiliary_inputs(sizes, learning) + decays(sizes.users + sizes.items, learning)
}

/// A number for each of so many rows, where these have a weight in the loss by how often they stand in a batch.
fn decays(rows: u64, learning: &Learning) -> u64 {
    u64::from(learning.optimizer.batch_l2().is_some()) * rows * FLOAT
}

/// What a loss looks at beside scores. Positives with their negatives: for each score a key, four ids, the similarity and its derivative,
/// and for each distinct row its vector and gradient. Users, and positives, with each other: for each pair the similarity, its derivative
/// and what the formula makes of them; and vectors and gradients. Ranks among all items, or among the user's:
/// what finding them needs.
fn auxiliary_inputs(sizes: TableSizes, learning: &Learning) -> u64 {
    let (batch, scores) = scores(sizes, learning);
    let Related { of_negatives, of_rows } = learning.loss.relations();
    let of_rows_and_gradients = |rows: u64| 2 * rows * sizes.dim * FLOAT;
    let neighbours = batch * scores * (8 + 4 * ID + 2 * FLOAT) + of_rows_and_gradients((batch * scores).min(sizes.items));
    let pairs = 2 * (batch * batch * 10 * FLOAT + of_rows_and_gradients(batch));
    let ranks = Ranks::bytes(sizes.items, sizes.dim, batch, scores);
    let others = Others::bytes(sizes.items, sizes.dim, batch, scores);
    let counted = u64::from(learning.loss.needs_ranks()) * ranks + u64::from(learning.loss.needs_others()) * others;
    u64::from(of_negatives) * neighbours + u64::from(of_rows) * pairs + counted
}

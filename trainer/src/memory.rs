//! The memory of a training: the buffers that grow with the data, at the moment when most of them are there.
//!
//! ```text
//! table        [users + items, dim]: the parameters; the two moments of each; for light-gcn the propagated vectors
//! working      what a step needs: batches, scores, gradients
//! evaluation   a copy of the vectors and their file, or the file of the resume state, whichever is more
//! ```

use crate::{Backbone, Learning, Trial, backbone::Ease};
use dataset::Manifest;

/// Bytes of a float, an id, a start of a row.
const FLOAT: u64 = 4;
const ID: u64 = 4;
const OFFSET: u64 = 8;

/// The sizes that a training's buffers follow from.
#[derive(Clone, Copy)]
struct Sizes {
    users: u64,
    items: u64,
    train: u64,
    dim: u64,
}

impl Sizes {
    /// `[users + items, dim]`
    fn table(self) -> u64 {
        (self.users + self.items) * self.dim * FLOAT
    }
}

/// Bytes that a training needs beside the dataset, `ranking` being what ranking the validation part needs.
pub fn memory(trial: &Trial, manifest: &Manifest, ranking: u64) -> u64 {
    let sizes =
        |dim: u32| Sizes { users: manifest.users as u64, items: manifest.items as u64, train: manifest.train as u64, dim: u64::from(dim) };
    let learning = trial.learning.as_ref();
    match (&trial.backbone, learning) {
        (Backbone::Mf(mf), Some(learning)) => learned(sizes(mf.dim), learning, 0, ranking),
        (Backbone::LightGcn(gcn), Some(learning)) => learned(sizes(gcn.dim), learning, propagation(sizes(gcn.dim)), ranking),
        (Backbone::Ease(_), _) => Ease::memory(manifest.items) as u64,
        (Backbone::Popularity(_) | Backbone::Mf(_) | Backbone::LightGcn(_), _) => 2 * sizes(1).table() + ranking,
    }
}

fn learned(sizes: Sizes, learning: &Learning, propagation: u64, ranking: u64) -> u64 {
    let table = sizes.table();
    let (parameters_and_moments, order) = (3 * table, sizes.train * 3 * ID);
    let evaluation = table + ranking.max(table);
    let resume = 3 * table;
    parameters_and_moments + order + propagation + step(sizes, learning) + evaluation.max(resume)
}

/// The propagated vectors, two copies of them, and the train interactions from both sides.
fn propagation(sizes: Sizes) -> u64 {
    let edges = 2 * sizes.train * ID;
    3 * sizes.table() + edges + (sizes.users + sizes.items) * (OFFSET + 2 * FLOAT)
}

/// Gradients of both tables, the batch's rows, and for each score an id, the score and an entry of the items' gradients.
fn step(sizes: Sizes, learning: &Learning) -> u64 {
    let batch = u64::from(learning.training.batch_size).min(sizes.train);
    let gradients = sizes.table() + sizes.users + sizes.items;
    let rows = 2 * batch * sizes.dim * FLOAT;
    let unit_items = sizes.items * sizes.dim * FLOAT;
    let scores = match learning.sampler.negatives() {
        Some(negatives) => batch * (1 + negatives as u64) * (ID + FLOAT + ID + FLOAT),
        None => batch * sizes.items * FLOAT,
    };
    gradients + rows + unit_items + scores
}

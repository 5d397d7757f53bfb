//! Parts of a step by themselves, for `benches/`, which times them one by one. Nothing else uses this.

use dataset::Interactions;
use embeddings::{Batch, RowGradients, Sampled, ScoreGradients, Tables, Vectors};
use evaluator::{Matrix, Similarity};
use models::graph::Graph;
use optimizers::{Optimizer, Parameter, Stepper};
use samplers::{Error, Prepared, Row, Sampler};
use streams::Stream;

/// Steps after which Adam's series holds for any settings that it is used for.
const LATE: u64 = 10_000;

/// A batch with its drawn items.
pub(crate) struct Scoring {
    tables: Tables,
    users: Vec<u32>,
    positives: Vec<u32>,
    /// `[B, N]`
    negatives: Vec<u32>,
    weighed: ScoreGradients,
    sampled: Sampled,
    gradients: [RowGradients; 2],
}

impl Scoring {
    /// A batch of (user, positive) pairs and the items drawn for each, `[B, N]`.
    pub(crate) fn new([users, items]: [Matrix; 2], pairs: &[(u32, u32)], negatives: Vec<u32>) -> Self {
        let ((batch, positives), rows): ((Vec<u32>, Vec<u32>), usize) = (pairs.iter().copied().unzip(), pairs.len());
        let weighed = ScoreGradients { losses: vec![1.0; rows], positives: vec![-1.0; rows], negatives: vec![1e-3; negatives.len()] };
        let gradients = [&users, &items].map(|table| RowGradients::new(table.rows, table.dim));
        Self { tables: Tables { users, items }, users: batch, positives, negatives, weighed, sampled: Sampled::default(), gradients }
    }

    /// Scores the batch by cosines.
    pub(crate) fn forward(&mut self) {
        let Self { tables, users, positives, negatives, sampled, .. } = self;
        let count = negatives.len() / users.len();
        let draw = |row: usize, _, ids: &mut [u32]| ids.copy_from_slice(&negatives[row * count..][..count]);
        sampled.score(vectors(tables), Batch::new(users, positives), count, draw);
    }

    /// Gradients of both tables from derivatives by the scores of the last [`forward`](Self::forward).
    pub(crate) fn backward(&mut self) {
        let Self { tables, users, positives, weighed, sampled, gradients: [of_users, of_items], .. } = self;
        sampled.backward(vectors(tables), weighed);
        sampled.collect(vectors(tables), Batch::new(users, positives), of_users, of_items);
    }
}

fn vectors(tables: &Tables) -> Vectors<'_> {
    Vectors { users: &tables.users, items: &tables.items, similarity: Similarity::Cosine }
}

/// A table under an optimizer.
pub(crate) struct Moving {
    table: Parameter,
    stepper: Stepper,
    rows: Vec<u32>,
    current: Vec<f32>,
    gradients: RowGradients,
}

impl Moving {
    /// A table whose listed rows, ascending, have a gradient in each step; every row where the list is empty.
    pub(crate) fn new(optimizer: &Optimizer, table: Matrix, rows: Vec<u32>) -> Self {
        let mut gradients = RowGradients::new(table.rows, table.dim);
        gradients.fill().fill(1e-3);
        let current = vec![0.0; rows.len() * table.dim];
        let mut table = Parameter::new("table", table);
        table.leave_behind(!rows.is_empty());
        Self { stepper: Stepper::new(optimizer, LATE), table, rows, current, gradients }
    }

    /// One step.
    pub(crate) fn step(&mut self) {
        let Self { table, stepper, rows, current, gradients } = self;
        if rows.is_empty() {
            stepper.move_all(table, gradients);
        } else {
            stepper.current(rows, table, current);
            stepper.move_rows(rows, current, table, |_, gradient| gradient.fill(1e-3));
        }
        stepper.finish_step();
    }
}

/// A pool that looks at a model which scores by dot products.
pub(crate) struct Looking<'a> {
    pool: Prepared<'a>,
    tables: Tables,
}

impl<'a> Looking<'a> {
    /// The pool of a sampler, and the model's vectors, which it has not seen.
    ///
    /// # Errors
    /// Those of [`Prepared::new`].
    pub(crate) fn new(sampler: &Sampler, train: &'a Interactions, [users, items]: [Matrix; 2]) -> Result<Self, Error> {
        Ok(Self { pool: Prepared::new(sampler, train, items.rows)?, tables: Tables { users, items } })
    }

    /// Has it look at the model as at the start of an epoch, counted from 1.
    pub(crate) fn refresh(&mut self, epoch: u32) {
        let Tables { users, items } = &self.tables;
        self.pool.refresh(Vectors { users, items, similarity: Similarity::Dot }, 1, epoch);
    }

    /// Draws for a user by the last look.
    pub(crate) fn draw(&self, rng: &mut Stream, user: u32, ids: &mut [u32]) {
        self.pool.draw(rng, Row::alone(user), ids, None);
    }
}

/// A graph and the vectors that go through it.
pub(crate) struct Propagating {
    graph: Graph,
    tables: Tables,
    out: Tables,
}

impl Propagating {
    /// The graph of train interactions, and the vectors of users and items.
    pub(crate) fn new(train: &Interactions, [users, items]: [Matrix; 2], layers: u32) -> Self {
        let out = Tables::zeros(users.rows, items.rows, users.dim);
        Self { graph: Graph::new(train, items.rows, layers), tables: Tables { users, items }, out }
    }

    /// All vectors through all layers. The way back is the same.
    pub(crate) fn step(&mut self) {
        self.graph.forward(self.tables.both(), [None, None], &mut self.out);
    }
}

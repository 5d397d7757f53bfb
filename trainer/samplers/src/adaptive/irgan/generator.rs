//! The generator: tables of its own, and how they move.

use dataset::Interactions;
use embeddings::{Batch, Catalogue, Init, Masks, Normal, RowGradients, Tables, Vectors};

use optimizers::{Adam, Moments, Optimizer, Stepper};
use rayon::prelude::*;
use std::{convert::Infallible, ops::Range};
use vectors::{Matrix, Similarity};

/// Users of a step.
const USERS: usize = 16;

/// Standard deviation of its first parameters.
const START: f64 = 0.05;

/// Its parameters are drawn from another seed than the model's.
const OTHER_SEED: u64 = 1 << 62;

/// The second model.
#[derive(Clone, Debug)]
pub(super) struct Generator {
    learning_rate: f64,
    tables: Tables,
    moments: [Moments; 2],
}

/// What its steps need, while it moves.
pub(super) struct Lesson {
    catalogue: Catalogue,
    pub(super) users: RowGradients,
    pub(super) items: RowGradients,
    /// Its scores leave nothing out.
    no_items: Interactions,
}

impl Generator {
    /// Makes the generator with zeros, before [`start`](Self::start).
    pub(super) fn new(learning_rate: f64, [users, items]: [usize; 2], dim: usize) -> Self {
        let tables = Tables::zeros(users, items, dim);
        Self { learning_rate, moments: [&tables.users, &tables.items].map(|table| Moments::new(table, false)), tables }
    }

    /// Gives the parameters their first values.
    pub(super) fn start(&mut self, seed: u64) {
        let Tables { users, items } = &self.tables;
        self.tables = Init::Normal(Normal { std: START }).tables(users.rows, items.rows, users.dim, seed ^ OTHER_SEED);
    }

    /// Bytes of the tables, their moments, their part of the file of the resume state and their gradients, and of the scores of a step.
    pub(super) fn memory([users, items]: [u64; 2], dim: u64) -> u64 {
        let of_scores = USERS as u64 * 4 + rayon::current_num_threads() as u64 * 12;
        7 * (users + items) * dim * 4 + users + items * (1 + of_scores)
    }

    /// Vectors of users and items, whose products are its scores.
    pub(super) fn vectors(&self) -> (&Matrix, &Matrix) {
        (&self.tables.users, &self.tables.items)
    }

    /// Everything that its next step needs, by name; how many it has made follows from the epoch.
    pub(super) fn state(&mut self) -> [(&'static str, &mut [f32]); 6] {
        let Self { tables, moments: [users, items], .. } = self;
        [
            ("generator.users", &mut tables.users.values),
            ("generator.users.first", &mut users.first),
            ("generator.users.second", &mut users.second),
            ("generator.items", &mut tables.items.values),
            ("generator.items.first", &mut items.first),
            ("generator.items.second", &mut items.second),
        ]
    }

    /// Passes over the users, numbered from its first one: `derive(pass, user, scores [n])` turns the scores of all items into the derivatives
    /// of what is to be made small.
    pub(super) fn learn(&mut self, users: &[u32], passes: Range<u32>, derive: impl Fn(u32, u32, &mut [f32]) + Sync) {
        if passes.is_empty() {
            return;
        }
        let steps = u64::from(passes.start) * users.len().div_ceil(USERS) as u64;
        let mut stepper = Stepper::new(&Optimizer::LazyAdam(Adam::new(self.learning_rate)), steps);
        let mut lesson = Lesson::new(&self.tables);
        for pass in passes {
            for users in users.chunks(USERS) {
                lesson.take(&self.tables, users, |user, scores| derive(pass, user, scores));
                stepper.move_table(&mut self.tables.users, &mut self.moments[0], &lesson.users);
                stepper.move_table(&mut self.tables.items, &mut self.moments[1], &lesson.items);
                stepper.finish_step();
            }
        }
    }
}

impl Lesson {
    pub(super) fn new(tables: &Tables) -> Self {
        let [users, items] = [&tables.users, &tables.items].map(|table| RowGradients::new(table.rows, table.dim));
        Self { catalogue: Catalogue::default(), users, items, no_items: Interactions::empty(tables.users.rows) }
    }

    /// The gradients of the mean over some users.
    pub(super) fn take(&mut self, tables: &Tables, users: &[u32], derive: impl Fn(u32, &mut [f32]) + Sync) {
        let vectors = Vectors { users: &tables.users, items: &tables.items, similarity: Similarity::Dot };
        let (scale, count) = (1.0 / users.len() as f32, tables.items.rows);
        let weigh = |first: usize, positives: &mut [f32], scores: &mut [f32]| {
            positives.fill(0.0);
            scores.par_chunks_exact_mut(count).zip(&users[first..]).for_each(|(scores, &user)| {
                derive(user, scores);
                scores.iter_mut().for_each(|derivative| *derivative *= scale);
            });
            Ok::<f64, Infallible>(0.0)
        };
        let batch = Batch::new(users, &[0; USERS][..users.len()]); // a row has a positive, whose derivative is 0
        let Ok(_) = self.catalogue.step((vectors, batch, Masks::Train(&self.no_items)), weigh, (&mut self.users, &mut self.items));
    }
}

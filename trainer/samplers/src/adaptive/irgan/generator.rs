//! The generator: tables of its own, and how they move.

use dataset::Interactions;
use embeddings::{Batch, Catalogue, Init, Masks, Normal, RowGradients, Vectors};

use optimizers::{Adam, LazyAdam, Optimizer, Parameter, Stepper};
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
    users: Parameter,
    items: Parameter,
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
        let zeros = |name: &str, rows: usize| Parameter::new(name, Matrix { rows, dim, values: vec![0.0; rows * dim] });
        Self { learning_rate, users: zeros("generator.users", users), items: zeros("generator.items", items) }
    }

    /// Gives the parameters their first values.
    pub(super) fn start(&mut self, seed: u64) {
        let (users, items) = self.vectors();
        let tables = Init::Normal(Normal { std: START }).tables(users.rows, items.rows, users.dim, seed ^ OTHER_SEED);
        (self.users.values, self.items.values) = (tables.users, tables.items);
    }

    /// Bytes of the tables, their moments, their part of the file of the resume state and their gradients, and of the scores of a step.
    pub(super) fn memory([users, items]: [u64; 2], dim: u64) -> u64 {
        let of_scores = USERS as u64 * 4 + rayon::current_num_threads() as u64 * 12;
        7 * (users + items) * dim * 4 + users + items * (1 + of_scores)
    }

    /// Vectors of users and items, whose products are its scores.
    pub(super) fn vectors(&self) -> (&Matrix, &Matrix) {
        (&self.users.values, &self.items.values)
    }

    /// Everything that its next step needs, by name; how many it has made follows from the epoch.
    pub(super) fn state(&mut self) -> impl Iterator<Item = (String, &mut [f32])> {
        self.users.state(false).chain(self.items.state(false))
    }

    /// Passes over the users, numbered from its first one: `derive(pass, user, scores [n])` turns the scores of all items into the derivatives
    /// of what is to be made small.
    pub(super) fn learn(&mut self, users: &[u32], passes: Range<u32>, derive: impl Fn(u32, u32, &mut [f32]) + Sync) {
        if passes.is_empty() {
            return;
        }
        let steps = u64::from(passes.start) * users.len().div_ceil(USERS) as u64;
        let mut stepper = Stepper::new(&Optimizer::LazyAdam(LazyAdam(Adam::new(self.learning_rate))), steps);
        let mut lesson = Lesson::new([&self.users.values, &self.items.values]);
        for pass in passes {
            for users in users.chunks(USERS) {
                lesson.take([&self.users.values, &self.items.values], users, |user, scores| derive(pass, user, scores));
                stepper.move_all(&mut self.users, &lesson.users);
                stepper.move_all(&mut self.items, &lesson.items);
                stepper.finish_step();
            }
        }
    }
}

impl Lesson {
    pub(super) fn new([users, items]: [&Matrix; 2]) -> Self {
        let gradients = |table: &Matrix| RowGradients::new(table.rows, table.dim);
        Self {
            catalogue: Catalogue::default(),
            users: gradients(users),
            items: gradients(items),
            no_items: Interactions::empty(users.rows),
        }
    }

    /// The gradients of the mean over some users.
    pub(super) fn take(&mut self, [of_users, of_items]: [&Matrix; 2], users: &[u32], derive: impl Fn(u32, &mut [f32]) + Sync) {
        let vectors = Vectors { users: of_users, items: of_items, similarity: Similarity::Dot };
        let (scale, count) = (1.0 / users.len() as f32, of_items.rows);
        let weigh = |first: usize, positives: &mut [f32], scores: &mut [f32]| {
            positives.fill(0.0);
            scores.par_chunks_exact_mut(count).zip(&users[first..]).for_each(|(scores, &user)| {
                derive(user, scores);
                scores.iter_mut().for_each(|derivative| *derivative *= scale);
            });
            Ok::<f64, Infallible>(0.0)
        };
        let batch = Batch::new(users, &[0; USERS][..users.len()]); // a row has a positive, whose derivative is 0
        let Ok(_) = self.catalogue.step(vectors, batch, Masks::Train(&self.no_items), weigh, &mut self.users, &mut self.items);
    }
}

//! A sampler's pool with what it needs of a dataset.

use super::{
    Draws, Error, Exclude, Row, Sampler, Stream,
    proposal::{Proposal, UserItems},
};
use dataset::{Interactions, Location};
use embeddings::Vectors;

/// A sampler's pool with what it needs of a dataset, ready to draw from any thread.
#[derive(Debug)]
pub struct Prepared<'a> {
    train: &'a Interactions,
    pub(super) items: u32,
    proposal: Box<dyn Proposal>,
}

impl<'a> Prepared<'a> {
    /// Prepares to draw candidates for the users of `train`, who may be given any of `items` items but their own.
    ///
    /// # Errors
    /// When a user with train items has no possible negative, or fewer than are drawn without replacement.
    pub fn new(sampler: &Sampler, train: &'a Interactions, items: usize) -> Result<Self, Error> {
        Self::with_cache(sampler, train, items, None)
    }

    /// Prepares as [`new`](Self::new) does, with a folder where pools that take long to prepare are kept and found again.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), and when what is there cannot be read, or nothing can be written.
    pub fn with_cache(sampler: &Sampler, train: &'a Interactions, items: usize, cache: Option<&Location>) -> Result<Self, Error> {
        let Draws { pool, count } = sampler.draws();
        let (pool, draws) = (pool.kind(), count.unwrap_or(1));
        let distinct = if pool.is_distinct() { draws as usize } else { 1 };
        if sampler.exclude() == Exclude::Train {
            check_users(train, items, pool.drawable(train, items), distinct)?; // before what may take long
        }
        let proposal = pool.prepare(draws, train, items, cache)?;
        let items = u32::try_from(items).expect("ids of items are u32");
        Ok(Self { train, items, proposal })
    }

    /// The alias table that items are drawn by, where there is one, and the weights that it stands for.
    pub fn alias_table(&self) -> Option<(Vec<[u32; 2]>, &[f64])> {
        self.proposal.alias_table()
    }

    /// Whether rows have to say the positives of their batch.
    pub fn needs_positives(&self) -> bool {
        self.proposal.needs_positives()
    }

    /// Takes the number of rows of an epoch that have each item as their positive, `[items]`: for epochs whose rows are not all train interactions once.
    pub fn set_row_counts(&mut self, of_items: &[u32]) {
        self.proposal.set_row_counts(of_items);
    }

    /// Whether the pool has to look at the model before a step of an epoch, counted from 1, when each step draws so many.
    pub fn is_due(&self, step: u32, draws: usize) -> bool {
        self.proposal.is_due(step, self.items as usize, draws)
    }

    /// Has the pool look at the model, in an epoch of a training of that seed.
    pub fn refresh(&mut self, vectors: Vectors, seed: u64, epoch: u32) {
        self.proposal.refresh(vectors, self.train, seed, epoch);
    }

    /// Whether the pool's state has its size before the pool has looked at the model.
    pub fn is_sized(&self) -> bool {
        self.proposal.is_sized()
    }

    /// What the next refresh looks back on, by name; `within` an epoch also what is drawn from until then.
    pub fn state(&mut self, within: bool) -> Vec<(String, &mut [f32])> {
        self.proposal.state(within)
    }

    /// The state, of a pool that has been refreshed before, has been put in place.
    pub fn restored(&mut self, within: bool) {
        if within {
            self.proposal.restored();
        }
    }

    /// Draws the candidates of one row: `ids [N]`, and the log-probability of each draw, `[N]`, when asked for.
    ///
    /// The numbers depend on the stream and the row alone, and for pools that look at the model on the last refresh, before
    /// which they cannot draw. The pool `all` draws nothing and leaves both as they are. In-batch looks at the row and not at the stream;
    /// the row's own positive in the place of a candidate stands for no item.
    pub fn draw(&self, rng: &mut Stream, row: Row, ids: &mut [u32], log_probabilities: Option<&mut [f32]>) {
        let again = log_probabilities.is_some().then(|| rng.clone());
        self.proposal.fill(self.of(row.user), row, rng, ids);
        if let (Some(mut again), Some(log_probabilities)) = (again, log_probabilities) {
            self.log_probabilities_of_draws(&mut again, row.user, ids, log_probabilities);
        }
    }

    /// The log-probabilities of the draws `ids [N]` that this stream gave. They are those of the items, but where a pool draws slots of which
    /// several may hold an item: such a pool draws them again.
    pub fn log_probabilities_of_draws(&self, rng: &mut Stream, user: u32, ids: &[u32], out: &mut [f32]) {
        self.proposal.log_probabilities_of_draws(self.of(user), rng, ids, out);
    }

    /// The log-probabilities of several items at one draw for the user, in the order of `ids`.
    pub fn log_probabilities(&self, user: u32, ids: &[u32], out: &mut [f32]) {
        self.proposal.log_probabilities(self.of(user), ids, out);
    }

    /// The log-probability of any item at one draw for the user. That of a train item of the user, which is never drawn, is the one it
    /// would have as another item: its weight over that of the possible negatives. The pool `all` takes every item, which is 0.
    pub fn log_probability(&self, user: u32, item: u32) -> f32 {
        let mut log_probability = [0.0];
        self.log_probabilities(user, &[item], &mut log_probability);
        log_probability[0]
    }

    fn of(&self, user: u32) -> UserItems<'_> {
        UserItems { user, train: self.train, items: self.items }
    }
}

/// Whether each user with train items has at least `distinct` negatives among `drawable` items that hold all of the user's own.
fn check_users(train: &Interactions, items: usize, drawable: usize, distinct: usize) -> Result<(), Error> {
    let available = |user: &usize| drawable - train.row(*user).len();
    let trained = || (0..train.users()).filter(|&user| !train.row(user).is_empty());
    if let Some(user) = trained().find(|user| available(user) == 0) {
        let count = trained().filter(|user| available(user) == 0).count();
        return Err(Error::NoNegatives { count, user: user as u32, positives: train.row(user).len(), items });
    }
    if let Some(user) = trained().find(|user| available(user) < distinct) {
        let count = trained().filter(|user| available(user) < distinct).count();
        return Err(Error::TooFewNegatives { count, user: user as u32, available: available(&user), negatives: distinct });
    }
    Ok(())
}

//! A sampler's pool with what it needs of a dataset.

use super::{Error, Pool, Sampler, Stream, complement::Complement, in_batch, popularity, ppr, uniform};
use dataset::Interactions;

/// A sampler's pool with what it needs of a dataset, ready to draw from any thread.
#[derive(Clone, Debug)]
pub struct Prepared<'a> {
    train: &'a Interactions,
    pub(super) items: u32,
    proposal: Proposal,
}

#[derive(Clone, Debug)]
enum Proposal {
    All,
    Uniform { replacement: bool },
    Popularity(popularity::Proposal),
    InBatch(in_batch::Proposal),
    Ppr(ppr::Proposal),
}

/// A row of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Whose row it is.
    pub user: u32,
    /// Its place in the batch.
    pub place: usize,
    /// The positives of all rows, `[B]`, for [`in-batch`](Prepared::needs_positives).
    pub positives: &'a [u32],
}

impl Row<'_> {
    /// A row outside of any batch.
    pub fn alone(user: u32) -> Self {
        Self { user, place: 0, positives: &[] }
    }
}

impl<'a> Prepared<'a> {
    /// Prepares to draw candidates for the users of `train`, who may be given any of `items` items but their own.
    ///
    /// # Errors
    /// When a user with train items has no possible negative, or fewer than are drawn without replacement.
    pub fn new(sampler: &Sampler, train: &'a Interactions, items: usize) -> Result<Self, Error> {
        let (pool, count) = sampler.draws();
        let (proposal, drawable) = match &pool {
            Pool::All(_) => (Proposal::All, items),
            Pool::Uniform(settings) => (Proposal::Uniform { replacement: settings.replacement }, items),
            Pool::Popularity(settings) => {
                let proposal = popularity::Proposal::new(&train.item_counts(items), settings.exponent);
                let drawable = proposal.drawable();
                (Proposal::Popularity(proposal), drawable)
            }
            Pool::InBatch(_) => {
                let proposal = in_batch::Proposal::new(&train.item_counts(items));
                let drawable = proposal.drawable();
                (Proposal::InBatch(proposal), drawable)
            }
            Pool::Ppr(settings) => {
                let drawable = settings.drawable(&train.item_counts(items));
                check_users(train, items, drawable, 1)?; // before the long preparation
                (Proposal::Ppr(ppr::Proposal::new(settings, train, items)), drawable)
            }
        };
        let distinct = match proposal {
            Proposal::Uniform { replacement: false } => count.unwrap_or(1) as usize,
            _ => 1,
        };
        check_users(train, items, drawable, distinct)?;
        let items = u32::try_from(items).expect("ids of items are u32");
        Ok(Self { train, items, proposal })
    }

    /// Whether rows have to say the positives of their batch.
    pub fn needs_positives(&self) -> bool {
        matches!(self.proposal, Proposal::InBatch(_))
    }

    /// Draws the candidates of one row: `ids [N]`, and the log-probability of each draw, `[N]`, when asked for.
    ///
    /// The numbers depend on the stream and the row alone. The pool `all` draws nothing and leaves both as they are. In-batch looks at the
    /// row and not at the stream; the row's own positive in the place of a candidate stands for no item.
    pub fn draw(&self, rng: &mut Stream, row: Row, ids: &mut [u32], log_probabilities: Option<&mut [f32]>) {
        let complement = self.complement(row.user);
        match &self.proposal {
            Proposal::All => {}
            Proposal::Uniform { replacement } => uniform::draw(complement, *replacement, rng, ids, log_probabilities),
            Proposal::Popularity(proposal) => proposal.draw(complement, rng, ids, log_probabilities),
            Proposal::InBatch(proposal) => proposal.take(complement, row, ids, log_probabilities),
            Proposal::Ppr(proposal) => proposal.draw(row.user, complement, rng, ids, log_probabilities),
        }
    }

    /// Those of several items, in the order of `ids`.
    pub(crate) fn log_probabilities(&self, user: u32, ids: &[u32], out: &mut [f32]) {
        match &self.proposal {
            Proposal::Popularity(proposal) => proposal.log_probabilities(self.complement(user), ids, out),
            Proposal::Ppr(proposal) => proposal.log_probabilities(user, self.complement(user), ids, out),
            _ => out.iter_mut().zip(ids).for_each(|(out, &id)| *out = self.log_probability(user, id)),
        }
    }

    /// The log-probability of any item at one draw for the user. That of a train item of the user, which is never drawn, is the one it
    /// would have as another item: its weight over that of the possible negatives. The pool `all` takes every item, which is 0.
    pub fn log_probability(&self, user: u32, item: u32) -> f32 {
        match &self.proposal {
            Proposal::All => 0.0,
            Proposal::Uniform { .. } => uniform::log_probability(self.complement(user)),
            Proposal::Popularity(proposal) => proposal.log_probability(self.complement(user), item),
            Proposal::InBatch(proposal) => proposal.log_probability(item),
            Proposal::Ppr(proposal) => proposal.log_probability(user, self.complement(user), item),
        }
    }

    fn complement(&self, user: u32) -> Complement<'_> {
        Complement::new(self.train.row(user as usize), self.items)
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

//! A sampler's pool with what it needs of a dataset.

use super::{
    Error, Exclude, Pool, Sampler, Stream, adaptive::AdaptiveProposal, in_batch::InBatchProposal, non_positives::NonPositives,
    popularity::PopularityProposal, ppr::PprProposal, uniform,
};
use dataset::{Interactions, Location};
use embeddings::Vectors;

/// A sampler's pool with what it needs of a dataset, ready to draw from any thread.
#[derive(Clone, Debug)]
pub struct Prepared<'a> {
    train: &'a Interactions,
    pub(super) items: u32,
    proposal: Proposal,
}

/// What a pool draws by.
#[derive(Clone, Debug)]
pub(super) enum Proposal {
    All,
    Uniform { replacement: bool },
    Popularity(PopularityProposal),
    InBatch(InBatchProposal),
    Ppr(PprProposal),
    AdaptiveProposal(AdaptiveProposal),
}

impl Proposal {
    /// Prepares a pool for so many draws a row; also with how many items it can draw.
    fn new(pool: &Pool, draws: u32, train: &Interactions, items: usize, cache: Option<&Location>) -> Result<(Self, usize), Error> {
        Ok(match pool {
            Pool::All(_) => (Proposal::All, items),
            Pool::Uniform(settings) => (Proposal::Uniform { replacement: settings.replacement }, items),
            Pool::Popularity(settings) => {
                let proposal = PopularityProposal::new(&train.item_counts(items), settings.exponent, settings.logarithm);
                let drawable = proposal.drawable();
                (Proposal::Popularity(proposal), drawable)
            }
            Pool::InBatch(_) => {
                let proposal = InBatchProposal::new(&train.item_counts(items));
                let drawable = proposal.drawable();
                (Proposal::InBatch(proposal), drawable)
            }
            Pool::Ppr(settings) => {
                let drawable = settings.drawable(&train.item_counts(items));
                check_users(train, items, drawable, 1)?; // before the long preparation
                (Proposal::Ppr(PprProposal::cached(settings, train, items, cache)?), drawable)
            }
            Pool::Aobpr(settings) => (Proposal::AdaptiveProposal(AdaptiveProposal::aobpr(settings)), items),
            Pool::Kernel(settings) => (Proposal::AdaptiveProposal(AdaptiveProposal::kernel(settings)), items),
            Pool::AdaSir(settings) => {
                let (proposal, drawable) = Self::new(&settings.pool, draws, train, items, cache)?;
                (Proposal::AdaptiveProposal(AdaptiveProposal::ada_sir(settings, proposal, train.users())), drawable)
            }
            Pool::Irgan(settings) => (Proposal::AdaptiveProposal(AdaptiveProposal::irgan(settings, draws as usize, train, items)), items),
        })
    }
}

/// A row of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Whose row it is.
    pub user: u32,
    /// The row's place in the batch.
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
        Self::with_cache(sampler, train, items, None)
    }

    /// Prepares as [`new`](Self::new) does, with a folder where pools that take long to prepare are kept and found again.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), and when what is there cannot be read, or nothing can be written.
    pub fn with_cache(sampler: &Sampler, train: &'a Interactions, items: usize, cache: Option<&Location>) -> Result<Self, Error> {
        let (pool, count) = sampler.draws();
        let (proposal, drawable) = Proposal::new(&pool, count.unwrap_or(1), train, items, cache)?;
        let distinct = match proposal {
            Proposal::Uniform { replacement: false } => count.unwrap_or(1) as usize,
            _ => 1,
        };
        if sampler.exclude() == Exclude::Train {
            check_users(train, items, drawable, distinct)?;
        }
        let items = u32::try_from(items).expect("ids of items are u32");
        Ok(Self { train, items, proposal })
    }

    /// The alias table that items are drawn by, where there is one, and the weights that it stands for.
    pub fn law(&self) -> Option<(Vec<[u32; 2]>, &[f64])> {
        match &self.proposal {
            Proposal::Popularity(proposal) => Some(proposal.law()),
            _ => None,
        }
    }

    /// Whether rows have to say the positives of their batch.
    pub fn needs_positives(&self) -> bool {
        matches!(self.proposal, Proposal::InBatch(_))
    }

    /// Whether the pool has to look at the model before a step of an epoch, counted from 1, when each step draws so many.
    pub fn is_due(&self, step: u32, draws: usize) -> bool {
        match &self.proposal {
            Proposal::AdaptiveProposal(live) => live.is_due(step, self.items as usize, draws),
            _ => false,
        }
    }

    /// Has the pool look at the model, in an epoch of a training of that seed.
    pub fn refresh(&mut self, vectors: Vectors, seed: u64, epoch: u32) {
        if let Proposal::AdaptiveProposal(live) = &mut self.proposal {
            live.refresh(vectors, self.train, seed, epoch);
        }
    }

    /// Whether the pool's state has its size before the pool has looked at the model.
    pub fn is_sized(&self) -> bool {
        if let Proposal::AdaptiveProposal(live) = &self.proposal { live.is_sized() } else { true }
    }

    /// What the next refresh looks back on, by name; `within` an epoch also what is drawn from until then.
    pub fn state(&mut self, within: bool) -> Vec<(String, &mut [f32])> {
        match &mut self.proposal {
            Proposal::AdaptiveProposal(live) => live.state(within),
            _ => Vec::new(),
        }
    }

    /// The state, of a pool that has been refreshed before, has been put in place.
    pub fn restored(&mut self, within: bool) {
        if let (Proposal::AdaptiveProposal(live), true) = (&mut self.proposal, within) {
            live.restored();
        }
    }

    /// Draws the candidates of one row: `ids [N]`, and the log-probability of each draw, `[N]`, when asked for.
    ///
    /// The numbers depend on the stream and the row alone, and for pools that look at the model on the last refresh, before
    /// which they cannot draw. The pool `all` draws nothing and leaves both as they are. In-batch looks at the row and not at the stream;
    /// the row's own positive in the place of a candidate stands for no item.
    pub fn draw(&self, rng: &mut Stream, row: Row, ids: &mut [u32], log_probabilities: Option<&mut [f32]>) {
        let non_positives = self.non_positives(row.user);
        match &self.proposal {
            Proposal::All => {}
            Proposal::Uniform { replacement } => uniform::draw(non_positives, *replacement, rng, ids, log_probabilities),
            Proposal::Popularity(proposal) => proposal.draw(non_positives, rng, ids, log_probabilities),
            Proposal::InBatch(proposal) => proposal.take(non_positives, row, ids, log_probabilities),
            Proposal::Ppr(proposal) => proposal.draw(row.user, non_positives, rng, ids, log_probabilities),
            Proposal::AdaptiveProposal(live) => {
                let (mut again, user) = (rng.clone(), row.user as usize);
                live.draw(self.train, non_positives, rng, user, ids);
                if let Some(log_probabilities) = log_probabilities {
                    live.log_probabilities_of_draws(non_positives, &mut again, user, ids, log_probabilities);
                }
            }
        }
    }

    /// The log-probabilities of the draws `ids [N]` that this stream gave. They are those of the items, but where a pool draws slots of which
    /// several may hold an item: such a pool draws them again.
    pub fn log_probabilities_of_draws(&self, rng: &mut Stream, user: u32, ids: &[u32], out: &mut [f32]) {
        match &self.proposal {
            Proposal::AdaptiveProposal(live) => live.log_probabilities_of_draws(self.non_positives(user), rng, user as usize, ids, out),
            _ => self.log_probabilities(user, ids, out),
        }
    }

    /// The log-probabilities of several items at one draw for the user, in the order of `ids`.
    pub fn log_probabilities(&self, user: u32, ids: &[u32], out: &mut [f32]) {
        match &self.proposal {
            Proposal::All => out.fill(0.0),
            Proposal::Uniform { .. } => out.fill(uniform::log_probability(self.non_positives(user))),
            Proposal::InBatch(proposal) => out.iter_mut().zip(ids).for_each(|(out, &id)| *out = proposal.log_probability(id)),
            Proposal::Popularity(proposal) => proposal.log_probabilities(self.non_positives(user), ids, out),
            Proposal::Ppr(proposal) => proposal.log_probabilities(user, self.non_positives(user), ids, out),
            Proposal::AdaptiveProposal(live) => live.log_probabilities(self.non_positives(user), user as usize, ids, out),
        }
    }

    /// The log-probability of any item at one draw for the user. That of a train item of the user, which is never drawn, is the one it
    /// would have as another item: its weight over that of the possible negatives. The pool `all` takes every item, which is 0.
    pub fn log_probability(&self, user: u32, item: u32) -> f32 {
        match &self.proposal {
            Proposal::All => 0.0,
            Proposal::Uniform { .. } => uniform::log_probability(self.non_positives(user)),
            Proposal::Popularity(proposal) => proposal.log_probability(self.non_positives(user), item),
            Proposal::InBatch(proposal) => proposal.log_probability(item),
            Proposal::Ppr(proposal) => proposal.log_probability(user, self.non_positives(user), item),
            Proposal::AdaptiveProposal(_) => {
                let mut log_probability = [0.0];
                self.log_probabilities(user, &[item], &mut log_probability);
                log_probability[0]
            }
        }
    }

    fn non_positives(&self, user: u32) -> NonPositives<'_> {
        NonPositives::new(self.train.row(user as usize), self.items)
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

//! Pools that look at the model: what they draw from is made anew while it learns.
//!
//! They draw by the model as it stood at the last refresh, users and items both, or by what they learned of it. A refresh is due at steps
//! that are counted from the start of an epoch, so that a training that was resumed there draws the same; one that was stopped within an
//! epoch keeps those vectors.

use super::{Pool, Stream, non_positives::NonPositives, prepared::Proposal};
use dataset::Interactions;
use embeddings::{Vectors, inner_product};

mod ada_sir;
mod aobpr;
mod irgan;
mod kernel;
#[cfg(test)]
mod tests;

pub use ada_sir::{AdaSir, AdaSirPool, Weights};
pub use aobpr::{Aobpr, AobprPool};
pub use irgan::{Irgan, IrganPool};
pub use kernel::{Kernel, KernelPool};

/// A pool that looks at the model, as of its last refresh.
#[derive(Clone, Debug)]
pub(super) enum AdaptiveProposal {
    /// `aobpr`
    Aobpr(aobpr::Lists),
    /// `kernel`
    Kernel(kernel::Tree),
    /// `ada-sir`
    AdaSir(ada_sir::Pools),
    /// `irgan`
    Irgan(Box<irgan::Game>),
}

impl AdaptiveProposal {
    /// `aobpr`, before its first refresh.
    pub(super) fn aobpr(settings: &AobprPool) -> Self {
        Self::Aobpr(aobpr::Lists::new(settings.scale))
    }

    /// `kernel`, before its first refresh.
    pub(super) fn kernel(settings: &KernelPool) -> Self {
        Self::Kernel(kernel::Tree::new(settings.curvature))
    }

    /// `ada-sir` of so many users, before its first refresh, and what it takes proposals from.
    pub(super) fn ada_sir(settings: &AdaSirPool, proposal: Proposal, users: usize) -> Self {
        Self::AdaSir(ada_sir::Pools::new(settings, proposal, users))
    }

    /// `irgan` of so many draws for each train item, before its first refresh.
    pub(super) fn irgan(settings: &IrganPool, draws: usize, train: &Interactions, items: usize) -> Self {
        Self::Irgan(Box::new(irgan::Game::new(settings, draws, train, items)))
    }

    /// Bytes of a pool that looks at the model, whose vectors have `dim` factors, of so many draws a row; 0 for others.
    pub(super) fn memory(pool: &Pool, draws: u64, [users, items, train, dim]: [u64; 4]) -> u64 {
        let factors = dim + inner_product::MORE as u64;
        match pool {
            Pool::Aobpr(_) => aobpr::Lists::memory(users, items, factors),
            Pool::Kernel(_) => kernel::Tree::memory(users, items, factors),
            Pool::AdaSir(settings) => ada_sir::Pools::memory(settings, users, items, factors),
            Pool::Irgan(settings) => irgan::Game::memory(settings, draws, [users, items, train, dim]),
            Pool::All(_) | Pool::Uniform(_) | Pool::Popularity(_) | Pool::InBatch(_) | Pool::Ppr(_) => 0,
        }
    }

    /// Whether the proposal has to be refreshed before a step, counted from 1, of so many draws each.
    pub(super) fn is_due(&self, step: u32, items: usize, draws: usize) -> bool {
        match self {
            AdaptiveProposal::Aobpr(_) => (step - 1).is_multiple_of(aobpr::Lists::steps(items, draws)),
            AdaptiveProposal::Kernel(_) | AdaptiveProposal::AdaSir(_) | AdaptiveProposal::Irgan(_) => step == 1,
        }
    }

    /// Looks at the model.
    pub(super) fn refresh(&mut self, vectors: Vectors, train: &Interactions, seed: u64, epoch: u32) {
        match self {
            AdaptiveProposal::Aobpr(lists) => lists.refresh(vectors),
            AdaptiveProposal::Kernel(tree) => tree.refresh(vectors),
            AdaptiveProposal::AdaSir(pools) => pools.refresh(vectors, train, seed, epoch),
            AdaptiveProposal::Irgan(game) => game.refresh(vectors, train, seed, epoch),
        }
    }

    /// Draws `ids [N]`.
    pub(super) fn draw(&self, train: &Interactions, non_positives: NonPositives, rng: &mut Stream, user: usize, ids: &mut [u32]) {
        match self {
            AdaptiveProposal::Aobpr(lists) => lists.draw(non_positives, rng, user, ids),
            AdaptiveProposal::Kernel(tree) => tree.draw(non_positives, rng, user, ids),
            AdaptiveProposal::AdaSir(pools) => pools.draw(user, rng, ids),
            AdaptiveProposal::Irgan(game) => game.draw(train, user, rng, ids),
        }
    }

    /// The log-probabilities of items; those of the user's as if they were others.
    pub(super) fn log_probabilities(&self, non_positives: NonPositives, user: usize, ids: &[u32], out: &mut [f32]) {
        match self {
            AdaptiveProposal::Aobpr(lists) => lists.log_probabilities(non_positives, user, ids, out),
            AdaptiveProposal::Kernel(tree) => tree.log_probabilities(non_positives, user, ids, out),
            AdaptiveProposal::AdaSir(pools) => pools.log_probabilities(user, ids, out),
            AdaptiveProposal::Irgan(game) => game.log_probabilities(user, ids, out),
        }
    }

    /// The log-probabilities of what a stream drew.
    pub(super) fn log_probabilities_of_draws(
        &self,
        non_positives: NonPositives,
        rng: &mut Stream,
        user: usize,
        ids: &[u32],
        out: &mut [f32],
    ) {
        match self {
            AdaptiveProposal::AdaSir(pools) => pools.log_probabilities_of_draws(user, rng, out),
            AdaptiveProposal::Aobpr(_) | AdaptiveProposal::Kernel(_) | AdaptiveProposal::Irgan(_) => {
                self.log_probabilities(non_positives, user, ids, out)
            }
        }
    }

    /// Whether the proposal's state has its size before the first refresh.
    pub(super) fn is_sized(&self) -> bool {
        matches!(self, AdaptiveProposal::AdaSir(_) | AdaptiveProposal::Irgan(_))
    }

    /// What the next refresh looks back on, by name; `within` an epoch also what is drawn from until then.
    pub(super) fn state(&mut self, within: bool) -> Vec<(String, &mut [f32])> {
        let named = match self {
            AdaptiveProposal::Irgan(game) => return game.state(),
            AdaptiveProposal::AdaSir(pools) => pools.state(),
            AdaptiveProposal::Aobpr(lists) if within => lists.state(),
            AdaptiveProposal::Kernel(tree) if within => tree.state(),
            AdaptiveProposal::Aobpr(_) | AdaptiveProposal::Kernel(_) => return Vec::new(),
        };
        named.map(|(name, values)| (name.to_owned(), values)).into()
    }

    /// Makes what follows from the vectors of the last refresh, which have been put in place.
    pub(super) fn restored(&mut self) {
        match self {
            AdaptiveProposal::AdaSir(_) | AdaptiveProposal::Irgan(_) => {}
            AdaptiveProposal::Aobpr(lists) => lists.sort(),
            AdaptiveProposal::Kernel(tree) => tree.grow(),
        }
    }
}

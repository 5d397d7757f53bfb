//! By personalised PageRank on the graph of users and items: where a walk from the user ends that stops at each step with probability c.
//!
//! ```text
//! pi = c e_u + (1 - c) T' pi       T = D^-1 A of the train interactions
//! q_j ~ pi_j^a                     `proportional`, the default with a = 1
//! q_j ~ e^(pi_j / T)               `temperature`; T = 1 is Eq. 4 of the paper          for j not in P_u
//! ```
//! The paper's Eq. 4 is as good as uniform: `pi` is at most 1 and on real data below 0.01 (the largest of a user's negatives is 0.0006 on
//! Yelp2018 in the middle), so that no item is 1.01 times as likely as another. Its gain over uniform draws must come from something
//! unsaid. The default is `proportional`, which has no scale to choose: it is the distribution of the walk itself, given that it ends on a negative.
//!
//! What is drawn is an approximation of these, and the log-probabilities are those of what is drawn:
//!
//! - `pi` comes from a [forward push](push) with an error of at most `accuracy` times the item's users.
//! - Each user's `neighbours` negatives of the highest `pi` have their own weights. The others share the weight that they have together by
//!   the [base](Base): by train count to the power `a`, or equally for `temperature` ([`distribution`]).
//!
//! A user whose walk comes to no negative draws from the base alone. Items that no user has in train are never drawn by `proportional`.
//! Nothing is refreshed, as the graph does not change. ITEM, Section 3.2, Eq. 4.

use super::{
    Draws, Error, Facts, Pool, Row, SamplerKind, Stream,
    non_positives::NonPositives,
    pool::{PoolKind, PoolSizes, with_train_users},
    proposal::{Proposal, UserItems},
};
use dataset::{Interactions, Location};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

mod base;
mod bytes;
mod distribution;
mod distributions;
mod form;
mod push;
mod row;
#[cfg(test)]
mod tests;

use base::Base;
use distribution::{Distribution, Weigher};
use distributions::Distributions;
pub use form::{Form, Proportional, Temperature};
use push::Push;

/// `ppr` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ppr {
    /// Negatives for each positive.
    pub negatives: u32,
    /// Probability that the walk stops at a step.
    #[serde(default = "restart")]
    pub restart: f64,
    /// The weight of an item by its PageRank.
    #[serde(default)]
    pub form: Form,
    /// Largest error of an item's PageRank for each of its users. The time to prepare is at most in proportion to its inverse.
    #[serde(default = "accuracy")]
    pub accuracy: f64,
    /// Items with a weight of their own, for each user.
    #[serde(default = "neighbours")]
    pub neighbours: u32,
}

/// `ppr` as a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PprPool {
    /// Probability that the walk stops at a step.
    #[serde(default = "restart")]
    pub restart: f64,
    /// The weight of an item by its PageRank.
    #[serde(default)]
    pub form: Form,
    /// Largest error of an item's PageRank for each of its users. The time to prepare is at most in proportion to its inverse.
    #[serde(default = "accuracy")]
    pub accuracy: f64,
    /// Items with a weight of their own, for each user.
    #[serde(default = "neighbours")]
    pub neighbours: u32,
}

/// The paper's.
fn restart() -> f64 {
    0.15
}

/// On graphs of a million interactions about as coarse as what the default number of neighbours leaves out.
fn accuracy() -> f64 {
    1e-6
}

fn neighbours() -> u32 {
    1000
}

impl Ppr {
    /// The pool that it draws from.
    pub fn pool(&self) -> PprPool {
        let Ppr { negatives: _, restart, form, accuracy, neighbours } = *self;
        PprPool { restart, form, accuracy, neighbours }
    }
}

impl SamplerKind for Ppr {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Karmim et al., TMLR 2024 (ITEM), Eq. 4",
            values: "`restart` 0.15; 200 negatives (600 on Amazon-Book)",
            state: "each user's `neighbours`, at most, with weights; made once and kept beside the dataset",
            cost: "O(log P_u) a draw",
        }
    }

    fn draws(&self) -> Draws {
        Draws { pool: Pool::Ppr(self.pool()), count: Some(self.negatives) }
    }
}

impl PoolKind for PprPool {
    fn check(&self) -> Result<(), String> {
        self.form.check()?;
        let PprPool { restart, accuracy, neighbours, .. } = self;
        if !(0.01..=0.99).contains(restart) {
            return Err(format!("restart is {restart}: expected a probability from 0.01 to 0.99"));
        }
        if !(1e-12..=1e-2).contains(accuracy) {
            return Err(format!("accuracy is {accuracy}: expected a number from 1e-12 to 0.01"));
        }
        match *neighbours as usize {
            1..=row::MOST => Ok(()),
            _ => Err(format!("neighbours is {neighbours}: expected a number from 1 to {}", row::MOST)),
        }
    }

    fn drawable(&self, train: &Interactions, items: usize) -> usize {
        match self.form {
            Form::Proportional(_) => with_train_users(train, items),
            Form::Temperature(_) => items,
        }
    }

    fn memory(&self, _draws: u64, PoolSizes { users, items, train, .. }: PoolSizes) -> u64 {
        let [users, items, train] = [users, items, train].map(|count| count as usize);
        self.most_bytes([users, items, train], rayon::current_num_threads()) as u64
    }

    fn prepare(&self, _draws: u32, train: &Interactions, items: usize, cache: Option<&Location>) -> Result<Box<dyn Proposal>, Error> {
        Ok(Box::new(PprProposal::cached(self, train, items, cache)?))
    }
}

impl PprPool {
    /// Most bytes of what is prepared, and of preparing it on so many threads or of its file, whichever is more.
    pub(super) fn most_bytes(&self, [users, items, interactions]: [usize; 3], threads: usize) -> usize {
        let each = items.min(self.neighbours as usize);
        let kept = distributions::most_bytes(users, each, interactions);
        let graph = interactions * 4 + (users + items) * 16 + items * 8;
        let space = threads * 8 * (users + 2 * items);
        let block = BLOCK.min(users) * each * 16;
        kept + Base::most_bytes(items) + kept.max(graph + space + block)
    }
}

/// Users whose distributions are made before they are stored, so that no distribution is stored twice for long.
const BLOCK: usize = 1024;

/// The distributions of all users.
#[derive(Clone, Debug)]
pub(super) struct PprProposal {
    base: Base,
    distributions: Distributions,
}

/// Stands for an id that is still to be drawn from the base.
const OTHER: u32 = u32::MAX;

impl PprProposal {
    /// Prepares the distribution of every user; the same bits for any number of threads.
    pub(super) fn new(settings: &PprPool, train: &Interactions, items: usize) -> Self {
        let users_of = train.transpose(items);
        let degrees = train.item_counts(items);
        let base = Base::new(settings.form, &degrees);
        let push = Push::new(train, &users_of, settings.restart, settings.accuracy);
        let weigher = Weigher { form: settings.form, neighbours: settings.neighbours as usize, base: &base, degrees: &degrees };
        let mut distributions = Distributions::new(train.offsets());
        for first in (0..train.users()).step_by(BLOCK) {
            let users = first as u32..train.users().min(first + BLOCK) as u32;
            for distribution in block(&push, &weigher, train, users) {
                distributions.push(distribution);
            }
        }
        distributions.shrink();
        Self { base, distributions }
    }

    /// Bytes of what it holds for each user.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.distributions.bytes()
    }
}

impl Proposal for PprProposal {
    fn fill(&self, of: UserItems<'_>, _row: Row<'_>, rng: &mut Stream, ids: &mut [u32]) {
        let row = self.distributions.row(of.user);
        for id in ids.iter_mut() {
            let bits = rng.bits();
            *id = if ((bits >> 32) as u32) < row.share { row.item(bits as u32) } else { OTHER };
        }
        let draws = (ids.len() as f64 * (1.0 - row.share())) as usize;
        self.base.fill(of.non_positives(), rng, draws, ids.iter_mut().filter(|id| **id == OTHER));
    }

    fn log_probabilities(&self, of: UserItems<'_>, ids: &[u32], out: &mut [f32]) {
        let (user, non_positives) = (of.user, of.non_positives());
        let (row, own) = (self.distributions.row(user), self.distributions.own(user));
        let rest = (1.0 - row.share()) / self.base.mass(non_positives);
        for (out, &id) in out.iter_mut().zip(ids) {
            *out = match non_positives.positives().binary_search(&id) {
                Ok(at) => own[at],
                Err(_) => (row.share() * row.width(id) + rest * self.base.weight(id)).ln() as f32,
            };
        }
    }
}

/// The distributions of some users, in order.
fn block(push: &Push, weigher: &Weigher, train: &Interactions, users: Range<u32>) -> Vec<Distribution> {
    let items = weigher.degrees.len() as u32;
    let distribution = |space: &mut push::Space, user: u32| {
        let estimate = push.run(user, space);
        weigher.distribution(NonPositives::new(train.row(user as usize), items), &estimate)
    };
    users.into_par_iter().with_min_len(16).map_init(|| push.space(), distribution).collect()
}

//! Where negatives come from. Each sampler states its proposal and returns ids and log-probabilities.

use dataset::Interactions;
use serde::{Deserialize, Serialize};

mod alias;
mod all;
mod complement;
mod distinct;
mod error;
mod popularity;
pub mod stream;
mod uniform;

pub use all::All;
pub use error::Error;
pub use popularity::Popularity;
pub use stream::{Purpose, Stream};
pub use uniform::Uniform;

pub(crate) use distinct::some_of;

use complement::Complement;

/// `samplers` in a sweep file, by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampler {
    /// Every item that is not a train positive of the user.
    All(All),
    /// Uniform over the items that are not train positives of the user.
    Uniform(Uniform),
    /// By the items' train counts.
    Popularity(Popularity),
}

impl Sampler {
    /// Whether the values make sense.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Sampler::All(_) => Ok(()),
            Sampler::Uniform(settings) => check_negatives(settings.negatives),
            Sampler::Popularity(settings) => settings.check(),
        }
    }

    /// Negatives drawn for each positive; `None` when nothing is drawn and every item is scored.
    pub fn negatives(&self) -> Option<usize> {
        match self {
            Sampler::All(_) => None,
            Sampler::Uniform(settings) => Some(settings.negatives as usize),
            Sampler::Popularity(settings) => Some(settings.negatives as usize),
        }
    }
}

/// More negatives for each positive are taken for a slip: their scores would not fit in memory.
const MOST_NEGATIVES: u32 = 1 << 20;

fn check_negatives(negatives: u32) -> Result<(), String> {
    match negatives {
        1..=MOST_NEGATIVES => Ok(()),
        0 => Err("negatives is 0: expected at least 1".to_owned()),
        _ => Err(format!("negatives is {negatives}: expected at most {MOST_NEGATIVES}; the sampler `all` takes every item")),
    }
}

/// A sampler with what it needs of a dataset, ready to draw from any thread.
#[derive(Clone, Debug)]
pub struct Prepared<'a> {
    train: &'a Interactions,
    items: u32,
    proposal: Proposal,
}

#[derive(Clone, Debug)]
enum Proposal {
    All,
    Uniform { replacement: bool },
    Popularity(popularity::Proposal),
}

impl<'a> Prepared<'a> {
    /// Prepares to draw negatives for the users of `train`, who may be given any of `items` items but their own.
    ///
    /// # Errors
    /// When a user with train items has no possible negative, or fewer than are drawn without replacement.
    pub fn new(sampler: &Sampler, train: &'a Interactions, items: usize) -> Result<Self, Error> {
        let (proposal, drawable) = match sampler {
            Sampler::All(_) => (Proposal::All, items),
            Sampler::Uniform(settings) => (Proposal::Uniform { replacement: settings.replacement }, items),
            Sampler::Popularity(settings) => {
                let proposal = popularity::Proposal::new(&train.item_counts(items), settings.exponent);
                let drawable = proposal.drawable();
                (Proposal::Popularity(proposal), drawable)
            }
        };
        let distinct = match sampler {
            Sampler::Uniform(Uniform { negatives, replacement: false }) => *negatives as usize,
            _ => 1,
        };
        check_users(train, items, drawable, distinct)?;
        let items = u32::try_from(items).expect("ids of items are u32");
        Ok(Self { train, items, proposal })
    }

    /// Draws the negatives of one row: `ids [N]`, and the log-probability of each draw, `[N]`, when asked for.
    ///
    /// The numbers depend on the stream alone. The sampler `all` draws nothing and leaves both as they are.
    pub fn draw(&self, rng: &mut Stream, user: u32, ids: &mut [u32], log_probabilities: Option<&mut [f32]>) {
        let complement = Complement::new(self.train.row(user as usize), self.items);
        match &self.proposal {
            Proposal::All => {}
            Proposal::Uniform { replacement } => uniform::draw(complement, *replacement, rng, ids, log_probabilities),
            Proposal::Popularity(proposal) => proposal.draw(complement, rng, ids, log_probabilities),
        }
    }

    /// Those of several items, in the order of `ids`.
    pub(crate) fn log_probabilities(&self, user: u32, ids: &[u32], out: &mut [f32]) {
        let complement = Complement::new(self.train.row(user as usize), self.items);
        match &self.proposal {
            Proposal::Popularity(proposal) => proposal.log_probabilities(complement, ids, out),
            _ => out.iter_mut().zip(ids).for_each(|(out, &id)| *out = self.log_probability(user, id)),
        }
    }

    /// The log-probability of any item at one draw for the user. That of a train item of the user, which is never drawn, is the one it
    /// would have as another item: its weight over that of the possible negatives. The sampler `all` takes every item, which is 0.
    pub fn log_probability(&self, user: u32, item: u32) -> f32 {
        let complement = Complement::new(self.train.row(user as usize), self.items);
        match &self.proposal {
            Proposal::All => 0.0,
            Proposal::Uniform { .. } => uniform::log_probability(complement),
            Proposal::Popularity(proposal) => proposal.log_probability(complement, item),
        }
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

#[cfg(test)]
mod tests;

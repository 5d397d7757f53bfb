//! Where negatives come from: a pool of candidates, and for hard samplers a rule on their scores.
//!
//! The pool states its proposal and returns ids and log-probabilities. The rule keeps some of the candidates, or weighs them.

use serde::{Deserialize, Serialize};

mod alias;
mod all;
mod complement;
mod distinct;
mod error;
mod in_batch;
mod pool;
mod popularity;
mod ppr;
mod prepared;
pub(crate) mod rule;
pub mod stream;
mod uniform;

pub use all::All;
pub use error::Error;
pub use in_batch::InBatch;
pub use pool::{InBatchPool, Pool, PopularityPool, UniformPool};
pub use popularity::Popularity;
pub use ppr::{Form, Ppr, PprPool, Proportional, Temperature};
pub use prepared::{Prepared, Row};
pub use rule::{Choice, Dns, DnsMn, Pris, Rule, Softmax, SoftmaxV, Variance, Warp};
pub use stream::{Purpose, Stream};
pub use uniform::Uniform;

pub(crate) use distinct::some_of;

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
    /// The positives of the batch's other rows.
    InBatch(InBatch),
    /// By personalised PageRank.
    Ppr(Ppr),
    /// The candidate of the highest score (DNS).
    Dns(Dns),
    /// The M candidates of the highest scores (DNS(M, N)).
    DnsMn(DnsMn),
    /// By the softmax of the candidates' scores.
    Softmax(Softmax),
    /// By the softmax of the candidates' losses, its temperature set by their variance (Softmax-v).
    SoftmaxV(SoftmaxV),
    /// By the softmax of the candidates' scores, corrected for how they are drawn (PRIS).
    Pris(Pris),
    /// The first candidate that violates the margin (WARP).
    Warp(Warp),
}

impl Sampler {
    /// Whether the values make sense.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let (pool, count) = self.draws();
        pool.check(self.count_key(), count)?;
        match self {
            Sampler::All(_) | Sampler::Uniform(_) | Sampler::Popularity(_) | Sampler::InBatch(_) | Sampler::Ppr(_) => Ok(()),
            Sampler::Dns(_) | Sampler::Pris(_) => Ok(()),
            Sampler::DnsMn(settings) => settings.check(),
            Sampler::Softmax(settings) => settings.check(),
            Sampler::SoftmaxV(settings) => settings.check(),
            Sampler::Warp(settings) => settings.check(),
        }
    }

    /// Whether the values fit batches of so many pairs.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    pub fn check_batch(&self, batch_size: u32) -> Result<(), String> {
        let (pool, count) = self.draws();
        pool.check_batch(self.count_key(), count, batch_size)
    }

    /// The pool, and how many candidates are drawn from it where a number is given.
    pub(crate) fn draws(&self) -> (Pool, Option<u32>) {
        match self {
            Sampler::All(settings) => (Pool::All(settings.clone()), None),
            Sampler::Uniform(Uniform { negatives, replacement }) => {
                (Pool::Uniform(UniformPool { replacement: *replacement }), Some(*negatives))
            }
            Sampler::Popularity(Popularity { negatives, exponent }) => {
                (Pool::Popularity(PopularityPool { exponent: *exponent }), Some(*negatives))
            }
            Sampler::InBatch(settings) => (Pool::InBatch(InBatchPool {}), settings.negatives),
            Sampler::Ppr(settings) => (Pool::Ppr(settings.pool()), Some(settings.negatives)),
            Sampler::Dns(settings) => (settings.pool.clone(), settings.candidates),
            Sampler::DnsMn(settings) => (settings.pool.clone(), settings.candidates),
            Sampler::Softmax(settings) => (settings.pool.clone(), settings.candidates),
            Sampler::SoftmaxV(settings) => (settings.pool.clone(), settings.candidates),
            Sampler::Pris(settings) => (settings.pool.clone(), settings.candidates),
            Sampler::Warp(settings) => (Pool::default(), Some(settings.candidates)),
        }
    }

    /// What the number of candidates is called: they are the negatives where there is no rule.
    fn count_key(&self) -> &'static str {
        match self {
            Sampler::All(_) | Sampler::Uniform(_) | Sampler::Popularity(_) | Sampler::InBatch(_) | Sampler::Ppr(_) => "negatives",
            _ => "candidates",
        }
    }

    /// Items that are drawn and scored for each positive; `None` when nothing is drawn and every item is scored.
    pub fn candidates(&self, batch_size: u32) -> Option<usize> {
        let (pool, count) = self.draws();
        pool.width(count, batch_size)
    }

    /// Most bytes of a pool that grows with the interactions.
    pub(crate) fn memory(&self, users: usize, items: usize, interactions: usize) -> usize {
        match self.draws().0 {
            Pool::Ppr(settings) => settings.memory(users, items, interactions, rayon::current_num_threads()),
            _ => 0,
        }
    }

    /// Negatives that the loss sees of each positive; `None` when it sees every item.
    pub fn negatives(&self, batch_size: u32) -> Option<usize> {
        let candidates = self.candidates(batch_size);
        match self.rule(0) {
            None => candidates,
            Some(rule) => rule.subset().map(|chosen| chosen.min(candidates.unwrap_or(chosen))).or(candidates),
        }
    }

    /// Why the rows of a batch must be pairs, for samplers that cannot have users with lists of positives.
    pub fn needs_pairs(&self) -> Option<&'static str> {
        match (self.draws().0, self.rule(0)) {
            (Pool::InBatch(_), _) => Some("in-batch negatives are the positives of pairs"),
            (_, Some(rule)) if rule.needs_positive() => Some("its rule looks at the score of one positive"),
            _ => None,
        }
    }

    /// What is done with the candidates' scores, in a catalogue of so many items; `None` where all candidates are negatives.
    pub fn rule(&self, items: usize) -> Option<Rule> {
        match self {
            Sampler::All(_) | Sampler::Uniform(_) | Sampler::Popularity(_) | Sampler::InBatch(_) | Sampler::Ppr(_) => None,
            Sampler::Dns(_) => Some(Rule::Dns),
            Sampler::DnsMn(settings) => Some(Rule::DnsMn(settings.rule())),
            Sampler::Softmax(settings) => Some(Rule::Softmax(settings.rule())),
            Sampler::SoftmaxV(settings) => Some(Rule::SoftmaxV(settings.rule())),
            Sampler::Pris(_) => Some(Rule::Pris),
            Sampler::Warp(settings) => Some(Rule::Warp(settings.rule(items))),
        }
    }
}

/// More negatives for each positive are taken for a slip: their scores would not fit in memory.
const MOST_NEGATIVES: u32 = 1 << 20;

fn check_negatives(key: &str, negatives: u32) -> Result<(), String> {
    match negatives {
        1..=MOST_NEGATIVES => Ok(()),
        0 => Err(format!("{key} is 0: expected at least 1")),
        _ => Err(format!("{key} is {negatives}: expected at most {MOST_NEGATIVES}; `all` takes every item")),
    }
}

#[cfg(test)]
mod tests;

//! Where negatives come from: a pool of candidates, and for hard samplers a rule on their scores.
//!
//! The pool states its proposal and returns ids and log-probabilities. The rule keeps some of the candidates, or weighs them.

use serde::{Deserialize, Serialize};

mod alias;
mod all;
mod complement;
mod cumulative;
mod distinct;
mod error;
mod facts;
mod in_batch;
mod live;
mod mix_gcf;
mod order;
mod pool;
mod popularity;
mod ppr;
mod prepared;
pub(crate) mod rule;
pub mod stream;
mod uniform;

pub use all::All;
pub use error::Error;
pub use facts::Facts;
pub use in_batch::InBatch;
pub use live::{AdaSir, AdaSirPool, Aobpr, AobprPool, Irgan, IrganPool, Kernel, KernelPool, Weights};
pub use mix_gcf::MixGcf;
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
    /// Items that stand high in a factor that matters to the user (AOBPR).
    Aobpr(Aobpr),
    /// By the square of the score, from a tree (kernel-based sampling).
    Kernel(Kernel),
    /// Items that the model resampled for each user (AdaSIR).
    AdaSir(AdaSir),
    /// By a second model that learns to draw what the first takes for positives (IRGAN).
    Irgan(Irgan),
    /// Put together from the layers of several candidates and the positive (MixGCF).
    MixGcf(MixGcf),
}

impl Sampler {
    /// Whether the values make sense.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    pub fn check(&self) -> Result<(), String> {
        self.check_own()?;
        let (pool, count) = self.draws();
        pool.check(self.count_key(), count)?;
        if count.is_none() && !matches!(pool, Pool::All(_) | Pool::InBatch(_)) {
            let (kind, key) = (crate::trial::kind(self), self.count_key());
            return Err(format!("the sampler `{kind}` draws from its pool, and how many is missing: give `{key}`"));
        }
        Ok(())
    }

    /// The values beside the pool and how many are drawn from it.
    fn check_own(&self) -> Result<(), String> {
        match self {
            Sampler::All(_) | Sampler::Uniform(_) | Sampler::Popularity(_) | Sampler::InBatch(_) | Sampler::Ppr(_) => Ok(()),
            Sampler::Dns(_) | Sampler::Pris(_) => Ok(()),
            Sampler::DnsMn(settings) => settings.check(),
            Sampler::Softmax(settings) => settings.check(),
            Sampler::SoftmaxV(settings) => settings.check(),
            Sampler::Warp(settings) => settings.check(),
            Sampler::AdaSir(settings) => settings.check(),
            Sampler::MixGcf(settings) => settings.check(),
            Sampler::Aobpr(_) | Sampler::Kernel(_) | Sampler::Irgan(_) => Ok(()),
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
            Sampler::Popularity(Popularity { negatives, exponent, logarithm }) => {
                (Pool::Popularity(PopularityPool { exponent: *exponent, logarithm: *logarithm }), Some(*negatives))
            }
            Sampler::InBatch(settings) => (Pool::InBatch(InBatchPool {}), settings.negatives),
            Sampler::Ppr(settings) => (Pool::Ppr(settings.pool()), Some(settings.negatives)),
            Sampler::Dns(settings) => (settings.pool.clone(), settings.candidates),
            Sampler::DnsMn(settings) => (settings.pool.clone(), settings.candidates),
            Sampler::Softmax(settings) => (settings.pool.clone(), settings.candidates),
            Sampler::SoftmaxV(settings) => (settings.pool.clone(), settings.candidates),
            Sampler::Pris(settings) => (settings.pool.clone(), settings.candidates),
            Sampler::Warp(settings) => (Pool::default(), Some(settings.candidates)),
            Sampler::Aobpr(settings) => (Pool::Aobpr(AobprPool { scale: settings.scale }), Some(settings.negatives)),
            Sampler::Kernel(settings) => (Pool::Kernel(KernelPool { curvature: settings.curvature }), Some(settings.negatives)),
            Sampler::AdaSir(settings) => (Pool::AdaSir(settings.pool()), Some(settings.negatives)),
            Sampler::Irgan(settings) => (Pool::Irgan(settings.pool()), Some(settings.negatives)),
            Sampler::MixGcf(settings) => (settings.pool.clone(), Some(settings.drawn())),
        }
    }

    /// What the number of candidates is called: they are the negatives where none is left aside.
    fn count_key(&self) -> &'static str {
        match self {
            Sampler::Dns(_) | Sampler::DnsMn(_) | Sampler::Softmax(_) | Sampler::SoftmaxV(_) | Sampler::Pris(_) | Sampler::Warp(_) => {
                "candidates"
            }
            _ => "negatives",
        }
    }

    /// Items that are drawn and scored for each positive; `None` when nothing is drawn and every item is scored.
    pub fn candidates(&self, batch_size: u32) -> Option<usize> {
        let (pool, count) = self.draws();
        pool.width(count, batch_size)
    }

    /// Negatives that the loss sees of each positive; `None` when it sees every item.
    pub fn negatives(&self, batch_size: u32) -> Option<usize> {
        let candidates = self.candidates(batch_size);
        match (self, self.rule(0)) {
            (Sampler::MixGcf(settings), _) => Some(settings.negatives as usize),
            (_, None) => candidates,
            (_, Some(rule)) => rule.subset().map(|chosen| chosen.min(candidates.unwrap_or(chosen))).or(candidates),
        }
    }

    /// Whether it looks at vectors, and not only those of what is drawn and scored.
    pub(crate) fn needs_tables(&self) -> bool {
        self.mixes() || matches!(self.draws().0, Pool::Aobpr(_) | Pool::Kernel(_) | Pool::AdaSir(_) | Pool::Irgan(_))
    }

    /// Whether its negatives are mixed from the vectors of what is drawn.
    pub(crate) fn mixes(&self) -> bool {
        matches!(self, Sampler::MixGcf(_))
    }

    /// Bytes that it keeps beside what a step draws, in a training of so many train pairs and of vectors of `dim` factors.
    pub(crate) fn memory(&self, [users, items, train, dim]: [u64; 4]) -> u64 {
        let (pool, draws) = self.draws();
        match &pool {
            Pool::InBatch(_) => train * 4,
            Pool::Ppr(settings) => {
                let [users, items, train] = [users, items, train].map(|count| count as usize);
                settings.memory(users, items, train, rayon::current_num_threads()) as u64
            }
            _ => live::Live::memory(&pool, u64::from(draws.unwrap_or(0)), [users, items, train, dim]),
        }
    }

    /// Why the rows of a batch must be pairs, for samplers that cannot have users with lists of positives.
    pub fn needs_pairs(&self) -> Option<&'static str> {
        match (self.draws().0, self.rule(0)) {
            _ if self.mixes() => Some("it mixes negatives with one positive"),
            (Pool::InBatch(_), _) => Some("in-batch negatives are the positives of pairs"),
            (_, Some(rule)) if rule.needs_positive() => Some("its rule looks at the score of one positive"),
            _ => None,
        }
    }

    /// What is done with the candidates' scores, in a catalogue of so many items; `None` where all candidates are negatives.
    pub fn rule(&self, items: usize) -> Option<Rule> {
        match self {
            Sampler::All(_) | Sampler::Uniform(_) | Sampler::Popularity(_) | Sampler::InBatch(_) | Sampler::Ppr(_) => None,
            Sampler::Aobpr(_) | Sampler::Kernel(_) | Sampler::Irgan(_) | Sampler::MixGcf(_) => None,
            Sampler::AdaSir(settings) => settings.rule(),
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

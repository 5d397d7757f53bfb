//! Where negatives come from: a pool of candidates, and for hard samplers a rule on their scores.
//!
//! The pool states its proposal and returns ids and log-probabilities. The rule keeps some of the candidates, or weighs them.

use serde::{Deserialize, Serialize};
use std::ops::Deref;
use streams::Stream;

mod adaptive;
mod all;
mod cumulative;
mod distinct;
mod error;
mod facts;
mod in_batch;
mod kind;
mod mix_gcf;
mod non_positives;
mod order;
mod pool;
mod popularity;
mod ppr;
mod prepared;
pub mod rule;
mod uniform;

pub use adaptive::{AdaSir, AdaSirPool, Aobpr, AobprPool, Irgan, IrganPool, Kernel, KernelPool, Weights};
pub use all::{All, Exclude};
pub use error::Error;
pub use facts::Facts;
pub use in_batch::InBatch;
pub use kind::SamplerKind;
pub use mix_gcf::MixGcf;
pub use pool::{InBatchPool, Pool, PopularityPool, UniformPool};
pub use popularity::Popularity;
pub use ppr::{Form, Ppr, PprPool, Proportional, Temperature};
pub use prepared::{Prepared, Row};
pub use rule::{Choice, Dns, DnsMn, Pris, Rule, Softmax, SoftmaxV, Variance, Warp};
pub use uniform::Uniform;

pub use distinct::some_of;
pub use popularity::check_exponent;

/// Makes the enum of all samplers. A line is a sampler: its words, and its settings, whose name in kebab-case is the `kind` of sweep files.
macro_rules! samplers {
    ($($(#[$words:meta])* $kind:ident,)+) => {
        /// `samplers` in a sweep file, by `kind`. What can be asked of a sampler is [`SamplerKind`].
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Sampler {
            $($(#[$words])* $kind($kind),)+
        }

        impl Deref for Sampler {
            type Target = dyn SamplerKind;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Sampler::$kind(settings) => settings,)+
                }
            }
        }
    };
}

samplers! {
    /// Every item that is not a train positive of the user, or of the row.
    All,
    /// Uniform over the items that are not train positives of the user.
    Uniform,
    /// By the items' train counts.
    Popularity,
    /// The positives of the batch's other rows.
    InBatch,
    /// By personalised PageRank.
    Ppr,
    /// The candidate of the highest score (DNS).
    Dns,
    /// The M candidates of the highest scores (DNS(M, N)).
    DnsMn,
    /// By the softmax of the candidates' scores.
    Softmax,
    /// By the softmax of the candidates' losses, its temperature set by their variance (Softmax-v).
    SoftmaxV,
    /// By the softmax of the candidates' scores, corrected for how they are drawn (PRIS).
    Pris,
    /// The first candidate that violates the margin (WARP).
    Warp,
    /// Items that stand high in a factor that matters to the user (AOBPR).
    Aobpr,
    /// By the square of the score, from a tree (kernel-based sampling).
    Kernel,
    /// Items that the model resampled for each user (AdaSIR).
    AdaSir,
    /// By a second model that learns to draw what the first takes for positives (IRGAN).
    Irgan,
    /// Put together from the layers of several candidates and the positive (MixGCF).
    MixGcf,
}

impl Sampler {
    /// Whether the values make sense.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    pub fn check(&self) -> Result<(), String> {
        self.check_values()?;
        let (pool, count) = self.draws();
        pool.check(self.count_key(), count)?;
        if count.is_none() && !matches!(pool, Pool::All(_) | Pool::InBatch(_)) {
            let (kind, key) = (dataset::quote::kind(self), self.count_key());
            return Err(format!("the sampler `{kind}` draws from its pool, and how many is missing: give `{key}`"));
        }
        Ok(())
    }

    /// Whether the values fit batches of so many pairs.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    pub fn check_batch(&self, batch_size: u32) -> Result<(), String> {
        let (pool, count) = self.draws();
        pool.check_batch(self.count_key(), count, batch_size)
    }

    /// Items that are drawn and scored for each positive; `None` when nothing is drawn and every item is scored.
    pub fn candidates(&self, batch_size: u32) -> Option<usize> {
        let (pool, count) = self.draws();
        pool.width(count, batch_size)
    }

    /// Whether the sampler does something with the candidates' scores or vectors.
    pub fn looks_at_scores(&self) -> bool {
        self.mixed().is_some() || self.rule(0).is_some()
    }

    /// Negatives that the loss sees of each positive; `None` when it sees every item.
    pub fn negatives(&self, batch_size: u32) -> Option<usize> {
        let candidates = self.candidates(batch_size);
        match (self.mixed(), self.rule(0)) {
            (Some(mixed), _) => Some(mixed),
            (_, None) => candidates,
            (_, Some(rule)) => rule.subset().map(|chosen| chosen.min(candidates.unwrap_or(chosen))).or(candidates),
        }
    }

    /// What is no negative where every item is scored.
    pub fn exclude(&self) -> Exclude {
        if let Pool::All(All { exclude }) = self.draws().0 { exclude } else { Exclude::Train }
    }

    /// Whether the sampler looks at vectors, and not only those of what is drawn and scored.
    pub fn needs_tables(&self) -> bool {
        self.mixes() || matches!(self.draws().0, Pool::Aobpr(_) | Pool::Kernel(_) | Pool::AdaSir(_) | Pool::Irgan(_))
    }

    /// Whether the sampler's negatives are mixed from the vectors of what is drawn.
    pub fn mixes(&self) -> bool {
        self.mixed().is_some()
    }

    /// Bytes that it keeps beside what a step draws, in a training of so many train pairs and of vectors of `dim` factors.
    pub fn memory(&self, [users, items, train, dim]: [u64; 4]) -> u64 {
        let (pool, draws) = self.draws();
        match &pool {
            Pool::InBatch(_) => train * 4,
            Pool::Ppr(settings) => {
                let [users, items, train] = [users, items, train].map(|count| count as usize);
                settings.memory(users, items, train, rayon::current_num_threads()) as u64
            }
            _ => adaptive::AdaptiveProposal::memory(&pool, u64::from(draws.unwrap_or(0)), [users, items, train, dim]),
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
pub mod tests;

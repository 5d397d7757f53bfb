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
mod exclude;
mod facts;
mod hard;
mod in_batch;
mod kind;
mod mix_gcf;
mod non_positives;
mod order;
mod pool;
mod popularity;
mod ppr;
mod prepared;
mod proposal;
mod row;
mod rule;
mod uniform;

pub use adaptive::{AdaSir, AdaSirPool, Aobpr, AobprPool, Irgan, IrganPool, Kernel, KernelPool, Weights};
pub use all::All;
pub use error::Error;
pub use exclude::Exclude;
pub use facts::Facts;
pub use hard::{Dns, DnsMn, Pris, Softmax, SoftmaxV, Variance, Warp};
pub use in_batch::{InBatch, InBatchPool};
pub use kind::{Draws, SamplerKind};
pub use mix_gcf::MixGcf;
pub use pool::PoolSizes;
pub use popularity::{Popularity, PopularityPool};
pub use ppr::{Form, Ppr, PprPool, Proportional, Temperature};
pub use prepared::Prepared;
pub use row::Row;
pub use rule::{Choice, RowScores, Rule};
pub use uniform::{Uniform, UniformPool};

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

/// Makes the enum of all pools. A line is a pool: its words, its name, which in kebab-case is the `kind` of sweep files, and its settings.
macro_rules! pools {
    ($($(#[$words:meta])* $kind:ident($settings:ident),)+) => {
        /// `pool` of a hard sampler in a sweep file, by `kind`: where the candidates come from whose scores its rule looks at. The kinds are the
        /// samplers that look at no score, without how many they draw: that is the hard sampler's `candidates`.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Pool {
            $($(#[$words])* $kind($settings),)+
        }

        impl Pool {
            pub(crate) fn kind(&self) -> &dyn pool::PoolKind {
                match self {
                    $(Pool::$kind(settings) => settings,)+
                }
            }
        }
    };
}

pools! {
    /// Every item that is not a train positive of the user, or of the row: nothing is drawn, and all are scored.
    All(All),
    /// Uniform over the items that are not train positives of the user.
    Uniform(UniformPool),
    /// By the items' train counts.
    Popularity(PopularityPool),
    /// The positives of the batch's other rows.
    InBatch(InBatchPool),
    /// By personalised PageRank.
    Ppr(PprPool),
    /// Items that stand high in a factor that matters to the user.
    Aobpr(AobprPool),
    /// By the square of the score.
    Kernel(KernelPool),
    /// Items that the model resampled for each user.
    AdaSir(AdaSirPool),
    /// By a second model that learns to draw what the first takes for positives.
    Irgan(IrganPool),
}

impl Default for Pool {
    fn default() -> Self {
        Self::Uniform(UniformPool { replacement: true })
    }
}

impl Sampler {
    /// Whether the values make sense.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    pub fn check(&self) -> Result<(), String> {
        self.check_values()?;
        let Draws { pool, count } = self.draws();
        pool.check(self.count_key(), count)?;
        if count.is_none() && pool.kind().takes_every_item().is_none() && !pool.kind().is_in_batch() {
            let (kind, key) = (dataset::quote::kind(self), self.count_key());
            return Err(format!("the sampler `{kind}` draws from its pool, and how many is missing: give `{key}`"));
        }
        let corrects = !self.takes_pool_weights() && self.rule(0).is_some_and(|rule| rule.needs_log_probabilities());
        match pool.kind().lacks_probabilities().filter(|_| corrects) {
            Some(reason) => Err(format!(
                "pool: `{}` {reason}, and the sampler `{}` corrects by these: take another pool",
                dataset::quote::kind(&pool),
                dataset::quote::kind(self)
            )),
            None => Ok(()),
        }
    }

    /// Why the probabilities of its pool's draws are not known, in words that follow "the sampler"; `None` where they are.
    pub fn lacks_probabilities(&self) -> Option<&'static str> {
        self.draws().pool.kind().lacks_probabilities()
    }

    /// Whether the values fit batches of so many pairs.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    pub fn check_batch(&self, batch_size: u32) -> Result<(), String> {
        let Draws { pool, count } = self.draws();
        pool.check_batch(self.count_key(), count, batch_size)
    }

    /// Items that are drawn and scored for each positive; `None` when nothing is drawn and every item is scored.
    pub fn candidates(&self, batch_size: u32) -> Option<usize> {
        let Draws { pool, count } = self.draws();
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
        self.draws().pool.kind().takes_every_item().unwrap_or_default()
    }

    /// Whether the sampler looks at vectors, and not only those of what is drawn and scored.
    pub fn needs_tables(&self) -> bool {
        self.mixes() || self.draws().pool.kind().looks_at_model()
    }

    /// Whether the sampler's negatives are mixed from the vectors of what is drawn.
    pub fn mixes(&self) -> bool {
        self.mixed().is_some()
    }

    /// Bytes that it keeps beside what a step draws, in a training of such sizes.
    pub fn memory(&self, sizes: PoolSizes) -> u64 {
        let Draws { pool, count } = self.draws();
        pool.kind().memory(u64::from(count.unwrap_or(0)), sizes)
    }

    /// Raised when a trial with it, or with its pool, would give other numbers than before, and one without it would not: its own
    /// [revision](SamplerKind::revision) and that of its pool together.
    pub fn revision(&self) -> u32 {
        self.deref().revision() + self.draws().pool.kind().revision()
    }

    /// Whether negatives are the positives of the batch's other rows.
    pub fn draws_in_batch(&self) -> bool {
        self.draws().pool.kind().is_in_batch()
    }

    /// What it does for which there is no kernel on a GPU, in words that follow "the sampler"; `None` where it has all.
    pub fn lacks_kernel(&self) -> Option<&'static str> {
        match (self.mixes(), self.rule(0)) {
            (true, _) => Some("mixes negatives from vectors"),
            (false, Some(_)) => Some("chooses among its candidates by their scores"),
            (false, None) => self.draws().pool.kind().lacks_kernel(),
        }
    }

    /// Why the rows of a batch must be pairs, for samplers that cannot have users with lists of positives.
    pub fn needs_pairs(&self) -> Option<&'static str> {
        match (self.draws().pool, self.rule(0)) {
            _ if self.mixes() => Some("it mixes negatives with one positive"),
            (pool, _) if pool.kind().is_in_batch() => Some("in-batch negatives are the positives of pairs"),
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

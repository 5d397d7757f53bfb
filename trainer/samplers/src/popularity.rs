//! By the items' train counts to a power.
//!
//! ```text
//! q_j = c_j^a / sum_k c_k^a   over the items k not in P_u
//! ```
//! `a` is 1 unless given; word2vec's is 0.75. With `logarithm` the place of c is taken by `log(1 + c)`, as in the releases of PRIS and
//! AdaSIR. Releases draw the user's positives too; here positives are left out and `q` is renormalised. Items that no user has in train
//! are never drawn, whatever the exponent.

use super::{
    Draws, Error, Facts, Pool, Row, SamplerKind, Stream,
    cumulative::Cumulative,
    non_positives::{NonPositives, with_test},
    pool::{PoolKind, with_train_users},
    proposal::{Proposal, UserItems},
};
use dataset::{Interactions, Location};
use serde::{Deserialize, Serialize};
use streams::Alias;

/// `popularity` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Popularity {
    /// Negatives for each positive.
    pub negatives: u32,
    /// Power of the train counts.
    #[serde(default = "one")]
    pub exponent: f64,
    /// Whether `log(1 + count)` stands in the place of the count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub logarithm: bool,
}

impl SamplerKind for Popularity {
    fn facts(&self) -> Facts {
        Facts { paper: "–", values: "word2vec: `exponent` 0.75", state: "an alias table of n items", cost: "O(log P_u) a draw" }
    }

    fn draws(&self) -> Draws {
        Draws { pool: Pool::Popularity(PopularityPool { exponent: self.exponent, logarithm: self.logarithm }), count: Some(self.negatives) }
    }
}

/// `popularity` as a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PopularityPool {
    /// Power of the train counts.
    #[serde(default = "one")]
    pub exponent: f64,
    /// Whether `log(1 + count)` stands in the place of the count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub logarithm: bool,
}

impl PoolKind for PopularityPool {
    fn check(&self) -> Result<(), String> {
        check_exponent(self.exponent)
    }

    fn lacks_kernel(&self) -> Option<&'static str> {
        None
    }

    fn drawable(&self, train: &Interactions, items: usize) -> usize {
        with_train_users(train, items)
    }

    fn prepare(&self, _draws: u32, train: &Interactions, items: usize, _cache: Option<&Location>) -> Result<Box<dyn Proposal>, Error> {
        Ok(Box::new(PopularityProposal::new(&train.item_counts(items), self.exponent, self.logarithm)))
    }
}

pub(super) fn one() -> f64 {
    1.0
}

/// Whether counts can be raised to this power.
///
/// # Errors
/// A sentence that names the key.
pub fn check_exponent(exponent: f64) -> Result<(), String> {
    match exponent {
        exponent if (0.0..=10.0).contains(&exponent) => Ok(()),
        exponent => Err(format!("exponent is {exponent}: expected a number from 0 to 10")),
    }
}

/// Draws of the whole catalogue's proposal that are tried before the user's own is made.
const TRIALS: usize = 64;

/// The proposal over the whole catalogue.
#[derive(Clone, Debug)]
pub(super) struct PopularityProposal {
    weights: Vec<f64>,
    total: f64,
    alias: Alias,
}

impl PopularityProposal {
    pub(super) fn new(counts: &[u32], exponent: f64, logarithm: bool) -> Self {
        let base = |count: u32| if logarithm { f64::from(count).ln_1p() } else { f64::from(count) };
        let weights: Vec<f64> = counts.iter().map(|&count| if count == 0 { 0.0 } else { base(count).powf(exponent) }).collect();
        Self { total: weights.iter().sum(), alias: Alias::new(&weights), weights }
    }

    /// The probability of each item for a user without train items.
    #[cfg(test)]
    pub(super) fn probabilities(&self) -> Vec<f64> {
        self.alias.probabilities()
    }

    /// Draws some ids, about as many as `draws`.
    pub(super) fn draw<'i>(&self, non_positives: NonPositives, rng: &mut Stream, draws: usize, ids: impl Iterator<Item = &'i mut u32>) {
        let mut exact = None;
        let mut exactly = |rng: &mut Stream| {
            let exact = exact.get_or_insert_with(|| Cumulative::of_non_positives(self.weights.clone(), non_positives));
            exact.draw(rng) as u32
        };
        with_test!(non_positives.test(draws), test => ids.for_each(|id| {
            let tried = (0..TRIALS).map(|_| self.alias.draw(rng)).find(|&item| test.contains(item));
            *id = tried.unwrap_or_else(|| exactly(rng));
        }));
    }

    /// The weight of an item.
    pub(super) fn weight(&self, item: u32) -> f64 {
        self.weights[item as usize]
    }

    /// Bytes it holds for so many items.
    pub(super) fn bytes(items: usize) -> usize {
        items * (size_of::<f64>() + Alias::BYTES)
    }

    /// The weight of all of them.
    pub(super) fn mass(&self, non_positives: NonPositives) -> f64 {
        let positives: f64 = non_positives.positives().iter().map(|&item| self.weights[item as usize]).sum();
        if positives < self.total / 2.0 {
            return self.total - positives;
        }
        (0..non_positives.len()).map(|rank| self.weights[non_positives.nth(rank) as usize]).sum() // no cancellation
    }
}

impl Proposal for PopularityProposal {
    fn fill(&self, of: UserItems<'_>, _row: Row<'_>, rng: &mut Stream, ids: &mut [u32]) {
        self.draw(of.non_positives(), rng, ids.len(), ids.iter_mut());
    }

    fn log_probabilities(&self, of: UserItems<'_>, ids: &[u32], out: &mut [f32]) {
        let log_mass = self.mass(of.non_positives()).ln();
        for (out, &id) in out.iter_mut().zip(ids) {
            *out = (self.weights[id as usize].ln() - log_mass) as f32;
        }
    }

    fn alias_table(&self) -> Option<(Vec<[u32; 2]>, &[f64])> {
        Some((self.alias.columns(), &self.weights))
    }
}

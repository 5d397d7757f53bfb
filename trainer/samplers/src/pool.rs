//! `pool` of a hard sampler: where the candidates come from whose scores its rule looks at.
//!
//! The kinds are the samplers that look at no score, without how many they draw: that is the hard sampler's `candidates`.

use super::{AdaSirPool, All, AobprPool, IrganPool, KernelPool, PprPool, check_negatives, popularity};
use serde::{Deserialize, Serialize};

/// `pool` in a sweep file, by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
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

/// `uniform` as a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformPool {
    /// Whether the same item may be a candidate twice.
    #[serde(default = "super::uniform::with_replacement")]
    pub replacement: bool,
}

/// `popularity` as a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PopularityPool {
    /// Power of the train counts.
    #[serde(default = "super::popularity::one")]
    pub exponent: f64,
    /// Whether `log(1 + count)` stands in the place of the count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub logarithm: bool,
}

/// `in-batch` as a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InBatchPool {}

impl Default for Pool {
    fn default() -> Self {
        Self::Uniform(UniformPool { replacement: true })
    }
}

impl Pool {
    /// Whether the values make sense, with how many candidates are drawn where that is given.
    pub(super) fn check(&self, key: &str, count: Option<u32>) -> Result<(), String> {
        match self {
            Pool::All(_) | Pool::Uniform(_) | Pool::InBatch(_) => {}
            Pool::Popularity(settings) => popularity::check_exponent(settings.exponent)?,
            Pool::Ppr(settings) => settings.check()?,
            Pool::Aobpr(settings) => settings.check()?,
            Pool::Kernel(settings) => settings.check()?,
            Pool::AdaSir(settings) => settings.check()?,
            Pool::Irgan(settings) => settings.check()?,
        }
        match (self, count) {
            (_, None) => Ok(()), // Sampler::check says who must give it
            (Pool::All(_), Some(count)) => Err(format!("{key} is {count}, but the pool `all` takes every item: leave `{key}` out")),
            (_, Some(count)) => check_negatives(key, count),
        }
    }

    /// Whether the values make sense for batches of this size, with how many candidates are drawn where that is given.
    pub(super) fn check_batch(&self, key: &str, count: Option<u32>, batch_size: u32) -> Result<(), String> {
        match (self, count) {
            (Pool::InBatch(_), _) if batch_size < 2 => {
                Err(format!("batch_size is {batch_size}: expected at least 2, as negatives are the positives of a batch's other rows"))
            }
            (Pool::InBatch(_), Some(count)) if count >= batch_size => {
                Err(format!("{key} is {count}: expected at most the {} other rows of a batch", batch_size - 1))
            }
            _ => Ok(()),
        }
    }

    /// Candidates of a row; `None` when nothing is drawn and every item is scored.
    pub(super) fn width(&self, count: Option<u32>, batch_size: u32) -> Option<usize> {
        match self {
            Pool::All(_) => None,
            _ => Some(count.unwrap_or(batch_size.saturating_sub(1)) as usize), // none given: all other rows of the batch
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dns, Sampler, SoftmaxV};

    fn read(text: &str) -> Sampler {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_hard_sampler_takes_any_pool() {
        let uniform = Pool::Uniform(UniformPool { replacement: true });
        assert_eq!(read(r#"{"dns": {"candidates": 200}}"#), Sampler::Dns(Dns { candidates: Some(200), pool: uniform }));
        let pools = [
            (r#"{"uniform": {"replacement": false}}"#, Some(9), Some(9)),
            (r#"{"popularity": {"exponent": 0.75}}"#, Some(9), Some(9)),
            (r#"{"in-batch": {}}"#, Some(9), Some(9)),
            (r#"{"in-batch": {}}"#, None, Some(31)),
            (r#"{"all": {}}"#, None, None),
        ];
        for (pool, candidates, width) in pools {
            let pool: Pool = serde_json::from_str(pool).unwrap();
            let dns = Sampler::Dns(Dns { candidates, pool: pool.clone() });
            assert_eq!((dns.check(), dns.check_batch(32)), (Ok(()), Ok(())), "{pool:?}");
            assert_eq!((dns.candidates(32), dns.negatives(32)), (width, Some(1)), "{pool:?}");
            let softmax_v: SoftmaxV = serde_json::from_str(r#"{"divergence": 1}"#).unwrap();
            let softmax_v = Sampler::SoftmaxV(SoftmaxV { candidates, pool, ..softmax_v });
            assert_eq!(softmax_v.negatives(32), width);
        }
    }

    #[test]
    fn numbers_that_do_not_fit_the_pool_are_named() {
        let message = |text: &str| read(text).check().unwrap_err();
        assert!(message(r#"{"dns": {}}"#).contains("give `candidates`"));
        assert!(message(r#"{"pris": {"candidates": 0}}"#).starts_with("candidates is 0"));
        assert!(message(r#"{"dns": {"candidates": 5, "pool": {"all": {}}}}"#).contains("leave `candidates` out"));
        assert!(message(r#"{"dns": {"candidates": 5, "pool": {"popularity": {"exponent": -1}}}}"#).starts_with("exponent is -1"));
        let in_batch = read(r#"{"dns": {"candidates": 32, "pool": {"in-batch": {}}}}"#);
        assert!(in_batch.check_batch(32).unwrap_err().starts_with("candidates is 32: expected at most the 31 other rows"));
    }

    #[test]
    fn values_of_rules_are_named() {
        let message = |text: &str| read(text).check().unwrap_err();
        assert!(
            message(r#"{"dns-mn": {"candidates": 5, "negatives": 6}}"#).starts_with("negatives is 6: expected at most the 5 candidates")
        );
        assert!(message(r#"{"dns-mn": {"candidates": 5, "negatives": 0}}"#).starts_with("negatives is 0"));
        assert!(message(r#"{"softmax": {"candidates": 5, "temperature": 0}}"#).starts_with("temperature is 0"));
        assert!(message(r#"{"softmax": {"candidates": 5, "temperature": 1, "negatives": 9}}"#).starts_with("negatives is 9"));
        assert!(message(r#"{"softmax-v": {"candidates": 5, "divergence": -1}}"#).starts_with("divergence is -1"));
        assert!(message(r#"{"warp": {"candidates": 5, "margin": -1}}"#).starts_with("margin is -1"));
        assert!(message(r#"{"warp": {"candidates": 0}}"#).starts_with("candidates is 0"));
        assert!(serde_json::from_str::<Sampler>(r#"{"dns": {"candidates": 5, "negatives": 2}}"#).is_err());
    }
}

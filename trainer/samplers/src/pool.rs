//! What a pool is to the samplers that draw from it, whether or not it looks at the model.
//!
//! Each pool says it in its own file. The defaults are those of a pool that draws any item but the user's own, and keeps nothing.

use super::{Error, Exclude, Pool, check_negatives, proposal::Proposal};
use dataset::{Interactions, Location};

/// The sizes of a training that the memory of a pool follows from.
#[derive(Clone, Copy, Debug)]
pub struct PoolSizes {
    /// Users of the dataset.
    pub users: u64,
    /// Items of the dataset.
    pub items: u64,
    /// Train interactions.
    pub train: u64,
    /// Numbers of a vector of the model.
    pub dim: u64,
}

/// A pool with its values.
pub(crate) trait PoolKind {
    /// Whether the values make sense.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// What is no negative, where nothing is drawn and every item is scored; `None` where candidates are drawn.
    fn takes_every_item(&self) -> Option<Exclude> {
        None
    }

    /// Whether candidates are the positives of the batch's other rows.
    fn is_in_batch(&self) -> bool {
        false
    }

    /// Raised when a training with it would give other numbers than before, and one without it would not: what is stored of the others stays good.
    fn revision(&self) -> u32 {
        0
    }

    /// Why the probabilities of its draws are not known, in words that follow "the pool"; `None` where they are.
    fn lacks_probabilities(&self) -> Option<&'static str> {
        None
    }

    /// Whether a row's candidates are distinct.
    fn is_distinct(&self) -> bool {
        false
    }

    /// Whether what is drawn follows from the model.
    fn looks_at_model(&self) -> bool {
        false
    }

    /// What it does for which there is no kernel on a GPU, in words that follow "the sampler"; `None` where there is one.
    fn lacks_kernel(&self) -> Option<&'static str> {
        Some("draws by more than the items' counts")
    }

    /// How many of so many items can be drawn for a user without train items.
    fn drawable(&self, _train: &Interactions, items: usize) -> usize {
        items
    }

    /// Bytes that it keeps beside what a step draws, of so many draws a row, in a training of such sizes.
    fn memory(&self, _draws: u64, _sizes: PoolSizes) -> u64 {
        0
    }

    /// Makes it ready to draw so many candidates a row, with a folder where what takes long to make is kept and found again.
    ///
    /// # Errors
    /// When what was kept cannot be read, or nothing can be written.
    fn prepare(&self, draws: u32, train: &Interactions, items: usize, cache: Option<&Location>) -> Result<Box<dyn Proposal>, Error>;
}

impl Pool {
    /// Whether the values make sense, with how many candidates are drawn where that is given.
    pub(crate) fn check(&self, key: &str, count: Option<u32>) -> Result<(), String> {
        self.kind().check()?;
        match (self.kind().takes_every_item(), count) {
            (_, None) => Ok(()), // Sampler::check says who must give it
            (Some(_), Some(count)) => Err(format!("{key} is {count}, but the pool `all` takes every item: leave `{key}` out")),
            (None, Some(count)) => check_negatives(key, count),
        }
    }

    /// Whether the values make sense for batches of this size, with how many candidates are drawn where that is given.
    pub(crate) fn check_batch(&self, key: &str, count: Option<u32>, batch_size: u32) -> Result<(), String> {
        match (self.kind().is_in_batch(), count) {
            (true, _) if batch_size < 2 => {
                Err(format!("batch_size is {batch_size}: expected at least 2, as negatives are the positives of a batch's other rows"))
            }
            (true, Some(count)) if count >= batch_size => {
                Err(format!("{key} is {count}: expected at most the {} other rows of a batch", batch_size - 1))
            }
            _ => Ok(()),
        }
    }

    /// Candidates of a row; `None` when nothing is drawn and every item is scored.
    pub(crate) fn width(&self, count: Option<u32>, batch_size: u32) -> Option<usize> {
        match self.kind().takes_every_item() {
            Some(_) => None,
            None => Some(count.unwrap_or(batch_size.saturating_sub(1)) as usize), // none given: all other rows of the batch
        }
    }
}

/// How many of so many items have a train user.
pub(crate) fn with_train_users(train: &Interactions, items: usize) -> usize {
    train.item_counts(items).into_iter().filter(|&count| count > 0).count()
}

#[cfg(test)]
mod tests {
    use crate::{Dns, Pool, Sampler, SoftmaxV, UniformPool};

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

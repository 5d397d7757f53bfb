//! What a sampler is to the training loop: a pool, how many are drawn from it, and a rule that looks at their scores.
//!
//! Each sampler says it in its own file. The defaults are those of a pool whose draws are the negatives.

use super::{Facts, Pool, rule::Rule};

/// What a sampler draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    /// Where candidates come from.
    pub pool: Pool,
    /// How many candidates a row has, where a number is given.
    pub count: Option<u32>,
}

/// A sampler with its values.
pub trait SamplerKind {
    /// Where it comes from and what it costs.
    fn facts(&self) -> Facts;

    /// The pool, and how many candidates are drawn from it.
    fn draws(&self) -> Draws;

    /// Whether the values make sense, beside those of the pool and how many are drawn from it.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    fn check_values(&self) -> Result<(), String> {
        Ok(())
    }

    /// Raised when a trial with it would give other numbers than before, whatever its pool, and one without it would not: what is stored of the others stays good.
    fn revision(&self) -> u32 {
        0
    }

    /// What the number of candidates is called: they are the negatives where none is left aside.
    fn count_key(&self) -> &'static str {
        "negatives"
    }

    /// What is done with the candidates' scores, in a catalogue of so many items; `None` where all candidates are negatives.
    fn rule(&self, _items: usize) -> Option<Box<dyn Rule>> {
        None
    }

    /// Whether its rule looks at what its pool gives in place of [probabilities that the pool lacks](super::Sampler::lacks_probabilities).
    fn takes_pool_weights(&self) -> bool {
        false
    }

    /// The margin of the violation that it looks for, where it estimates ranks from the first candidate that has it.
    fn estimated_rank_margin(&self) -> Option<f64> {
        None
    }

    /// Whether a row's negatives are the positives of the batch's other rows, and nothing else is done with them.
    fn compares_rows(&self) -> bool {
        false
    }

    /// How many negatives are mixed from the vectors of what is drawn; `None` where negatives are items.
    fn mixed(&self) -> Option<usize> {
        None
    }
}

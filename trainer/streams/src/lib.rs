//! Random numbers that depend on where they are used, not on when.
//!
//! Every row of every step has a generator of its own, keyed by (seed, purpose, epoch, step, row): numbers are the same for any number of
//! threads or ranks and after any resume. The generator is SplitMix64; its start is a mix of the key that is one to one in (step, row) for
//! a given seed, purpose and epoch.

mod alias;

pub use alias::Alias;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::f64::consts::TAU;

/// What random numbers are for. The numbers are part of results: never change one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// First values of parameters.
    Parameters = 1,
    /// The order of the train pairs of an epoch.
    Order = 2,
    /// Negatives of a batch.
    Negatives = 3,
    /// Negatives that quantiles are estimated from.
    Quantiles = 4,
    /// Choices among the scored candidates of a row.
    Choices = 5,
    /// The positives of a list.
    Positives = 6,
    /// First values of a loss's own numbers.
    LossState = 7,
    /// What comes new to the users' pools.
    Pools = 8,
    /// Draws of a pool's second model.
    Generator = 9,
    /// Noise on the vectors of a model.
    Noise = 10,
    /// Which numbers of a model's vectors are dropped.
    Dropout = 11,
    /// Which edges of a model's graph are dropped.
    Edges = 12,
    /// Walks over a model's graph, and edges that are drawn from it.
    Walks = 13,
    /// Permutations and random cases of `ranksweep theory`.
    Theory = 20,
    /// Configurations of a method, of a random search.
    Search = 21,
}

/// A generator of one row.
#[derive(Clone, Debug)]
pub struct Stream(SplitMix64);

impl Stream {
    /// The generator of a row.
    pub fn new(seed: u64, purpose: Purpose, epoch: u32, step: u32, row: u32) -> Self {
        let key = Self::key(seed, purpose, epoch);
        Self(SplitMix64::seed_from_u64(mix(key ^ pair(step, row))))
    }

    /// What the generators of an epoch's rows have in common: the key, to which step and row are still to be added.
    pub fn key(seed: u64, purpose: Purpose, epoch: u32) -> u64 {
        mix(mix(seed) ^ pair(purpose as u32, epoch))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// An integer below `bound`, exactly uniform (Lemire, "Fast Random Integer Generation in an Interval", 2019).
    ///
    /// # Panics
    /// When `bound` is 0 and the build checks arithmetic.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        self.below_with_fraction(bound).0
    }

    /// An integer below `bound`, exactly uniform, and what is left of the bits: a fraction of 2^32, uniform up to `bound / 2^64`.
    #[inline]
    pub fn below_with_fraction(&mut self, bound: u32) -> (u32, u32) {
        debug_assert!(bound > 0, "there is no integer below 0");
        let bound = u64::from(bound);
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return ((product >> 64) as u32, (low >> 32) as u32);
            }
        }
    }

    /// A number in `[0, 1)`, a multiple of 2^-53.
    #[inline]
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number between 0 and 1 that is neither, an odd multiple of 2^-53: its logarithm, and that of its complement, are finite.
    #[inline]
    pub fn open_fraction(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// A number of the standard normal distribution, by Box and Muller's transform of two uniform ones.
    pub fn standard_normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.fraction(), self.fraction());
        (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
    }
}

fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// One to one, and a change of one bit changes half of them.
fn mix(key: u64) -> u64 {
    SplitMix64::seed_from_u64(key).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_is_the_published_one() {
        let mut generator = SplitMix64::seed_from_u64(1_234_567);
        assert_eq!([generator.next_u64(), generator.next_u64()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    /// Values of an independent program: a change here is a change of every result.
    #[test]
    fn streams_are_frozen() {
        let mut stream = Stream::new(1, Purpose::Negatives, 1, 0, 0);
        assert_eq!([stream.bits(), stream.bits(), stream.bits()], [0x7f38a75ff2e3862a, 0xd4b93e662c2214a8, 0x62d1f7cedbcd5e17]);
        let mut stream = Stream::new(2024, Purpose::Order, 7, 3, 1023);
        assert_eq!([stream.bits(), stream.bits(), stream.bits()], [0x0dd7334e9a063d45, 0xa74b87b6927f48b4, 0x85e152b653305e7c]);
        let mut stream = Stream::new(1, Purpose::Negatives, 1, 0, 0);
        assert_eq!([0; 8].map(|_| stream.below(1000)), [496, 830, 386, 74, 450, 202, 355, 553]);
    }

    #[test]
    fn every_part_of_the_key_counts() {
        let first = |mut stream: Stream| stream.bits();
        let keys = [
            Stream::new(1, Purpose::Negatives, 2, 3, 4),
            Stream::new(2, Purpose::Negatives, 2, 3, 4),
            Stream::new(1, Purpose::Quantiles, 2, 3, 4),
            Stream::new(1, Purpose::Negatives, 3, 3, 4),
            Stream::new(1, Purpose::Negatives, 2, 4, 4),
            Stream::new(1, Purpose::Negatives, 2, 3, 5),
        ];
        let bits: std::collections::BTreeSet<u64> = keys.into_iter().map(first).collect();
        assert_eq!(bits.len(), 6);
    }
}

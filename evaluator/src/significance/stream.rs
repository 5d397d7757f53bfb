//! Random words keyed by (seed, resample): the same whichever thread draws them.

use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// Step of SplitMix64's counter.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The generator of one resample: SplitMix64 that starts at the `resample`-th word of SplitMix64 from `seed`.
pub(crate) fn stream(seed: u64, resample: u32) -> SplitMix64 {
    let start = SplitMix64::seed_from_u64(seed.wrapping_add(STEP.wrapping_mul(resample.into()))).next_u64();
    SplitMix64::seed_from_u64(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_the_words_of_the_seed() {
        let mut words = SplitMix64::seed_from_u64(7);
        for resample in 0..5 {
            assert_eq!(stream(7, resample), SplitMix64::seed_from_u64(words.next_u64()));
        }
    }
}

//! Random numbers keyed by what they are for: the same whichever thread draws them.

use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// The random words of one repeat of what `purpose` names.
pub(crate) fn stream(purpose: &str, repeat: usize) -> SplitMix64 {
    let mixed = |key: u64| SplitMix64::seed_from_u64(key).next_u64();
    let key = purpose.bytes().fold(0, |key, byte| mixed(key ^ u64::from(byte)));
    SplitMix64::seed_from_u64(mixed(key.wrapping_add(repeat as u64)))
}

/// Normal numbers.
pub(crate) struct Draws {
    words: SplitMix64,
    spare: Option<f64>,
}

impl Draws {
    /// The numbers of one repeat of what `purpose` names.
    pub(crate) fn keyed(purpose: &str, repeat: usize) -> Self {
        Self { words: stream(purpose, repeat), spare: None }
    }

    /// Normal with this standard deviation, after Box and Muller.
    pub(crate) fn normal(&mut self, deviation: f64) -> f64 {
        if deviation == 0.0 {
            return 0.0;
        }
        if let Some(spare) = self.spare.take() {
            return deviation * spare;
        }
        let (size, turn) = ((-2.0 * self.uniform().ln()).sqrt(), std::f64::consts::TAU * self.uniform());
        self.spare = Some(size * turn.sin());
        deviation * size * turn.cos()
    }

    /// A uniform number in (0, 1).
    fn uniform(&mut self) -> f64 {
        ((self.words.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
}

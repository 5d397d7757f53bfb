//! How probable the draws of a batch were, for losses that correct for it.

use crate::sampler::{Prepared, Stream};
use rayon::prelude::*;

/// Log-probabilities of a batch.
pub(super) struct Draws {
    /// `[B]`, that of each row's positive, were it no positive.
    pub(super) positives: Vec<f32>,
    /// `[B, N]`
    pub(super) negatives: Vec<f32>,
}

impl Draws {
    /// Makes the draws of (user, positive) pairs that are scored once more: the stream of a row is the same whenever it is made, and draws
    /// cost little beside a formula.
    pub(super) fn new(sampler: &Prepared, pairs: &[(u32, u32)], count: usize, stream: impl Fn(usize) -> Stream + Sync) -> Self {
        let mut draws = Self { positives: vec![0.0; pairs.len()], negatives: vec![0.0; pairs.len() * count] };
        let of_rows = draws.positives.par_iter_mut().zip(draws.negatives.par_chunks_exact_mut(count)).zip(pairs).enumerate();
        of_rows.for_each_init(
            || vec![0; count],
            |ids, (row, ((positive, negatives), &(user, item)))| {
                sampler.draw(&mut stream(row), user, ids, Some(negatives));
                *positive = sampler.log_probability(user, item);
            },
        );
        draws
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::{Popularity, Purpose, Sampler};
    use dataset::Interactions;

    #[test]
    fn they_belong_to_the_draws_that_the_streams_make() {
        let train = Interactions::from_pairs(3, [(0, 0), (0, 1), (1, 0), (1, 2), (2, 0), (2, 3)].into_iter());
        let sampler = Sampler::Popularity(Popularity { negatives: 5, exponent: 0.75 });
        let sampler = Prepared::new(&sampler, &train, 4).unwrap();
        let stream = |row: usize| Stream::new(1, Purpose::Negatives, 1, 1, row as u32);
        let pairs = [(2, 3), (0, 0), (1, 2)];
        let draws = Draws::new(&sampler, &pairs, 5, stream);
        for (row, &(user, positive)) in pairs.iter().enumerate() {
            let mut ids = [0; 5];
            sampler.draw(&mut stream(row), user, &mut ids, None);
            assert_eq!(draws.negatives[row * 5..][..5], ids.map(|id| sampler.log_probability(user, id)));
            assert_eq!(draws.positives[row], sampler.log_probability(user, positive));
        }
    }
}

//! The users' top-K quantiles from vectors that are on the device: the lists of the CPU, by the same draws.

use super::validation::not_finite;
use crate::Result;
use dataset::Interactions;
use gpu::{
    Gpu,
    draws::Draws,
    quantiles::{Sample, of_catalogue, of_samples},
    vectors::View,
};
use losses::quantile::{QuantileSchedule, Quantiles};
use streams::{Purpose, Stream};

/// What quantiles are estimated from.
#[derive(Clone, Copy)]
pub(crate) struct Estimator<'a> {
    pub(crate) gpu: &'a Gpu,
    /// Prepared vectors of all users and items.
    pub(crate) vectors: [View<'a>; 2],
    pub(crate) train: &'a Interactions,
    /// Draws for users with the train items of `train`.
    pub(crate) draws: &'a Draws,
    /// Fresh negatives of a user, as many as the sampler draws candidates; `None` where it draws none.
    pub(crate) candidates: Option<usize>,
    /// Bytes of the device for working space.
    pub(crate) memory: usize,
}

impl Estimator<'_> {
    /// Sets the quantiles as [`fit::quantiles`](crate::fit) does.
    pub(crate) fn update(&self, quantiles: &mut Quantiles, schedule: QuantileSchedule, seed: u64, epoch: u32) -> Result<()> {
        let (mut exact, mut sampled, mut own) = (Vec::new(), Vec::new(), Vec::new());
        let [_, items] = self.vectors.map(|view| view.vectors.len() / view.dim);
        for user in 0..self.train.users() {
            let positives = self.train.row(user).len();
            match self.candidates {
                Some(_) if positives == 0 => {}
                Some(negatives) if negatives < items - positives => {
                    sampled.push(user as u32);
                    own.push(positives as u32);
                }
                _ => exact.push(user as u32),
            }
        }
        let k = schedule.cutoff as usize;
        let sample =
            Sample { draws: self.draws, key: Stream::key(seed, Purpose::Quantiles, epoch), negatives: self.candidates.unwrap_or_default() };
        let of_sampled = of_samples(self.gpu, self.vectors, &sampled, &own, sample, k, self.memory)?;
        let of_exact = of_catalogue(self.gpu, self.vectors, &exact, k, self.memory).map_err(not_finite)?;
        for (user, value) in sampled.into_iter().zip(of_sampled).chain(exact.into_iter().zip(of_exact)) {
            quantiles.values[user as usize] = value;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        device::{draws::starts, whole::Whole},
        fit::loss_state::quantiles,
    };
    use embeddings::Vectors;
    use evaluator::Matrix;
    use losses::{QuantileEstimator, QuantileUpdate};

    const USERS: usize = 23;
    const ITEMS: usize = 150;

    /// Users with 0 to 22 * 6 train items.
    fn train() -> Interactions {
        let of_user = |user: u32| (0..user * 6).map(move |place| (user, (place * 7 + user) % ITEMS as u32));
        Interactions::from_pairs(USERS, (0..USERS as u32).flat_map(of_user))
    }

    fn matrix(rows: usize, dim: usize, seed: f32) -> Matrix {
        Matrix { rows, dim, values: (0..rows * dim).map(|at| ((at as f32 + seed) * 0.7).sin() * 1.3 + 0.1).collect() }
    }

    #[test]
    fn quantiles_are_those_of_the_cpu() {
        let similarities = [
            (gpu::vectors::Similarity::Dot, evaluator::Similarity::Dot),
            (gpu::vectors::Similarity::Cosine, evaluator::Similarity::Cosine),
            (gpu::vectors::Similarity::NegativeSquaredDistance, evaluator::Similarity::NegativeSquaredDistance),
        ];
        let (gpu, train, dim) = (Gpu::emulated(), train(), 6);
        let draws = Draws::new(&gpu, &starts(&train), train.items(), ITEMS, None).unwrap();
        let (users, items) = (matrix(USERS, dim, 0.0), matrix(ITEMS, dim, 0.4));
        let tables = [&users, &items].map(|matrix| gpu.upload(&matrix.values).unwrap());
        for (on_device, similarity) in similarities {
            let mut whole = Whole::new(&gpu, [USERS, ITEMS], dim, on_device).unwrap();
            let vectors = whole.prepare(&gpu, tables.each_ref()).unwrap();
            // The users with most items have no 40 others: their quantiles are exact.
            for candidates in [None, Some(5), Some(40)] {
                let schedule =
                    QuantileSchedule { cutoff: 9, every: 1, update: QuantileUpdate::default(), estimator: QuantileEstimator::default() };
                let [mut found, mut expected] = [Quantiles::new(USERS), Quantiles::new(USERS)];
                let estimator = Estimator { gpu: &gpu, vectors, train: &train, draws: &draws, candidates, memory: 1 << 20 };
                estimator.update(&mut found, schedule, 5, 3).unwrap();
                let vectors = Vectors { users: &users, items: &items, similarity };
                quantiles::update(&mut expected, schedule, vectors, &train, candidates, 5, 3).unwrap();
                for (found, expected) in found.values.iter().zip(&expected.values) {
                    assert!(
                        (found - expected).abs() <= 1e-5 * expected.abs().max(1.0),
                        "{similarity:?} {candidates:?}: {found} {expected}"
                    );
                }
                assert!(candidates.is_none() || found.values[0] == 0.0, "no items, no quantile");
            }
        }
    }
}

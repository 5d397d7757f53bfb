//! The validation metric of vectors that are on the device.
//!
//! The device counts what stands before each held-out item; ranks and metrics are made of the counts as on the CPU. Ranks are the CPU's but where
//! two scores are so near that the rounding of norms tells which is higher: dot products have the CPU's bits, cosines and distances prepare their
//! vectors by another sum.

use super::draws::starts;
use crate::{
    Result,
    validation::{Validation, ranked},
};
use dataset::{Dataset, Interactions};
use evaluator::{MetricAt, Rankings, metric, rank, settings::Ties};
use gpu::{
    Gpu,
    ranking::{self, HeldOut, Lists},
    vectors::View,
};

/// The validation part on the device.
#[derive(Debug)]
pub(crate) struct Validator {
    on_device: HeldOut,
    ranked: Interactions,
}

impl Validator {
    /// `None` where there is no validation part.
    pub(crate) fn new(gpu: &Gpu, dataset: &Dataset) -> Result<Option<Self>> {
        let Some(part) = ranked(dataset)? else { return Ok(None) };
        let ranked = part.interactions.into_owned();
        rank::check_held_out(dataset.items(), &[&dataset.train], &ranked)?;
        Ok(Some(Self { on_device: HeldOut::new(gpu, &starts(&ranked), ranked.items())?, ranked }))
    }

    /// Ranks the validation part by the prepared vectors of all users and items; train items, which lie in `train` too, are masked.
    pub(crate) fn validate(
        &self,
        gpu: &Gpu,
        [users, items]: [View; 2],
        train: Lists,
        dataset: &Dataset,
        select_by: MetricAt,
    ) -> Result<Validation> {
        let counts = ranking::count_before(gpu, users, items, &self.on_device, train).map_err(not_finite)?;
        let before: Vec<(u32, u32)> = counts.at_least.into_iter().zip(counts.above).collect();
        let limit = metric::depth(&[select_by]).ranks;
        let rankings = Rankings::from_counts(&self.ranked, &dataset.train, dataset.items(), &before, Ties::Pessimistic, limit);
        Ok(Validation::new(rankings, select_by, dataset))
    }
}

/// A score that is no number is the model's fault, not the device's.
pub(super) fn not_finite(error: gpu::Error) -> crate::Error {
    match error {
        gpu::Error::NotFinite { row, column } => evaluator::Error::NotFinite { user: row, item: column }.into(),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, device::whole::Whole, validation::validate};
    use evaluator::{Factors, Matrix, Metric, Scorer};
    use gpu::{Buffer, vectors::Similarity};

    /// Users with up to 12 train items and up to 7 validation items.
    fn dataset(users: usize, items: usize) -> Dataset {
        let part = |first: usize, most: usize| {
            let of_user =
                |user: usize| (0..user * 5 % (most + 1)).map(move |place| (user as u32, ((user * 7 + first + place * 11) % items) as u32));
            Interactions::from_pairs(users, (0..users).flat_map(of_user))
        };
        // No multiple of 11 up to 11 * 11 is 5 more or less than one up to 6 * 11, modulo 203: no item is in both.
        let (train, validation) = (part(0, 12), part(5, 7));
        let ids = |count: usize| (0..count).map(|id| id.to_string()).collect();
        let (name, fingerprint) = (String::new(), String::new());
        let (steps, settings, test) = (vec![], serde_json::Value::Null, Interactions::empty(users));
        Dataset {
            name,
            fingerprint,
            user_ids: ids(users),
            item_ids: ids(items),
            train,
            validation,
            one_node_set: false,
            test,
            fold_in: None,
            order: None,
            steps,
            settings,
        }
    }

    fn matrix(rows: usize, dim: usize, seed: f32) -> Matrix {
        Matrix { rows, dim, values: (0..rows * dim).map(|at| ((at as f32 + seed) * 0.7).sin() * 1.3 + 0.1).collect() }
    }

    struct OnDevice {
        gpu: Gpu,
        validator: Validator,
        whole: Whole,
        train: [Buffer<u32>; 2],
        dataset: Dataset,
    }

    impl OnDevice {
        fn new(dataset: Dataset, dim: usize, similarity: Similarity) -> Self {
            let gpu = Gpu::emulated();
            let validator = Validator::new(&gpu, &dataset).unwrap().unwrap();
            let whole = Whole::new(&gpu, [dataset.users(), dataset.items()], dim, similarity).unwrap();
            let train = [gpu.upload(&starts(&dataset.train)).unwrap(), gpu.upload(dataset.train.items()).unwrap()];
            Self { gpu, validator, whole, train, dataset }
        }

        fn validate(&mut self, users: &Matrix, items: &Matrix, select_by: MetricAt) -> Result<Validation> {
            let tables = [users, items].map(|matrix| self.gpu.upload(&matrix.values).unwrap());
            let vectors = self.whole.prepare(&self.gpu, tables.each_ref())?;
            let [starts, items] = &self.train;
            self.validator.validate(&self.gpu, vectors, Lists { starts, items }, &self.dataset, select_by)
        }
    }

    #[test]
    fn values_are_those_of_the_cpu() {
        let similarities = [
            (Similarity::Dot, evaluator::Similarity::Dot),
            (Similarity::Cosine, evaluator::Similarity::Cosine),
            (Similarity::NegativeSquaredDistance, evaluator::Similarity::NegativeSquaredDistance),
        ];
        for (on_device, similarity) in similarities {
            let mut device = OnDevice::new(dataset(150, 203), 7, on_device);
            let (users, items) = (matrix(150, 7, 0.0), matrix(203, 7, 0.4));
            let scorer = Scorer::Factors(Factors { users: users.clone(), items: items.clone(), similarity });
            for select_by in ["ndcg@20", "recall@3", "auc", "mrr@50"] {
                let select_by: MetricAt = select_by.parse().unwrap();
                let found = device.validate(&users, &items, select_by).unwrap();
                let expected = validate(&scorer, &device.dataset, select_by, 1 << 20).unwrap().unwrap();
                assert!(found == expected && found.mean > 0.0 && found.mean < 1.0, "{similarity:?} {select_by}");
            }
        }
    }

    #[test]
    fn a_score_that_is_no_number_is_an_error_that_comes_again() {
        let mut device = OnDevice::new(dataset(150, 203), 4, Similarity::Dot);
        let (users, mut items) = (matrix(150, 4, 0.0), matrix(203, 4, 0.4));
        items.values[4 * 31] = f32::INFINITY;
        let ndcg = MetricAt { metric: Metric::Ndcg, cutoff: Some(20) };
        let error = device.validate(&users, &items, ndcg).err().unwrap();
        assert!(
            matches!(error, Error::Model(models::Error::Evaluator(evaluator::Error::NotFinite { user: 1, item: 31 }))) && error.repeats(),
            "{error}"
        );
    }

    #[test]
    fn what_is_held_out_must_be_an_item_and_not_masked() {
        let gpu = Gpu::emulated();
        let mut data = dataset(10, 203);
        data.validation = Interactions::empty(10);
        assert!(Validator::new(&gpu, &data).unwrap().is_none());
        data.validation = data.train.clone();
        let error = Validator::new(&gpu, &data).unwrap_err().to_string();
        assert!(error.contains("held out and masked"), "{error}");
    }
}

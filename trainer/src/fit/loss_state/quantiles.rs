//! Brings the users' top-K quantiles up to date.

use dataset::Interactions;
use embeddings::{Vectors, reduce_lists};
use losses::{
    QuantileEstimator, UserScores,
    quantile::{QuantileSchedule, Quantiles},
};
use samplers::{self, Row, Sampler, Uniform};
use streams::{Purpose, Stream};

/// Sets each user's quantile from all its train items and as many fresh uniform negatives as the sampler draws
/// candidates; from the whole catalogue where it draws none, or as many as there are. Quantile regression has fresh uniform items for each of its
/// steps instead.
pub(crate) fn update(
    quantiles: &mut Quantiles,
    schedule: QuantileSchedule,
    vectors: Vectors,
    train: &Interactions,
    candidates: Option<usize>,
    seed: u64,
    epoch: u32,
) -> Result<(), samplers::Error> {
    let items = vectors.items.rows;
    let fresh = match candidates {
        Some(negatives) => Some((
            negatives,
            samplers::Prepared::new(&Sampler::Uniform(Uniform { negatives: negatives as u32, replacement: true }), train, items)?,
        )),
        None => None,
    };
    let stream = |user: usize| Stream::new(seed, Purpose::Quantiles, epoch, 0, user as u32);
    let list = |user: usize, ids: &mut Vec<u32>| match (&fresh, schedule.estimator) {
        (None, _) => ids.extend(0..items as u32),
        (Some(_), _) if train.row(user).is_empty() => {}
        (Some((negatives, _)), QuantileEstimator::Regression(regression)) => {
            let mut stream = stream(user);
            ids.extend((0..negatives * regression.steps as usize).map(|_| stream.below(items as u32)));
        }
        (Some((negatives, _)), _) if *negatives >= items - train.row(user).len() => ids.extend(0..items as u32),
        (Some((negatives, uniform)), _) => {
            let positives = train.row(user);
            ids.extend_from_slice(positives);
            ids.resize(positives.len() + negatives, 0);
            uniform.draw(&mut stream(user), Row::alone(user as u32), &mut ids[positives.len()..], None);
        }
    };
    reduce_lists(vectors, &mut quantiles.values, list, |user, before, scores| {
        let scores = UserScores { scores, draws: candidates, positives: train.row(user).len(), items };
        schedule.estimator.estimate(before, scores, schedule.cutoff as usize)
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use embeddings::Tables;
    use evaluator::Similarity;
    use losses::{QuantileRegression, QuantileUpdate, UnbiasedQuantile};

    /// Ten items with scores 0.0, 0.1, ... 0.9 for one user that has items 3 and 8.
    fn third_largest(negatives: usize) -> f32 {
        estimated(Some(negatives), QuantileEstimator::default())
    }

    /// The same by another estimator.
    fn estimated(candidates: Option<usize>, estimator: QuantileEstimator) -> f32 {
        let mut tables = Tables::zeros(1, 10, 1);
        tables.users.values[0] = 1.0;
        tables.items.values = (0..10).map(|item| item as f32 / 10.0).collect();
        let vectors = Vectors { users: &tables.users, items: &tables.items, similarity: Similarity::Dot };
        let train = Interactions::from_pairs(1, [(0, 3), (0, 8)].into_iter());
        let mut quantiles = Quantiles::new(1);
        update(
            &mut quantiles,
            QuantileSchedule { cutoff: 3, every: 1, update: QuantileUpdate::default(), estimator },
            vectors,
            &train,
            candidates,
            1,
            1,
        )
        .unwrap();
        quantiles.values[0]
    }

    #[test]
    fn as_many_negatives_as_there_are_give_the_exact_quantile() {
        assert_eq!([third_largest(8), third_largest(500)], [0.7, 0.7]);
    }

    #[test]
    fn one_negative_and_two_positives_have_the_least_of_the_three_as_third() {
        assert!(third_largest(1) <= 0.3);
    }

    /// The user's second and third item have the scores 0.8 and 0.3; the upper tenth of the draws, (3 - 2) / 10, is one of the others.
    #[test]
    fn the_unbiased_rule_looks_beyond_few_train_items() {
        let unbiased = QuantileEstimator::Unbiased(UnbiasedQuantile {});
        assert_eq!(estimated(None, unbiased), 0.7, "of all items it is exact");
        let found = estimated(Some(7), unbiased);
        let of_train_and_draws = third_largest(7);
        assert!(found >= of_train_and_draws && ![0.3, 0.8].contains(&found), "{found} {of_train_and_draws}");
    }

    /// From 0, where all ten items are at least the quantile, 0.7 of them too many.
    #[test]
    fn regression_begins_at_what_the_quantile_was() {
        let regression = |steps| QuantileEstimator::Regression(QuantileRegression { learning_rate: 0.1, steps });
        for candidates in [None, Some(4)] {
            let found = estimated(candidates, regression(1));
            assert!((found - 0.07).abs() < 1e-6, "{found}");
        }
        let found = estimated(None, regression(1_000));
        assert!((0.6..=0.8).contains(&found), "{found}");
    }
}

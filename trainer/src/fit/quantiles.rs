//! Brings the users' top-K quantiles up to date.

use crate::{
    Sampler,
    loss::quantile::{QuantileSchedule, Quantiles, kth_largest},
    sampler::{self, Purpose, Row, Stream, Uniform},
    scoring::{Vectors, reduce_lists},
};
use dataset::Interactions;

/// Sets each user's quantile from all its train items and as many fresh uniform negatives as the sampler draws
/// candidates; from the whole catalogue where it draws none, or as many as there are.
pub(crate) fn update(
    quantiles: &mut Quantiles,
    schedule: QuantileSchedule,
    vectors: Vectors,
    train: &Interactions,
    candidates: Option<usize>,
    (seed, epoch): (u64, u32),
) -> Result<(), sampler::Error> {
    let items = vectors.items.rows;
    let fresh = match candidates {
        Some(negatives) => Some((
            negatives,
            sampler::Prepared::new(&Sampler::Uniform(Uniform { negatives: negatives as u32, replacement: true }), train, items)?,
        )),
        None => None,
    };
    let list = |user: usize, ids: &mut Vec<u32>| match &fresh {
        None => ids.extend(0..items as u32),
        Some(_) if train.row(user).is_empty() => {}
        Some((negatives, _)) if *negatives >= items - train.row(user).len() => ids.extend(0..items as u32),
        Some((negatives, uniform)) => {
            let positives = train.row(user);
            ids.extend_from_slice(positives);
            ids.resize(positives.len() + negatives, 0);
            let mut stream = Stream::new(seed, Purpose::Quantiles, epoch, 0, user as u32);
            uniform.draw(&mut stream, Row::alone(user as u32), &mut ids[positives.len()..], None);
        }
    };
    reduce_lists(vectors, &mut quantiles.values, list, |scores| kth_largest(scores, schedule.cutoff as usize));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::QuantileUpdate;
    use crate::tables::Tables;
    use evaluator::Similarity;

    /// Ten items with scores 0.0, 0.1, ... 0.9 for one user that has items 3 and 8.
    fn third_largest(negatives: usize) -> f32 {
        let mut tables = Tables::zeros(1, 10, 1);
        tables.users.values[0] = 1.0;
        tables.items.values = (0..10).map(|item| item as f32 / 10.0).collect();
        let vectors = Vectors { users: &tables.users, items: &tables.items, similarity: Similarity::Dot };
        let train = Interactions::from_pairs(1, [(0, 3), (0, 8)].into_iter());
        let mut quantiles = Quantiles::new(1);
        update(
            &mut quantiles,
            QuantileSchedule { cutoff: 3, every: 1, update: QuantileUpdate::default() },
            vectors,
            &train,
            Some(negatives),
            (1, 1),
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
}

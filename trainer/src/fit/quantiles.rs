//! Brings the users' top-K quantiles up to date.

use crate::{
    Sampler,
    loss::quantile::{QuantileSchedule, Quantiles, kth_largest},
    sampler::{self, Purpose, Stream, Uniform},
    scoring::{Vectors, reduce_lists},
};
use dataset::Interactions;

/// Sets each user's quantile from all its train items and as many fresh uniform negatives as the sampler draws; from the whole
/// catalogue under the `all` sampler.
pub(super) fn update(
    quantiles: &mut Quantiles,
    schedule: QuantileSchedule,
    vectors: Vectors,
    train: &Interactions,
    sampler: &Sampler,
    (seed, epoch): (u64, u32),
) -> Result<(), sampler::Error> {
    let items = vectors.items.rows;
    let fresh = match sampler.negatives() {
        Some(negatives) => Some((
            negatives,
            sampler::Prepared::new(&Sampler::Uniform(Uniform { negatives: negatives as u32, replacement: true }), train, items)?,
        )),
        None => None,
    };
    let list = |user: usize, ids: &mut Vec<u32>| match &fresh {
        None => ids.extend(0..items as u32),
        Some(_) if train.row(user).is_empty() => {}
        Some((negatives, uniform)) => {
            let positives = train.row(user);
            ids.extend_from_slice(positives);
            ids.resize(positives.len() + negatives, 0);
            let mut stream = Stream::new(seed, Purpose::Quantiles, epoch, 0, user as u32);
            uniform.draw(&mut stream, user as u32, &mut ids[positives.len()..], None);
        }
    };
    reduce_lists(vectors, &mut quantiles.values, list, |scores| kth_largest(scores, schedule.cutoff as usize));
    Ok(())
}

//! Quantiles of a trained model: each user's exact quantile against its estimates.

use super::{Estimator, QuantileSettings, Row, Subject};
use crate::model::Model;
use anyhow::{Context, Result};
use evaluator::rank::{reduce_lists, top_k};
use losses::kth_largest;
use samplers::{Prepared, Uniform};
use streams::{Purpose, Stream};
use theory::quantile::{errors, largest_delta, place_in_sample};
use trainer::Sampler;

/// The model's users and items.
pub(crate) fn subject(model: &Model) -> Subject {
    let trial = &model.trial;
    Subject {
        title: format!("{} on {}, trial {}", trial.method, trial.dataset, trial.trial),
        trial: Some((trial.trial.clone(), trial.dataset.clone())),
        items: model.scorer.items() as u32,
    }
}

/// The errors over all users that have train items.
///
/// # Errors
/// When the model and its dataset do not fit, a score is no number, or a user has all items.
pub(crate) fn rows(model: &Model, settings: &QuantileSettings, memory: usize) -> Result<Vec<Row>> {
    let train = &model.dataset.train;
    let users: Vec<u32> = (0..train.users() as u32).filter(|&user| !train.row(user as usize).is_empty()).collect();
    // The K-th largest, and the next one, which is the (1 - K / n)-quantile of Theorem 3.2.
    let best = top_k(&model.scorer, train, &[], &users, settings.cutoff as usize + 1, memory)?;
    let exact = |place: u32| best.iter().map(move |list| list[place as usize].1);
    let mut rows = Vec::new();
    for estimator in [Estimator::Union, Estimator::Sample] {
        for (place, &negatives) in settings.negatives.iter().enumerate() {
            let estimates = estimates(model, settings, &users, estimator, place, negatives, memory)?;
            let exact = exact(if estimator == Estimator::Union { settings.cutoff - 1 } else { settings.cutoff });
            let off: Vec<f64> = estimates.iter().zip(exact).map(|(estimate, exact)| f64::from(*estimate) - f64::from(exact)).collect();
            let errors =
                errors(&off, settings.error).with_context(|| format!("dataset `{}` has no user with train items", model.dataset.name))?;
            rows.push(Row { estimator, negatives, errors, delta: largest_delta(model.scorer.items() as u64, settings.cutoff.into()) });
        }
    }
    Ok(rows)
}

/// One estimate for each user. Draws are keyed by estimator, place of N and user.
fn estimates(
    model: &Model,
    settings: &QuantileSettings,
    users: &[u32],
    estimator: Estimator,
    place: usize,
    negatives: u32,
    memory: usize,
) -> Result<Vec<f32>> {
    let (train, items) = (&model.dataset.train, model.scorer.items() as u32);
    let uniform = Prepared::new(&Sampler::Uniform(Uniform { negatives, replacement: true }), train, items as usize)?;
    let stream = |user: u32| Stream::new(settings.seed, Purpose::Theory, 2 + estimator as u32, place as u32, user);
    let union = |user: u32, ids: &mut Vec<u32>| {
        let positives = train.row(user as usize);
        // All of them are taken where as many are asked for as there are, as in training.
        if negatives as usize >= items as usize - positives.len() {
            ids.extend(0..items);
            return;
        }
        ids.extend_from_slice(positives);
        ids.resize(positives.len() + negatives as usize, 0);
        uniform.draw(&mut stream(user), samplers::Row::alone(user), &mut ids[positives.len()..], None);
    };
    let sample = |user: u32, ids: &mut Vec<u32>| {
        let mut stream = stream(user);
        ids.extend((0..negatives).map(|_| stream.below(items)));
    };
    let list = |user: u32, ids: &mut Vec<u32>| match estimator {
        Estimator::Union => union(user, ids),
        Estimator::Sample => sample(user, ids),
    };
    let k = match estimator {
        Estimator::Union => settings.cutoff as usize,
        Estimator::Sample => place_in_sample(negatives.into(), items.into(), settings.cutoff.into()) as usize,
    };
    Ok(reduce_lists(&model.scorer, train, users, list, |_, scores| kth_largest(scores, k), memory)?)
}

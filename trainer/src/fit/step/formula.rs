//! A loss as its candle formula: for losses without a fused form, and the reference of those with one.

use crate::{Result, fit::loss_state::derivatives::Derivatives};
use candle_core::{Device, Shape, Tensor, Var, backprop::GradStore};
use embeddings::ScoreGradients;
use losses::{Given, Loss, Others, Pair, Relations, Scores};

/// Some rows of a batch as plain slices: see [`Scores`] and [`Given`].
#[derive(Clone, Copy, Default)]
pub(crate) struct ScoredRows<'a> {
    pub(crate) positives: &'a [f32],
    pub(crate) negatives: &'a [f32],
    pub(crate) items: usize,
    pub(crate) phase: usize,
    pub(crate) weights: Option<&'a [f32]>,
    pub(crate) quantiles: Option<&'a [f32]>,
    pub(crate) log_probabilities: Option<[&'a [f32]; 2]>,
    pub(crate) ranks: Option<[&'a [f32]; 2]>,
    /// How many of the user's other train items score above each positive and above each negative, and how many such items there are.
    pub(crate) others: Option<[&'a [f32]; 3]>,
    pub(crate) estimated_ranks: Option<&'a [f32]>,
    pub(crate) columns: &'a [Vec<f32>],
    pub(crate) adversary: Option<&'a [f32]>,
    /// Relations of the negatives, of the users and of the positives.
    pub(crate) relations: [Option<&'a [f32]>; 3],
}

/// Losses of rows of scores and their derivatives times `scale`, computed on a device.
pub(crate) fn score_gradients(loss: &Loss, rows: ScoredRows, scale: f32, device: &Device) -> Result<Derivatives> {
    let constant = |values: &[f32], shape: Shape| Tensor::from_slice(values, shape, device);
    let variable = |values: &[f32], shape: Shape| Var::from_slice(values, shape, device);
    let list = loss.list().unwrap_or(1);
    let count = rows.positives.len() / list;
    let matrix = (count, rows.negatives.len() / count);
    let of_positives: Shape = if loss.list().is_some() { (count, list).into() } else { count.into() };
    let positives = variable(rows.positives, of_positives.clone())?;
    let negatives = variable(rows.negatives, matrix.into())?;
    let weights = rows.weights.map(|weights| constant(weights, matrix.into())).transpose()?;
    let quantiles = rows.quantiles.map(|quantiles| constant(quantiles, count.into())).transpose()?;
    let pair = |pair: Option<[&[f32]; 2]>| -> Result<Option<[Tensor; 2]>> {
        pair.map(|[own, drawn]| Ok([constant(own, of_positives.clone())?, constant(drawn, matrix.into())?])).transpose()
    };
    let (log_probabilities, ranks) = (pair(rows.log_probabilities)?, pair(rows.ranks)?);
    let above = pair(rows.others.map(|[own, drawn, _]| [own, drawn]))?;
    let counts = rows.others.map(|[_, _, counts]| constant(counts, count.into())).transpose()?;
    let estimated_ranks = rows.estimated_ranks.map(|ranks| constant(ranks, count.into())).transpose()?;
    let columns: Vec<Var> = rows.columns.iter().map(|column| variable(column, column.len().into())).collect::<candle_core::Result<_>>()?;
    let numbers: Vec<Tensor> = columns.iter().map(|column| column.as_tensor().clone()).collect();
    let adversary = rows.adversary.map(|scores| variable(scores, matrix.into())).transpose()?;
    let shapes = [matrix, (count, count), (count, count)];
    let mut relations = [None, None, None];
    for ((relation, scores), shape) in relations.iter_mut().zip(rows.relations).zip(shapes) {
        *relation = scores.map(|scores| variable(scores, shape.into())).transpose()?;
    }
    let [of_negatives, of_users, of_rows] = &relations;
    let scores = Scores {
        positives: &positives,
        negatives: &negatives,
        items: rows.items,
        given: Given {
            phase: rows.phase,
            weights: weights.as_ref(),
            quantiles: quantiles.as_ref(),
            log_probabilities: log_probabilities.as_ref().map(|[positives, negatives]| Pair { positives, negatives }),
            ranks: ranks.as_ref().map(|[positives, negatives]| Pair { positives, negatives }),
            others: above
                .as_ref()
                .zip(counts.as_ref())
                .map(|([positives, negatives], count)| Others { above: Pair { positives, negatives }, count }),
            estimated_ranks: estimated_ranks.as_ref(),
            columns: &numbers,
            adversary: adversary.as_deref(),
            relations: Relations { of_negatives: of_negatives.as_deref(), of_users: of_users.as_deref(), of_positives: of_rows.as_deref() },
        },
    };
    let losses = loss.forward(&scores)?;
    let gradients = (losses.sum_all()? * f64::from(scale))?.backward()?;
    Ok(Derivatives {
        scores: ScoreGradients {
            losses: losses.to_vec1()?,
            positives: derivative(&gradients, &positives)?,
            negatives: derivative(&gradients, &negatives)?,
        },
        columns: columns.iter().map(|column| derivative(&gradients, column)).collect::<Result<_>>()?,
        adversary: adversary.as_ref().map_or(Ok(Vec::new()), |scores| derivative(&gradients, scores))?,
        relations: [0, 1, 2]
            .map(|which| relations[which].as_ref().map_or(Ok(Vec::new()), |scores| derivative(&gradients, scores)))
            .into_iter()
            .collect::<Result<Vec<_>>>()?
            .try_into()
            .expect("three relations have three derivatives"),
        remembered: loss.remembered(&scores)?.iter().map(|values| Ok(values.to_vec1()?)).collect::<Result<_>>()?,
    })
}

fn derivative(gradients: &GradStore, of: &Var) -> Result<Vec<f32>> {
    match gradients.get(of) {
        Some(gradient) => Ok(gradient.flatten_all()?.to_vec1()?),
        None => Ok(vec![0.0; of.elem_count()]),
    }
}

//! A formula on some rows of a batch at a time.
//!
//! candle goes over all scores of a tensor in each operation. Those of a few rows stay in a core's cache from one operation to the next, and
//! parts go to all threads. A part has so many scores, whatever the number of threads, and sums over parts are made in their order. Another device has one part after the
//! other, which are larger: they bound its memory.

use crate::Result;
use crate::fit::{
    loss_state::derivatives::Derivatives,
    step::formula::{self, ScoredRows},
};
use candle_core::Device;
use losses::{Loss, Per, StateSpec};
use rayon::prelude::*;
use std::ops::Range;

/// Scores of a part on a CPU, and on another device, about.
pub(crate) const SCORES: usize = 1 << 15;
pub(crate) const SCORES_ELSEWHERE: usize = 1 << 23;

/// Losses of rows of scores and their derivatives times `scale`.
pub(crate) fn score_gradients(loss: &Loss, rows: ScoredRows, scale: f32, device: &Device) -> Result<Derivatives> {
    let scores = if device.is_cpu() { SCORES } else { SCORES_ELSEWHERE };
    let count = rows.positives.len() / loss.list().unwrap_or(1);
    let of_part = (scores * count / rows.negatives.len()).clamp(1, count);
    if loss.couples_rows() || of_part == count {
        return formula::score_gradients(loss, rows, scale, device);
    }
    let columns = loss.columns();
    let weigh_part = |part: usize| {
        let range = part * of_part..count.min((part + 1) * of_part);
        let numbers: Vec<Vec<f32>> = columns
            .iter()
            .zip(rows.columns)
            .map(|(column, numbers)| match column.per {
                Per::Whole(_) => numbers.clone(),
                Per::Users | Per::Items => cut(numbers, count, &range).to_vec(),
            })
            .collect();
        formula::score_gradients(loss, ScoredRows { columns: &numbers, ..part_of(rows, count, &range) }, scale, device)
    };
    let parts = 0..count.div_ceil(of_part);
    let parts: Vec<Derivatives> = match device.is_cpu() {
        true => parts.into_par_iter().map(weigh_part).collect::<Result<_>>()?,
        false => parts.map(weigh_part).collect::<Result<_>>()?,
    };
    Ok(parts.into_iter().reduce(|all, part| join(&columns, all, part)).expect("a batch has rows"))
}

/// What belongs to some of `count` rows.
fn cut<'a>(values: &'a [f32], count: usize, range: &Range<usize>) -> &'a [f32] {
    let width = values.len() / count;
    &values[range.start * width..range.end * width]
}

/// Some rows, with the columns of all.
fn part_of<'a>(rows: ScoredRows<'a>, count: usize, range: &Range<usize>) -> ScoredRows<'a> {
    let cut = |values: &'a [f32]| cut(values, count, range);
    ScoredRows {
        positives: cut(rows.positives),
        negatives: cut(rows.negatives),
        weights: rows.weights.map(cut),
        quantiles: rows.quantiles.map(cut),
        log_probabilities: rows.log_probabilities.map(|pair| pair.map(cut)),
        ranks: rows.ranks.map(|pair| pair.map(cut)),
        others: rows.others.map(|others| others.map(cut)),
        estimated_ranks: rows.estimated_ranks.map(cut),
        adversary: rows.adversary.map(cut),
        relations: [rows.relations[0].map(cut), None, None], // the others are of whole batches
        ..rows
    }
}

/// Two parts that follow each other.
fn join(columns: &[StateSpec], mut all: Derivatives, part: Derivatives) -> Derivatives {
    all.scores.losses.extend(part.scores.losses);
    all.scores.positives.extend(part.scores.positives);
    all.scores.negatives.extend(part.scores.negatives);
    for ((column, to), from) in columns.iter().zip(&mut all.columns).zip(part.columns) {
        match column.per {
            Per::Whole(_) => to.iter_mut().zip(from).for_each(|(sum, part)| *sum += part),
            Per::Users | Per::Items => to.extend(from),
        }
    }
    all.adversary.extend(part.adversary);
    all.relations.iter_mut().zip(part.relations).for_each(|(to, from)| to.extend(from));
    all.remembered.iter_mut().zip(part.remembered).for_each(|(to, from)| to.extend(from));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 75 rows of 1,000 negatives are three parts.
    const SHAPE: [usize; 2] = [75, 1000];

    #[track_caller]
    fn near(whole: &[f32], parts: &[f32], tolerance: f32) {
        let scale = whole.iter().fold(1e-6f32, |largest, value| largest.max(value.abs()));
        assert_eq!(whole.len(), parts.len());
        assert!(whole.iter().zip(parts).all(|(a, b)| (a - b).abs() <= tolerance * scale), "{whole:?}\n{parts:?}");
    }

    #[test]
    fn parts_are_the_whole() {
        let [rows, count] = SHAPE;
        let wave = |length: usize, pitch: f32| (0..length).map(|at| 0.9 * (at as f32 * pitch).sin()).collect::<Vec<f32>>();
        let (positives, negatives, hardness) = (wave(rows, 0.7), wave(rows * count, 1.3), wave(rows * count, 0.37));
        let ranks = [wave(rows, 0.4), wave(rows * count, 0.9)].map(|ranks| ranks.iter().map(|rank| (50.0 + 50.0 * rank).round()).collect());
        let [of_positives, of_negatives]: [Vec<f32>; 2] = ranks;
        for loss in [
            r#"{"sog-clr": {"temperature": 0.2, "update_rate": 0.9}}"#,
            r#"{"llpauc": {"true_positive_rate": 0.7, "false_positive_rate": 0.1}}"#,
            r#"{"adv-info-nce": {"temperature": 0.2}}"#,
            r#"{"lambda-loss-at-k": {"cutoff": 20}}"#,
            r#"{"lambda-rank": {"ranks": {"sampled": {"with_positives": true}}}}"#,
            r#"{"adap-tau": {}}"#,
            r#"{"sml": {"similarity": "dot"}}"#,
            r#"{"sampled-softmax": {}}"#,
        ] {
            let loss: Loss = serde_json::from_str(loss).unwrap();
            let numbers = |column: &StateSpec| wave(if let Per::Whole(length) = column.per { length } else { rows }, 0.11);
            let columns: Vec<Vec<f32>> = loss.columns().iter().map(numbers).collect();
            let given = ScoredRows {
                positives: &positives,
                negatives: &negatives,
                items: 5000,
                log_probabilities: Some([&positives, &hardness]),
                ranks: Some([&of_positives, &of_negatives]),
                others: Some([&of_positives, &of_negatives, &of_positives]),
                columns: &columns,
                adversary: Some(&hardness),
                relations: [Some(&hardness), None, None],
                ..ScoredRows::default()
            };
            let (whole, parts) = (
                formula::score_gradients(&loss, given, 0.5, &Device::Cpu).unwrap(),
                score_gradients(&loss, given, 0.5, &Device::Cpu).unwrap(),
            );
            near(&whole.scores.losses, &parts.scores.losses, 1e-5);
            near(&whole.scores.positives, &parts.scores.positives, 1e-5);
            near(&whole.scores.negatives, &parts.scores.negatives, 1e-5);
            near(&whole.adversary, &parts.adversary, 1e-5);
            assert_eq!((whole.columns.len(), whole.remembered.len()), (parts.columns.len(), parts.remembered.len()));
            whole.columns.iter().zip(&parts.columns).for_each(|(a, b)| near(a, b, 1e-3)); // sums that cancel
            whole.remembered.iter().zip(&parts.remembered).for_each(|(a, b)| near(a, b, 1e-5));
            whole.relations.iter().zip(&parts.relations).for_each(|(a, b)| near(a, b, 1e-5));
        }
    }
}

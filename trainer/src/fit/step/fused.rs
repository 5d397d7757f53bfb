//! A loss with more to move than a model by its fused form: [`formula`](super::formula) without a graph.

use crate::fit::{loss_state::derivatives::Derivatives, step::formula::ScoredRows};
use embeddings::ScoreGradients;
use losses::{FusedLossWithState, StateRows};
use rayon::prelude::*;

/// Rows of a parallel task.
const ROWS: usize = 16;

/// Losses of rows of scores and their derivatives times `scale`.
pub(crate) fn score_gradients(fused: &dyn FusedLossWithState, rows: ScoredRows, scale: f32) -> Derivatives {
    let (count, numbers) = (rows.positives.len(), rows.columns.concat());
    let width = rows.negatives.len() / count;
    let (mut positives, mut negatives, mut losses) = (rows.positives.to_vec(), rows.negatives.to_vec(), vec![0.0; count]);
    let mut adversary = rows.adversary.map_or_else(Vec::new, <[f32]>::to_vec);
    let mut of_adversary = adversary.chunks_mut(ROWS * width);
    let parts = losses.chunks_mut(ROWS).zip(positives.chunks_mut(ROWS)).zip(negatives.chunks_mut(ROWS * width));
    let parts: Vec<_> = parts.map(|((losses, positives), negatives)| (losses, positives, negatives, of_adversary.next())).collect();
    let sums = parts.into_par_iter().map(|(losses, positives, negatives, adversary)| {
        let mut sums = vec![0.0; numbers.len()];
        let adversary = adversary.unwrap_or_default();
        let own = StateRows { phase: rows.phase, numbers: &numbers, by_numbers: &mut sums, adversary: &mut *adversary };
        fused.rows(losses, positives, negatives, own);
        positives.iter_mut().chain(negatives).chain(adversary).for_each(|derivative| *derivative *= scale);
        sums
    });
    let sums: Vec<Vec<f64>> = sums.collect();
    let mut by_numbers = (0..numbers.len()).map(|at| (sums.iter().map(|part| part[at]).sum::<f64>() * f64::from(scale)) as f32);
    Derivatives {
        columns: rows.columns.iter().map(|column| by_numbers.by_ref().take(column.len()).collect()).collect(),
        scores: ScoreGradients { losses, positives, negatives },
        adversary,
        relations: Default::default(),
        remembered: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::step::formula;
    use losses::{Loss, Per, StateSpec};

    #[track_caller]
    fn near(found: &[f32], expected: &[f32], tolerance: f32) {
        let scale = expected.iter().fold(1e-6f32, |largest, value| largest.max(value.abs()));
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= tolerance * scale), "{found:?}\n{expected:?}");
    }

    /// Several tasks, the last not full, with masked entries.
    #[test]
    fn the_fused_form_is_the_formula() {
        let (rows, width) = (37, 30);
        let wave = |length: usize, pitch: f32| (0..length).map(|at| 0.9 * (at as f32 * pitch).sin()).collect::<Vec<f32>>();
        let (positives, mut negatives, hardness) = (wave(rows, 0.7), wave(rows * width, 1.3), wave(rows * width, 0.37));
        negatives.iter_mut().step_by(7).for_each(|score| *score = -1e30);
        let guided = [0, 1, 2].map(|phase| (r#"{"guided-rec": {"negatives": 30}}"#, phase));
        let others = [
            r#"{"llpauc": {"true_positive_rate": 0.7, "false_positive_rate": 0.1}}"#,
            r#"{"llpauc": {"true_positive_rate": 0.3, "false_positive_rate": 0.2, "form": "release", "concavity": 2}}"#,
            r#"{"adv-info-nce": {"temperature": 0.2}}"#,
        ];
        for (loss, phase) in others.map(|loss| (loss, 0)).into_iter().chain(guided) {
            let loss: Loss = serde_json::from_str(loss).unwrap();
            let numbers = |(at, column): (usize, &StateSpec)| match column.per {
                Per::Whole(1) => vec![wave(7, 0.8)[at].abs()],
                Per::Whole(length) => wave(length, 0.8 + at as f32).into_iter().map(|number| 0.2 * number).collect(),
                _ => unreachable!("no fused form has numbers of users or items"),
            };
            let columns: Vec<Vec<f32>> = loss.columns().iter().enumerate().map(numbers).collect();
            let adversary = loss.adversary().map(|_| &hardness[..]);
            let given = ScoredRows {
                positives: &positives,
                negatives: &negatives,
                items: 5000,
                phase,
                columns: &columns,
                adversary,
                ..ScoredRows::default()
            };
            let (expected, found) = (
                formula::score_gradients(&loss, given, 0.5, &candle_core::Device::Cpu).unwrap(),
                score_gradients(loss.fused_with_state().unwrap(), given, 0.5),
            );
            near(&found.scores.losses, &expected.scores.losses, 1e-5);
            near(&found.scores.positives, &expected.scores.positives, 1e-5);
            near(&found.scores.negatives, &expected.scores.negatives, 1e-5);
            near(&found.adversary, &expected.adversary, 1e-5);
            assert_eq!(found.columns.len(), expected.columns.len());
            found.columns.iter().zip(&expected.columns).for_each(|(found, expected)| near(found, expected, 1e-4)); // sums of cancelling terms
        }
    }
}

//! What every rule promises, and what its own tests need.

use super::{Dns, DnsMn, Pris, Softmax, SoftmaxV, Variance, Warp};
use crate::{
    Pool, Prepared, Row, Sampler, Uniform,
    rule::{Choice, RowScores, Rule},
};
use dataset::Interactions;
use proptest::prelude::*;
use streams::{Purpose, Stream};
use testing::assert_drawn_from;

/// Example A of the reference: the scores of a positive and of four negatives, and the softplus of their differences.
pub(super) const POSITIVE: f32 = 1.2;
pub(super) const CANDIDATES: [f32; 4] = [0.9, -0.3, 1.5, 0.1];
pub(super) const LOSSES: [f64; 4] = [0.55435524, 0.20141328, 0.85435524, 0.28733533];

pub(super) fn choose(rule: &dyn Rule, positive: f32, scores: &[f32], log_probabilities: Option<&[f32]>) -> Choice {
    choose_as(0, rule, positive, scores, log_probabilities)
}

pub(super) fn choose_as(row: u32, rule: &dyn Rule, positive: f32, scores: &[f32], log_probabilities: Option<&[f32]>) -> Choice {
    let mut choice = Choice::default();
    rule.choose(
        &mut Stream::new(7, Purpose::Choices, 1, 0, row),
        RowScores { positive, candidates: scores, log_probabilities },
        &mut choice,
    );
    choice
}

/// `sum_j w_j l_j` over the kept.
pub(super) fn expectation(choice: &Choice, losses: &[f64]) -> f64 {
    choice.places.iter().zip(&choice.weights).map(|(&place, &weight)| f64::from(weight) * losses[place as usize]).sum()
}

#[track_caller]
pub(super) fn assert_weights(choice: &Choice, expected: &[f64]) {
    assert!(choice.places.iter().copied().eq(0..expected.len() as u32), "{:?}", choice.places);
    for (&found, expected) in choice.weights.iter().zip(expected) {
        assert!((f64::from(found) - expected).abs() < 2e-7, "{:?}", choice.weights);
    }
}

/// A uniform pool.
pub(super) fn pool(negatives: u32, replacement: bool) -> Sampler {
    Sampler::Uniform(Uniform { negatives, replacement })
}

/// Ten items whose scores fall: how often one of the kept, each as likely, has each rank.
#[track_caller]
pub(super) fn assert_ranks(rule: &dyn Rule, pool: &Sampler, distribution: &[f64; 10]) {
    let train = Interactions::empty(1);
    let prepared = Prepared::new(pool, &train, 10).unwrap();
    let mut ids = [0; 4];
    let mut found = [0.0; 10];
    for row in 0..40_000 {
        let mut stream = Stream::new(7, Purpose::Negatives, 1, 0, row);
        prepared.draw(&mut stream, Row::alone(0), &mut ids, None);
        let choice = choose_as(row, rule, 0.0, &ids.map(|id| -(id as f32)), None);
        let kept = choice.places[stream.below(choice.places.len() as u32) as usize];
        found[ids[kept as usize] as usize] += 1.0;
    }
    assert_drawn_from(&found, distribution, 1.0);
}

/// One of each kind of rule, and of each form of it.
fn samplers() -> Vec<Sampler> {
    let (candidates, pool) = (Some(8), Pool::default());
    let softmax =
        |negatives, corrected| Sampler::Softmax(Softmax { candidates, temperature: 0.5, negatives, corrected, pool: Pool::default() });
    let softmax_v =
        |variance, corrected| Sampler::SoftmaxV(SoftmaxV { candidates, divergence: 0.7, variance, corrected, pool: Pool::default() });
    let dns_mn = |sum| Sampler::DnsMn(DnsMn { candidates, negatives: 3, sum, pool: Pool::default() });
    vec![
        Sampler::Dns(Dns { candidates, pool: pool.clone() }),
        dns_mn(false),
        dns_mn(true),
        softmax(None, false),
        softmax(None, true),
        softmax(Some(3), false),
        softmax(Some(3), true),
        softmax_v(Variance::Population, false),
        softmax_v(Variance::Sample, true),
        Sampler::Pris(Pris { candidates, pool }),
        Sampler::Warp(Warp { candidates: 8, margin: 1.0 }),
    ]
}

fn score() -> impl Strategy<Value = f32> {
    prop_oneof![4 => -3.0f32..3.0, 1 => Just(0.5), 1 => Just(-1e30), 1 => -1e4f32..1e4, 1 => Just(500.0), 1 => Just(-1e-20)]
}

proptest! {
    #[test]
    fn every_rule_keeps_as_many_as_it_says_and_weighs_them(
        scores in prop::collection::vec((score(), -12.0f32..0.0), 1..40), positive in -1e3f32..1e3, row: u32
    ) {
        let (scores, log_probabilities): (Vec<f32>, Vec<f32>) = scores.into_iter().unzip();
        let items = scores.iter().filter(|&&score| score > -1e29).count();
        for sampler in samplers() {
            let rule = sampler.rule(1000).unwrap();
            let choice = choose_as(row, &*rule, positive, &scores, Some(&log_probabilities));
            prop_assert_eq!(choice.places.len(), rule.chosen(scores.len()), "{:?}", sampler);
            prop_assert_eq!(choice.weights.len(), choice.places.len());
            prop_assert!(choice.places.is_sorted_by(|a, b| a < b) && choice.places.iter().all(|&place| (place as usize) < scores.len()));
            prop_assert!(choice.weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0), "{sampler:?}: {:?}", choice.weights);
            let total: f32 = choice.weights.iter().sum();
            if !rule.weighs() || rule.sums() {
                let kept = choice.places.iter().zip(&choice.weights).filter(|&(&place, _)| scores[place as usize] > -1e29);
                prop_assert!(kept.clone().all(|(_, &weight)| weight == 1.0), "{sampler:?}: {:?}", choice.weights);
                prop_assert_eq!(kept.count(), items.min(choice.places.len()), "{:?}: masked ones before others", sampler);
            } else if !matches!(sampler, Sampler::Warp(_)) {
                let masked = choice.places.iter().zip(&choice.weights).filter(|&(&place, _)| scores[place as usize] <= -1e29);
                prop_assert!(masked.into_iter().all(|(_, &weight)| weight == 0.0), "{sampler:?}");
                prop_assert!((total - if items > 0 { 1.0 } else { 0.0 }).abs() < 1e-5, "{sampler:?}: {:?}", choice.weights);
            }
        }
    }

    /// What is left from the row before changes nothing.
    #[test]
    fn a_choice_is_reused(rows in prop::collection::vec(prop::collection::vec(score(), 8), 2..6)) {
        for sampler in samplers() {
            let rule = sampler.rule(1000).unwrap();
            let mut reused = Choice::default();
            for (row, scores) in rows.iter().enumerate() {
                let given = RowScores { positive: 0.3, candidates: scores, log_probabilities: None };
                rule.choose(&mut Stream::new(7, Purpose::Choices, 1, 0, row as u32), given, &mut reused);
                let fresh = choose_as(row as u32, &*rule, 0.3, scores, None);
                prop_assert_eq!((&reused.places, &reused.weights, reused.rank), (&fresh.places, &fresh.weights, fresh.rank));
            }
        }
    }
}

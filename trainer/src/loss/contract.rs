//! What every loss promises, whatever its formula.

use super::adap_tau::{Baseline, Global, Mean};
use super::lambda::{Exact, RankSource, Sampled, Weights};
use super::llpauc::{Form, Updates};
use super::testing::{Evaluated, Rows, assert_close, evaluate, evaluate_in, evaluate_rows};
use super::*;
use candle_core::DType;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Every kind, with each of its switches off and on.
pub(super) fn examples() -> Vec<Loss> {
    let softmax = |include_positive| Softmax { temperature: 0.2, include_positive, similarity: Similarity::Cosine };
    let softmax_at_k = |include_positive, detach_weight| SoftmaxAtK {
        cutoff: 3,
        temperature: 0.2,
        weight_temperature: 1.5,
        quantile_every: 5,
        quantile_update: QuantileUpdate::AfterEpoch,
        detach_weight,
        include_positive,
        similarity: Similarity::Cosine,
    };
    let sampled_softmax = |correction| SampledSoftmax { temperature: 0.5, correction, similarity: Similarity::Dot };
    let psl =
        |surrogate, whole_batch| Psl { temperature: 0.1, score_temperature: 2.0, surrogate, whole_batch, similarity: Similarity::Cosine };
    let uib = |penalty| Uib { negative_weight: 0.3, penalty, similarity: Similarity::Dot };
    let warp = |rank_weight| Warp { margin: 1.0, rank_weight, similarity: Similarity::Dot };
    let distance = Similarity::NegativeSquaredDistance;
    let bsl = |form| Bsl { positive_temperature: 0.1, negative_temperature: 0.2, form, positives: None, similarity: Similarity::Cosine };
    let (positives, similarity) = (3, Similarity::Dot);
    let smooth_ndcg = |form, include_self| SmoothNdcg { temperature: 0.4, form, positives, include_self, similarity };
    let smooth_ap = |include_self| SmoothAp { temperature: 0.4, positives, include_self, similarity };
    let smooth_recall =
        SmoothRecall { temperature: 0.4, cutoffs: vec![1, 3], cutoff_temperature: 0.8, positives, include_self: false, similarity };
    let neural_ndcg = |cutoff, sinkhorn_iterations, transposed| NeuralNdcg {
        temperature: 0.7,
        cutoff,
        sinkhorn_iterations,
        transposed,
        positives,
        similarity,
    };
    let adap_tau = |baseline| AdapTau { baseline, loss_temperature: 1.0, warm_up: 3 };
    let llpauc = |form| Llpauc {
        true_positive_rate: 0.7,
        false_positive_rate: 0.1,
        form,
        updates: Updates::Minimax,
        concavity: 0.0,
        similarity: Similarity::Cosine,
    };
    let (exact, sampled) = (RankSource::Exact(Exact {}), RankSource::Sampled(Sampled { rescaled: true, with_positives: false }));
    let among_own = RankSource::Sampled(Sampled { rescaled: true, with_positives: true });
    let lambda_loss = |ranks, weights| LambdaLoss { ranks, weights, similarity: Similarity::Dot };
    let lambda_loss_at_k = |ranks, weights| LambdaLossAtK { cutoff: 3, ranks, weights, similarity: Similarity::Dot };
    vec![
        Loss::Bce(Bce { similarity: Similarity::Dot }),
        Loss::Gbce(Gbce { calibration: 0.75, similarity: Similarity::Dot }),
        Loss::Bpr(Bpr { similarity: Similarity::Dot }),
        Loss::Cce(Cce { similarity: Similarity::Dot }),
        Loss::Softmax(softmax(false)),
        Loss::Softmax(softmax(true)),
        Loss::SampledSoftmax(sampled_softmax(Correction::All)),
        Loss::SampledSoftmax(sampled_softmax(Correction::Negatives)),
        Loss::SoftmaxAtK(softmax_at_k(false, false)),
        Loss::SoftmaxAtK(softmax_at_k(true, false)),
        Loss::SoftmaxAtK(softmax_at_k(false, true)),
        Loss::Psl(psl(Surrogate::Tanh, false)),
        Loss::Psl(psl(Surrogate::Relu, false)),
        Loss::Psl(psl(Surrogate::Atan, false)),
        Loss::Psl(psl(Surrogate::Tanh, true)),
        Loss::Psl(psl(Surrogate::Relu, true)),
        Loss::Psl(psl(Surrogate::Atan, true)),
        Loss::Ccl(Ccl { margin: 0.4005, negative_weight: 10.0, similarity: Similarity::Cosine }),
        Loss::Sparsemax(Sparsemax { similarity: Similarity::Dot }),
        Loss::Mse(Mse { positive_weight: 5.0, similarity: Similarity::Dot }),
        Loss::Uib(uib(Penalty::Softplus)),
        Loss::Uib(uib(Penalty::Hinge)),
        Loss::Cml(Cml { margin: 0.5, similarity: distance }),
        Loss::Sml(Sml { item_weight: 0.01, margin_weight: 10.0, largest_margin: 1.0, similarity: distance }),
        Loss::Warp(warp(RankWeight::Harmonic)),
        Loss::Warp(warp(RankWeight::Logarithm)),
        Loss::DirectAu(DirectAu { uniformity: 0.7, similarity: Similarity::Cosine }),
        Loss::Bsl(bsl(BslForm::Pairs)),
        Loss::Bsl(bsl(BslForm::Lists)),
        Loss::SmoothNdcg(smooth_ndcg(NdcgForm::Ranks, false)),
        Loss::SmoothNdcg(smooth_ndcg(NdcgForm::Ranks, true)),
        Loss::SmoothNdcg(smooth_ndcg(NdcgForm::Gains, false)),
        Loss::SmoothAp(smooth_ap(false)),
        Loss::SmoothAp(smooth_ap(true)),
        Loss::SmoothRecall(smooth_recall),
        Loss::ApproxNdcg(ApproxNdcg { steepness: 2.0, positives, similarity }),
        Loss::NeuralNdcg(neural_ndcg(None, 0, false)),
        Loss::NeuralNdcg(neural_ndcg(Some(2), 0, false)),
        Loss::NeuralNdcg(neural_ndcg(None, 1, false)),
        Loss::NeuralNdcg(neural_ndcg(Some(2), 1, true)),
        Loss::NeuralNdcg(neural_ndcg(None, 5, false)),
        Loss::NeuralNdcg(neural_ndcg(Some(2), 5, true)),
        Loss::SogClr(SogClr { temperature: 0.2, update_rate: 0.9, similarity: Similarity::Cosine }),
        Loss::SogSoftmaxAtK(SogSoftmaxAtK {
            cutoff: 3,
            temperature: 0.2,
            weight_temperature: 1.5,
            quantile_every: 5,
            quantile_update: QuantileUpdate::AfterEpoch,
            update_rate: 0.9,
            similarity: Similarity::Cosine,
        }),
        Loss::AdapTau(adap_tau(Baseline::Mean(Mean {}))),
        Loss::AdapTau(adap_tau(Baseline::Global(Global {}))),
        Loss::AdvInfoNce(AdvInfoNce {
            temperature: 0.2,
            negative_weight: 64.0,
            schedule: Default::default(),
            adversary_dim: 8,
            adversary_learning_rate: 5e-5,
            similarity: Similarity::Cosine,
        }),
        Loss::Llpauc(llpauc(Form::Paper)),
        Loss::Llpauc(llpauc(Form::Release)),
        Loss::GuidedRec(GuidedRec { negatives: 9, similarity: Similarity::Cosine }),
        Loss::LambdaRank(LambdaRank { ranks: exact, similarity: Similarity::Dot }),
        Loss::LambdaRank(LambdaRank { ranks: sampled, similarity: Similarity::Dot }),
        Loss::LambdaLoss(lambda_loss(exact, Weights::Paper)),
        Loss::LambdaLoss(lambda_loss(sampled, Weights::Release)),
        Loss::LambdaLossAtK(lambda_loss_at_k(exact, Weights::Paper)),
        Loss::LambdaLossAtK(lambda_loss_at_k(exact, Weights::Release)),
        Loss::LambdaLossAtK(lambda_loss_at_k(sampled, Weights::Paper)),
        Loss::LambdaLossAtK(lambda_loss_at_k(among_own, Weights::Paper)),
    ]
}

/// Whether differences of the loss are its gradient everywhere: not where a part is held constant on purpose.
pub(super) fn is_gradient_exact(loss: &Loss) -> bool {
    match loss {
        Loss::SoftmaxAtK(settings) => !settings.detach_weight,
        Loss::Cml(_) => false, // of equally near negatives the first has the gradient alone
        Loss::SogClr(_) | Loss::SogSoftmaxAtK(_) => false, // averages
        Loss::LambdaRank(_) | Loss::LambdaLoss(_) | Loss::LambdaLossAtK(_) => loss.needs_ranks(), // others rank the moved scores
        // Sinkhorn's scaling stops at a tolerance, where the loss jumps by as much; a single round has nothing to stop.
        Loss::NeuralNdcg(settings) => settings.sinkhorn_iterations <= 1,
        _ => true,
    }
}

/// serde knows every variant: a new kind fails here until it has an example.
#[test]
fn every_kind_has_an_example() {
    let error = serde_json::from_str::<Loss>(r#"{"?": {}}"#).unwrap_err().to_string();
    let kinds: BTreeSet<&str> = error.split('`').skip(3).step_by(2).collect();
    let examples = examples();
    let written: Vec<serde_json::Value> = examples.iter().map(|loss| serde_json::to_value(loss).unwrap()).collect();
    let found: BTreeSet<&str> = written.iter().flat_map(|value| value.as_object().unwrap().keys()).map(String::as_str).collect();
    assert_eq!(found, kinds);
    assert!(examples.iter().all(|loss| loss.check().is_ok()));
}

/// The training loop gives ranks, own numbers and relations of drawn negatives alone.
#[test]
fn losses_that_look_beyond_a_row_need_draws() {
    for loss in examples() {
        assert!(loss.is_by_row() || loss.needs_draws().is_some(), "{loss:?}");
    }
}

#[test]
fn kinds_reject_unknown_keys() {
    for loss in examples() {
        let mut value = serde_json::to_value(&loss).unwrap();
        assert_eq!(serde_json::from_value::<Loss>(value.clone()).unwrap(), loss);
        let settings = value.as_object_mut().unwrap().values_mut().next().unwrap();
        settings.as_object_mut().unwrap().insert("tempratur".into(), 0.1.into());
        let error = serde_json::from_value::<Loss>(value).unwrap_err().to_string();
        assert!(error.contains("tempratur"), "{error}");
    }
}

fn all(found: &Evaluated) -> impl Iterator<Item = f64> {
    found.values.iter().chain(&found.by_positives).chain(found.by_negatives.iter().flatten()).copied()
}

/// Scores far beyond what an exponential bears, and rows that are masked but for one entry.
#[test]
fn values_and_gradients_are_finite_at_extreme_scores() {
    let positives = [500.0, -500.0, 0.0, 1e4, -1e4, 0.3];
    let negatives =
        [[800.0, -300.0, 790.0], [800.0, -300.0, 790.0], [0.0, 0.0, 0.0], [-1e4, -1e4, -1e4], [1e4, 1e4, 1e4], [-1e30, 0.2, -1e30]];
    let quantiles = [0.0, 700.0, 0.0, 1e4, 1e4, 0.5];
    for (loss, dtype) in examples().iter().flat_map(|loss| [(loss, DType::F32), (loss, DType::F64)]) {
        let found = evaluate_in(dtype, loss, &positives, &negatives.map(Vec::from), &quantiles);
        assert!(all(&found).all(f64::is_finite), "{loss:?}: {:?} {:?} {:?}", found.values, found.by_positives, found.by_negatives);
        assert_eq!((found.by_negatives[5][0], found.by_negatives[5][2]), (0.0, 0.0), "{loss:?}: masked entries have no gradient");
    }
}

/// Different scores from -0.9 to 0.9 on a grid, so that none is within a step of differences of a kink: of another score, where places
/// change, of the margin of `ccl`, which lies between grid points, of the threshold h of `sparsemax`, as `1000 k (s_j - h)` is a whole
/// number that 3 never divides, or of the end of `psl`'s relu, which scores 2 apart reach.
fn scores(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    let places = prop::sample::subsequence((-300..300).collect::<Vec<i32>>(), count).prop_shuffle();
    places.prop_map(|places| places.into_iter().map(|at| f64::from(3 * at + 1) / 1000.0).collect())
}

/// The loss of one row whose j-th negative has the j-th of these log-probabilities, and the place that `ranked[1 + j]` has.
fn of_draws(loss: &Loss, scores: &[f64], ranked: &[f64], quantile: f64, log_probabilities: &[f64]) -> Evaluated {
    let drawn = log_probabilities[..scores.len() - 1].to_vec();
    let (positives, negatives) = (&scores[..1], &[scores[1..].to_vec()]);
    let ranks = (&ranked[..1], &[ranked[1..].to_vec()][..]);
    let rows = Rows { positives, negatives, quantiles: &[quantile], log_probabilities: (&[-3.0], &[drawn]), ranks: Some(ranks) };
    evaluate_rows(DType::F64, loss, rows).unwrap()
}

proptest! {
    #[test]
    fn gradients_are_central_differences(
        scores in scores(2..9),
        quantile in -1.0f64..1.0,
        draws in prop::collection::vec(-8.0f64..0.0, 8),
    ) {
        let step = 1e-5;
        for loss in examples().into_iter().filter(is_gradient_exact) {
            let value = |moved: &[f64]| of_draws(&loss, moved, &scores, quantile, &draws).values[0];
            let found = of_draws(&loss, &scores, &scores, quantile, &draws);
            let differences: Vec<f64> = (0..scores.len()).map(|at| {
                let moved = |by: f64| value(&scores.iter().enumerate().map(|(j, s)| if j == at { s + by } else { *s }).collect::<Vec<_>>());
                (moved(step) - moved(-step)) / (2.0 * step)
            }).collect();
            assert_close(&[found.by_positives, found.by_negatives.concat()].concat(), &differences, 2e-7);
        }
    }

    #[test]
    fn the_order_of_negatives_does_not_matter(
        scores in prop::collection::vec(-1.0f64..1.0, 2..40),
        quantile in -1.0f64..1.0,
        draws in prop::collection::vec(-8.0f64..0.0, 39),
    ) {
        let (mut reversed, mut reversed_draws) = (scores.clone(), draws[..scores.len() - 1].to_vec());
        reversed[1..].reverse();
        reversed_draws.reverse();
        for loss in examples() {
            let found = of_draws(&loss, &scores, &scores, quantile, &draws);
            let mut other = of_draws(&loss, &reversed, &reversed, quantile, &reversed_draws);
            other.by_negatives[0].reverse();
            assert_close(&all(&found).collect::<Vec<_>>(), &all(&other).collect::<Vec<_>>(), 1e-12);
        }
    }

    #[test]
    fn rows_do_not_see_each_other(scores in prop::collection::vec(-1.0f64..1.0, 12..13), quantiles in prop::collection::vec(-1.0f64..1.0, 3..4)) {
        let negatives: Vec<Vec<f64>> = scores[3..].chunks(3).map(<[f64]>::to_vec).collect();
        for loss in examples().into_iter().filter(|loss| !loss.sees_the_batch()) {
            let together = evaluate(&loss, &scores[..3], &negatives, &quantiles);
            for row in 0..3 {
                let alone = evaluate(&loss, &scores[row..=row], &negatives[row..=row], &quantiles[row..=row]);
                assert_close(&[together.values[row], together.by_positives[row]], &[alone.values[0], alone.by_positives[0]], 1e-13);
                assert_close(&together.by_negatives[row], &alone.by_negatives[0], 1e-13);
            }
        }
    }
}

//! Guided learning by a learned surrogate of DCG (GuidedRec).
//!
//! ```text
//! 1. model      l(u, i) = N softplus(-s_ui) + sum_j softplus(s_uj)
//! 2. surrogate  l(u, i) = (S(x) - d)^2,   d = 1 / log2(1 + rank of the positive among the N + 1)
//! 3. model      l(u, i) = -S(x)
//! ```
//! Each step has these three updates, of the model, of the surrogate network `S` (see [`surrogate`]) and of the model again. The network
//! sees the probabilities `x = sigmoid(s)` of the positive and of its N negatives, with their labels, in their order: it is not blind to the
//! order of the negatives, and with the positive always first it could do without the labels. The sum of step 1 weighs the positive by the
//! number of negatives. The network is made for rows of N negatives, and N is small: 9 in papers.
//! Rashed et al., "A Guided Learning Approach for Item Recommendation via Surrogate Loss Learning", SIGIR 2021, as in the release of paper
//! SL@K, whose network learns with the model's learning rate and weight decay.

use super::primitives::{count_items, sigmoid, softplus};
use super::{Facts, FusedLossWithState, LossKind, Phase, Scores, StateRows, StateSpec};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

mod fused;
pub mod surrogate;

/// `guided-rec` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuidedRec {
    /// The negatives that the network is made for, at most 100: as many as the sampler draws.
    #[serde(default = "nine")]
    pub negatives: u32,
    /// How two vectors make a score.
    #[serde(default = "super::cosine")]
    pub similarity: Similarity,
}

fn nine() -> u32 {
    9
}

/// More negatives are taken for a slip: the network has a weight for each pair of them.
const MOST_NEGATIVES: u32 = 100;

/// Why it cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "the surrogate of guided-rec is a network of a few draws";

impl LossKind for GuidedRec {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts { paper: "Rashed et al., SIGIR 2021", values: "SL@K: 9 negatives; Adam 0.01 / 0.01 / 0.001 / 0.001", cost: "O(N^2)" }
    }

    fn check(&self) -> std::result::Result<(), String> {
        match self.negatives {
            1..=MOST_NEGATIVES => Ok(()),
            negatives => Err(format!("negatives is {negatives}: expected a number from 1 to {MOST_NEGATIVES}")),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        in_phase(given.phase, positives, negatives, given.columns)
    }

    fn fused_with_state(&self) -> Option<&dyn FusedLossWithState> {
        Some(self)
    }

    fn columns(&self) -> Vec<StateSpec> {
        surrogate::columns(self.negatives as usize + 1)
    }

    fn phases(&self, _epoch: u32) -> Vec<Phase> {
        PHASES.to_vec()
    }

    fn negatives(&self) -> Option<usize> {
        Some(self.negatives as usize)
    }

    fn needs_draws(&self) -> Option<&'static str> {
        Some(NEEDS_DRAWS)
    }
}

impl FusedLossWithState for GuidedRec {
    fn rows(&self, losses: &mut [f32], positives: &mut [f32], negatives: &mut [f32], own: StateRows) {
        const ROWS: usize = fused::ROWS;
        let width = negatives.len() / losses.len();
        let rows = positives.chunks_mut(ROWS).zip(negatives.chunks_mut(ROWS * width));
        for (losses, (positives, negatives)) in losses.chunks_mut(ROWS).zip(rows) {
            fused::guided_rec(own.phase, losses, positives, negatives, own.numbers, &mut *own.by_numbers);
        }
    }
}

/// The model, the network, and the model again.
const PHASES: [Phase; 3] = [
    Phase { number: 0, moves_model: true, moves_state: false },
    Phase { number: 1, moves_model: false, moves_state: true },
    Phase { number: 2, moves_model: true, moves_state: false },
];

/// What is minimised in a phase of a step, one value per positive, `[B]`; `parameters` are the network's columns.
fn in_phase(phase: usize, positives: &Tensor, negatives: &Tensor, parameters: &[Tensor]) -> Result<Tensor> {
    match phase {
        0 => guided_rec(positives, negatives),
        1 => guided_rec_error(positives, negatives, &Tensor::cat(parameters, 0)?),
        _ => guided_rec_guide(positives, negatives, &Tensor::cat(parameters, 0)?),
    }
}

/// The model's first loss, one value per positive, `[B]`, from `positives [B]` and `negatives [B, N]`.
pub fn guided_rec(positives: &Tensor, negatives: &Tensor) -> Result<Tensor> {
    (softplus(&positives.neg()?)? * count_items(negatives)?)? + softplus(negatives)?.sum(D::Minus1)?
}

/// The surrogate's loss, one value per positive, `[B]`, from `positives [B]`, `negatives [B, N]` and the network's `parameters`; the scores
/// are constants of the gradient.
pub fn guided_rec_error(positives: &Tensor, negatives: &Tensor, parameters: &Tensor) -> Result<Tensor> {
    let (positives, negatives) = (positives.detach(), negatives.detach());
    let estimate = estimate(&positives, &negatives, parameters)?;
    (estimate - gain(&positives, &negatives)?)?.sqr()
}

/// The model's second loss, one value per positive, `[B]`, from `positives [B]`, `negatives [B, N]` and the network's `parameters`, which are
/// constants of the gradient.
pub fn guided_rec_guide(positives: &Tensor, negatives: &Tensor, parameters: &Tensor) -> Result<Tensor> {
    estimate(positives, negatives, &parameters.detach())?.neg()
}

/// `S(x)`: `[B]`.
fn estimate(positives: &Tensor, negatives: &Tensor, parameters: &Tensor) -> Result<Tensor> {
    let scores = Tensor::cat(&[&positives.unsqueeze(1)?, negatives], 1)?;
    let labels = Tensor::cat(&[&positives.ones_like()?.unsqueeze(1)?, &negatives.zeros_like()?], 1)?;
    surrogate::surrogate(&Tensor::stack(&[sigmoid(&scores)?, labels], 2)?, parameters)
}

/// The DCG of the row with its one positive, `[B]`; a negative of the same score stands above it.
fn gain(positives: &Tensor, negatives: &Tensor) -> Result<Tensor> {
    let above = negatives.broadcast_ge(&positives.unsqueeze(1)?)?.to_dtype(positives.dtype())?.sum(D::Minus1)?;
    ((above + 2.0)?.log()? / std::f64::consts::LN_2)?.recip()
}

#[cfg(test)]
impl super::contract::Contract for GuidedRec {
    fn examples() -> Vec<Self> {
        vec![GuidedRec { negatives: 9, similarity: Similarity::Cosine }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Per;
    use super::super::testing::{EXAMPLE_C, assert_close, assert_gradients, differentiate};
    use super::*;
    use candle_core::Device;
    use proptest::prelude::*;

    /// Some network of a row of a positive and `negatives`.
    fn network(negatives: usize) -> Vec<f64> {
        (0..surrogate::parameters(negatives + 1)).map(|at| 0.3 * (at as f64).sin()).collect()
    }

    #[test]
    fn worked_example_of_the_first_loss() {
        let inputs: [(&[f64], &[usize]); 2] = [(&[EXAMPLE_C.0], &[1]), (&EXAMPLE_C.1, &[1, 4])];
        let (value, gradient) = differentiate(&inputs, |x| guided_rec(&x[0], &x[1]));
        assert_close(&[value], &[5.19007114], 5e-9);
        assert_close(&gradient.concat(), &[-1.41737478, 0.62245933, 0.47502081, 0.66818777, 0.5124974], 6e-9);
    }

    #[test]
    fn worked_gain() {
        let tensor = |values: &[f64], shape: &[usize]| Tensor::from_slice(values, shape, &Device::Cpu).unwrap();
        let found = gain(&tensor(&[EXAMPLE_C.0, 0.9, 0.5], &[3]), &tensor(&[EXAMPLE_C.1; 3].concat(), &[3, 4])).unwrap();
        assert_close(&found.to_vec1::<f64>().unwrap(), &[0.63092975, 1.0, 0.5], 5e-9);
    }

    /// The estimate of the worked row, by numpy.
    const EDCG: f64 = -0.2022116777055144;

    #[test]
    fn worked_estimate() {
        let inputs: [(&[f64], &[usize]); 3] = [(&[EXAMPLE_C.0], &[1]), (&EXAMPLE_C.1, &[1, 4]), (&network(4), &[surrogate::parameters(5)])];
        let (value, gradient) = differentiate(&inputs, |x| guided_rec_guide(&x[0], &x[1], &x[2]));
        assert_close(&[value], &[-EDCG], 1e-13);
        assert!(gradient[2].iter().all(|by| *by == 0.0), "the network is a constant");
        let (value, gradient) = differentiate(&inputs, |x| guided_rec_error(&x[0], &x[1], &x[2]));
        assert_close(&[value], &[(EDCG - 0.6309297535714575f64).powi(2)], 1e-13);
        assert!(gradient[..2].concat().iter().all(|by| *by == 0.0), "the scores are constants");
    }

    #[test]
    fn masked_negatives_add_nothing_to_the_first_loss_and_get_no_gradient() {
        let masked = [-1e30, 0.5, -0.1, 0.7, 0.05];
        let inputs: [(&[f64], &[usize]); 3] = [(&[EXAMPLE_C.0], &[1]), (&masked, &[1, 5]), (&network(5), &[surrogate::parameters(6)])];
        let (value, gradient) = differentiate(&inputs, |x| guided_rec(&x[0], &x[1]));
        assert_close(&[value], &[5.19007114], 5e-9);
        assert_eq!(gradient[1][0], 0.0);
        let (value, gradient) = differentiate(&inputs, |x| guided_rec_guide(&x[0], &x[1], &x[2]));
        assert!(value.is_finite());
        assert_eq!(gradient[1][0], 0.0);
    }

    #[test]
    fn finite_at_extreme_scores() {
        for (positive, negatives) in [(500.0, [800.0, -300.0, 790.0]), (-1e4, [-1e4; 3]), (1e4, [1e4; 3]), (0.3, [-1e30; 3])] {
            let inputs: [(&[f64], &[usize]); 3] = [(&[positive], &[1]), (&negatives, &[1, 3]), (&network(3), &[surrogate::parameters(4)])];
            for loss in [guided_rec_error, guided_rec_guide, |p: &Tensor, n: &Tensor, _: &Tensor| guided_rec(p, n)] {
                let (value, gradients) = differentiate(&inputs, |x| loss(&x[0], &x[1], &x[2]));
                assert!(value.is_finite() && gradients.concat().iter().all(|by| by.is_finite()), "{positive} {negatives:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn gradients_are_central_differences(scores in prop::collection::vec(-1.0f64..1.0, 6)) {
            let inputs: [(&[f64], &[usize]); 2] = [(&scores[..2], &[2]), (&scores[2..], &[2, 2])];
            let network = Tensor::from_vec(network(2), surrogate::parameters(3), &Device::Cpu).unwrap();
            assert_gradients(&inputs, 1e-6, |x| guided_rec(&x[0], &x[1]));
            assert_gradients(&inputs, 1e-6, |x| guided_rec_guide(&x[0], &x[1], &network));
        }
    }

    #[test]
    fn phases_are_the_three_losses() {
        let settings = GuidedRec { negatives: 4, similarity: Similarity::Cosine };
        let lengths: Vec<usize> =
            settings.columns().iter().map(|column| if let Per::Whole(length) = column.per { length } else { 0 }).collect();
        let network = Tensor::from_vec(network(4), surrogate::parameters(5), &Device::Cpu).unwrap();
        let starts = lengths.iter().scan(0, |end, length| Some(std::mem::replace(end, *end + length)));
        let layers: Vec<Tensor> = starts.zip(&lengths).map(|(start, length)| network.narrow(0, start, *length).unwrap()).collect();
        let inputs: [(&[f64], &[usize]); 2] = [(&[EXAMPLE_C.0], &[1]), (&EXAMPLE_C.1, &[1, 4])];
        let found = PHASES.map(|phase| differentiate(&inputs, |x| in_phase(phase.number, &x[0], &x[1], &layers)).0);
        assert_close(&found[..1], &[5.19007114], 5e-9);
        assert_close(&found[1..], &[(EDCG - 0.6309297535714575f64).powi(2), -EDCG], 1e-13);
    }

    #[test]
    fn numbers_of_negatives_that_are_none_are_named() {
        for negatives in [0, 101] {
            let message = GuidedRec { negatives, similarity: Similarity::Cosine }.check().unwrap_err();
            assert!(message.starts_with(&format!("negatives is {negatives}:")), "{message}");
        }
        assert_eq!(serde_json::from_str::<GuidedRec>("{}").unwrap(), GuidedRec { negatives: 9, similarity: Similarity::Cosine });
    }

    #[test]
    fn the_networks_gradient_is_its_central_difference() {
        let network = network(2);
        let tensor = |values: &[f64], shape: &[usize]| Tensor::from_slice(values, shape, &Device::Cpu).unwrap();
        let (positives, negatives) = (tensor(&[0.3, -0.2], &[2]), tensor(&[0.1, 0.5, -0.7, -0.4], &[2, 2]));
        assert_gradients(&[(&network, &[network.len()])], 1e-6, |x| guided_rec_error(&positives, &negatives, &x[0]));
    }
}

//! Adversarial InfoNCE (AdvInfoNCE).
//!
//! ```text
//! l(u, i) = log(exp(s_ui / t) + W sum_j N p_uj exp(s_uj / t)) - s_ui / t,   p_u = softmax_j(g_uj)
//! ```
//! `g_uj` is the cosine of an adversary's own vectors of the user and of the item. The model descends with `p` as it is; now and then the
//! adversary ascends with the model as it is and puts weight on the negatives that hurt most. With equal `p` and a `W` of 1 it is `softmax`
//! with the positive. The paper's formula has no `W`; both releases multiply by 64. They take plain exponentials, which overflow.
//!
//! In the authors' release an adversary's pass comes before the model's in some epochs, and stops after a few: here it moves before the
//! model in each step of these epochs. In the release of paper SL@K the adversary moves in the place of the model in every fifth epoch,
//! without an end. Both are offered as `schedule`.
//! Zhang et al., "Empowering Collaborative Filtering with Principled Adversarial Contrastive Loss", NeurIPS 2023, arXiv:2310.18700.

mod fused;

use super::primitives::{count_items, fill_masked, log_sum_exp, margins, softplus};
use super::{Adversary, Facts, FusedLossWithState, LossKind, Phase, Scores, StateRows, check_above_zero, scores};
use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `adv-info-nce` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdvInfoNce {
    /// Temperature, above 0.
    pub temperature: f64,
    /// What the negatives' sum is multiplied by, above 0: W.
    #[serde(default = "sixty_four")]
    pub negative_weight: f64,
    /// When the adversary moves.
    #[serde(default)]
    pub schedule: Schedule,
    /// Length of the adversary's vectors, which start as `normal` with a standard deviation of 1.
    #[serde(default = "dim")]
    pub adversary_dim: u32,
    /// Learning rate of the adversary's Adam, above 0; a decay of the model's leaves it as it is.
    #[serde(default = "learning_rate")]
    pub adversary_learning_rate: f64,
    /// How two vectors make a score.
    #[serde(default = "super::cosine")]
    pub similarity: Similarity,
}

/// `schedule` of [`AdvInfoNce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// The adversary moves before the model, in some epochs.
    Beside(Beside),
    /// The adversary moves in the place of the model, in some epochs.
    Instead(Instead),
}

/// `beside` in a sweep file: the authors' schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// Its epochs are 3, `3 + every`, `3 + 2 every`, ...
    #[serde(default = "five")]
    pub every: u32,
    /// After so many of them the adversary stays as it is.
    #[serde(default = "seven")]
    pub epochs: u32,
}

/// `instead` in a sweep file: the schedule of paper SL@K's release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Instead {
    /// Its epochs are `every`, `2 every`, ...
    #[serde(default = "five")]
    pub every: u32,
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Beside(Beside { every: five(), epochs: seven() })
    }
}

fn sixty_four() -> f64 {
    64.0
}

fn dim() -> u32 {
    64
}

fn learning_rate() -> f64 {
    5e-5
}

fn five() -> u32 {
    5
}

fn seven() -> u32 {
    7
}

/// Steps of the model, down, and of the adversary, up.
const MODEL: Phase = Phase { number: 0, moves_model: true, moves_state: false };
const ADVERSARY: Phase = Phase { number: 0, moves_model: false, moves_state: true };

impl Schedule {
    /// Who moves in the steps of the epoch, counted from 1.
    pub(super) fn phases(&self, epoch: u32) -> Vec<Phase> {
        match self {
            Self::Beside(Beside { every, epochs }) => match epoch.checked_sub(3) {
                Some(since) if since.is_multiple_of(*every) && since / every < *epochs => vec![ADVERSARY, MODEL],
                _ => vec![MODEL],
            },
            Self::Instead(Instead { every }) if epoch.is_multiple_of(*every) => vec![ADVERSARY],
            Self::Instead(_) => vec![MODEL],
        }
    }

    fn every(&self) -> u32 {
        match self {
            Self::Beside(Beside { every, .. }) | Self::Instead(Instead { every }) => *every,
        }
    }
}

impl LossKind for AdvInfoNce {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Zhang et al., NeurIPS 2023",
            values: "SL@K: `temperature` 0.2 / 0.2 / – / 0.1; Adam 0.1 / 0.1 / 0.1 / 0.01; the authors: 128 negatives",
            cost: "O(N `adversary_dim`)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_above_zero("temperature", self.temperature)?;
        check_above_zero("negative_weight", self.negative_weight)?;
        check_above_zero("adversary_learning_rate", self.adversary_learning_rate)?;
        match (self.adversary_dim, self.schedule) {
            (0, _) => Err("adversary_dim is 0: expected at least 1".into()),
            (_, schedule) if schedule.every() == 0 => Err("every is 0: expected at least 1 epoch".into()),
            (_, Schedule::Instead(Instead { every: 1 })) => {
                Err("every is 1: expected at least 2 epochs, as the model never moves when the adversary moves in all".into())
            }
            _ => Ok(()),
        }
    }

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        let hardness = scores::given(given.adversary, "adv-info-nce", "the adversary's scores of the draws")?;
        adv_info_nce(positives, negatives, hardness, self.temperature, self.negative_weight)
    }

    fn fused_with_state(&self) -> Option<&dyn FusedLossWithState> {
        Some(self)
    }

    fn phases(&self, epoch: u32) -> Vec<Phase> {
        self.schedule.phases(epoch)
    }

    fn adversary(&self) -> Option<Adversary> {
        Some(Adversary { dim: self.adversary_dim as usize, similarity: Similarity::Cosine, learning_rate: self.adversary_learning_rate })
    }

    fn needs_draws(&self) -> Option<&'static str> {
        Some(NEEDS_DRAWS)
    }
}

impl FusedLossWithState for AdvInfoNce {
    fn rows(&self, losses: &mut [f32], positives: &mut [f32], negatives: &mut [f32], own: StateRows) {
        let width = negatives.len() / losses.len();
        let rows = negatives.chunks_exact_mut(width).zip(own.adversary.chunks_exact_mut(width));
        for ((loss, positive), (negatives, hardness)) in losses.iter_mut().zip(positives).zip(rows) {
            (*loss, *positive) = fused::adv_info_nce(self, *positive, negatives, hardness);
        }
    }
}

/// Why it cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "the adversary of adv-info-nce weighs draws";

/// One value per positive, `[B]`, from `positives [B]`, `negatives [B, N]` and the adversary's `hardness [B, N]`, its cosines.
pub fn adv_info_nce(positives: &Tensor, negatives: &Tensor, hardness: &Tensor, temperature: f64, negative_weight: f64) -> Result<Tensor> {
    let hardness = fill_masked(hardness, negatives, -1e30)?;
    let scale = ((count_items(negatives)? * negative_weight)?.log()? - log_sum_exp(&hardness)?)?;
    let exponents = ((margins(positives, negatives)? / temperature)? + hardness.broadcast_add(&scale.unsqueeze(1)?)?)?;
    softplus(&log_sum_exp(&fill_masked(&exponents, negatives, -1e30)?)?) // log(1 + exp(sum)): the positive's own term is exp(0)
}

#[cfg(test)]
impl super::contract::Contract for AdvInfoNce {
    fn examples() -> Vec<Self> {
        vec![AdvInfoNce {
            temperature: 0.2,
            negative_weight: 64.0,
            schedule: Schedule::default(),
            adversary_dim: 8,
            adversary_learning_rate: 5e-5,
            similarity: Similarity::Cosine,
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::softmax;
    use super::super::testing::{EXAMPLE_C, assert_close, assert_gradients, differentiate};
    use super::*;
    use proptest::prelude::*;

    const HARDNESS: [f64; 4] = [0.1, -0.2, 0.3, 0.0];

    /// The value, and the gradients by `[s+, negatives, hardness]`.
    fn value_and_gradient(positive: f64, negatives: &[f64], hardness: &[f64], weight: f64) -> (f64, Vec<f64>) {
        let shape = [1, negatives.len()];
        let inputs: [(&[f64], &[usize]); 3] = [(&[positive], &[1]), (negatives, &shape), (hardness, &shape)];
        let (value, gradient) = differentiate(&inputs, |x| adv_info_nce(&x[0], &x[1], &x[2], 0.2, weight));
        (value, gradient.concat())
    }

    #[test]
    fn worked_example() {
        let (value, gradient) = value_and_gradient(EXAMPLE_C.0, &EXAMPLE_C.1, &HARDNESS, 64.0);
        assert_close(&[value], &[5.19169778], 5e-9);
        assert_close(&gradient[..5], &[-4.97218723, 1.11675087, 0.04118931, 3.70774345, 0.10650359], 6e-9);
        assert_close(&gradient[5..], &[-0.03380587, -0.18226802, 0.42745759, -0.21138369], 6e-9);
    }

    #[test]
    fn masked_negatives_add_nothing() {
        let (value, gradient) = value_and_gradient(EXAMPLE_C.0, &[-1e30, 0.5, -0.1, 0.7, 0.05], &[0.9, 0.1, -0.2, 0.3, 0.0], 64.0);
        assert_close(&[value], &[5.19169778], 5e-9);
        assert_eq!((gradient[1], gradient[6]), (0.0, 0.0));
        let (value, gradient) = value_and_gradient(EXAMPLE_C.0, &[-1e30; 2], &[0.1, 0.2], 64.0);
        assert_eq!((value, gradient), (0.0, vec![0.0; 5]));
    }

    #[test]
    fn finite_at_extreme_scores() {
        for (positive, negatives) in [(500.0, [800.0, -300.0, 790.0]), (-1e4, [-1e4; 3]), (1e4, [1e4; 3]), (-500.0, [0.0; 3])] {
            let (value, gradient) = value_and_gradient(positive, &negatives, &[1.0, -1.0, 0.3], 64.0);
            assert!(value.is_finite() && gradient.iter().all(|by| by.is_finite()), "{positive} {negatives:?}");
        }
    }

    /// The release counts epochs from 0: the adversary's are 2, 7, ... of which there are 7.
    #[test]
    fn the_authors_schedule_has_seven_epochs_beside_the_model() {
        let both: Vec<u32> = (1..=100).filter(|&epoch| Schedule::default().phases(epoch) == [ADVERSARY, MODEL]).collect();
        assert_eq!(both, [3, 8, 13, 18, 23, 28, 33]);
        assert_eq!(Schedule::default().phases(1), [MODEL]);
    }

    #[test]
    fn the_other_schedule_takes_every_fifth_epoch() {
        let schedule = Schedule::Instead(Instead { every: 5 });
        let alone: Vec<u32> = (1..=20).filter(|&epoch| schedule.phases(epoch) == [ADVERSARY]).collect();
        assert_eq!(alone, [5, 10, 15, 20]);
    }

    #[test]
    fn values_that_are_none_are_named() {
        let good: AdvInfoNce = serde_json::from_str(r#"{"temperature": 0.2}"#).unwrap();
        let message = |settings: AdvInfoNce| settings.check().unwrap_err();
        assert_eq!(good.check(), Ok(()));
        assert!(message(AdvInfoNce { temperature: 0.0, ..good.clone() }).starts_with("temperature is 0:"));
        assert!(message(AdvInfoNce { negative_weight: 0.0, ..good.clone() }).starts_with("negative_weight is 0:"));
        assert!(message(AdvInfoNce { adversary_learning_rate: -1.0, ..good.clone() }).starts_with("adversary_learning_rate is -1:"));
        assert!(message(AdvInfoNce { adversary_dim: 0, ..good.clone() }).starts_with("adversary_dim is 0:"));
        for schedule in [Schedule::Beside(Beside { every: 0, epochs: 7 }), Schedule::Instead(Instead { every: 0 })] {
            assert!(message(AdvInfoNce { schedule, ..good.clone() }).starts_with("every is 0:"));
        }
        assert!(message(AdvInfoNce { schedule: Schedule::Instead(Instead { every: 1 }), ..good }).starts_with("every is 1:"));
    }

    proptest! {
        #[test]
        fn gradients_are_central_differences(
            positive in -1.0f64..1.0,
            (negatives, hardness) in (1usize..8).prop_flat_map(|count| {
                let row = || prop::collection::vec(-1.0f64..1.0, count);
                (row(), row())
            }),
        ) {
            let shape = [1, negatives.len()];
            let inputs: [(&[f64], &[usize]); 3] = [(&[positive], &[1]), (&negatives, &shape), (&hardness, &shape)];
            assert_gradients(&inputs, 1e-6, |x| adv_info_nce(&x[0], &x[1], &x[2], 0.2, 64.0));
        }

        /// Identity 5; and a shift of all scores changes nothing.
        #[test]
        fn an_adversary_without_preference_leaves_the_softmax_loss(
            positive in -1.0f64..1.0,
            negatives in prop::collection::vec(-1.0f64..1.0, 1..30),
            hardness in -1.0f64..1.0,
        ) {
            let found = value_and_gradient(positive, &negatives, &vec![hardness; negatives.len()], 1.0);
            let inputs: [(&[f64], &[usize]); 2] = [(&[positive], &[1]), (&negatives, &[1, negatives.len()])];
            let (value, gradient) = differentiate(&inputs, |x| softmax(&x[0], &x[1], 0.2, true));
            assert_close(&[found.0], &[value], 1e-12);
            assert_close(&found.1[..=negatives.len()], &gradient.concat(), 1e-12);
            prop_assert!(found.1[..=negatives.len()].iter().sum::<f64>().abs() < 1e-12);
        }
    }
}

//! Lower-left partial AUC (LLPAUC).
//!
//! ```text
//! paper    L = -A s+ - mean_i r(P_i) + B s- + mean_j r(Q_j) - (1 + w) c^2 + T
//! release  L = -s+ - mean_i r(P_i) / A + s- + mean_j r(Q_j) / B - (1 + w) c^2 + T
//!
//! P_i = -(x_i - a)^2 + 2 (1 + c) x_i - s+      Q_j = (x_j - b)^2 + 2 (1 + c) x_j - s-
//! x = sigmoid(score)      r(y) = softplus(5 y) / 5      T = h_a (a + c) + h_b (c + 1 - b)
//! ```
//! The area under the ROC curve where the true positive rate is at most `A` and the false positive rate at most `B`: a pointwise loss with
//! seven scalars, `[a, b, c, s+, s-, h_a, h_b]` (in the paper's letters `a, b, gamma, s+, s-, theta_a, theta_b`), which are learned beside
//! the model. The two forms weigh positives against negatives differently unless `A` equals `B`; the release's is that of the authors' code
//! and of paper SL@K's. The paper's theory asks for a `w` (`concavity`) above 20; both releases have 0.
//!
//! The paper minimises over the model and `a, b, s-, h` and maximises over `c, s+`. The release of paper SL@K lets all descend, as ascent
//! was no good there: `updates: descent`. Tables start as normal with a standard deviation of 0.01 in both.
//! Shi et al., "Lower-Left Partial AUC: An Effective and Efficient Optimization Metric for Recommendation", WWW 2024, arXiv:2403.00844.

use super::primitives::{count_items, fill_masked, sigmoid, softplus};
use candle_core::{D, Result, Tensor};
use evaluator::Similarity;
use serde::{Deserialize, Serialize};

/// `llpauc` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Llpauc {
    /// The largest true positive rate that counts, above 0 and at most 1: A. Papers tune 0.1 to 0.9.
    pub true_positive_rate: f64,
    /// The largest false positive rate that counts, above 0 and at most 1: B. Papers tune 0.01 and 0.1.
    pub false_positive_rate: f64,
    /// Which formula.
    #[serde(default)]
    pub form: Form,
    /// Where the scalars go.
    #[serde(default)]
    pub updates: Updates,
    /// What is added to the weight of `c^2`, at least 0: w.
    #[serde(default)]
    pub concavity: f64,
    /// How two vectors make a score.
    #[serde(default = "super::cosine")]
    pub similarity: Similarity,
}

/// `form` of [`Llpauc`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The blocks of positives and of negatives are multiplied by the rates.
    #[default]
    Paper,
    /// The means of the blocks are divided by the rates.
    Release,
}

/// `updates` of [`Llpauc`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Updates {
    /// `c` and `s+` ascend.
    #[default]
    Minimax,
    /// All descend.
    Descent,
}

/// A scalar that is learned beside the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    /// Its value before the first step.
    pub start: f32,
    /// Where it is clipped to after each step; `c` is clipped further, see [`clip`].
    pub range: (f32, f32),
    /// Whether it ascends in a minimax.
    pub ascends: bool,
    /// What the model's learning rate is multiplied by.
    pub rate: f32,
}

const fn descending(start: f32, range: (f32, f32), rate: f32) -> Scalar {
    Scalar { start, range, ascends: false, rate }
}

/// `[a, b, c, s+, s-, h_a, h_b]`
pub const SCALARS: [Scalar; 7] = [
    descending(1.0, (0.0, 1.0), 1.0),
    descending(0.0, (0.0, 1.0), 1.0),
    Scalar { start: 0.0, range: (-1.0, 1.0), ascends: true, rate: 2.0 },
    Scalar { start: 0.5, range: (-1.0, 4.0), ascends: true, rate: 2.0 },
    descending(0.5, (0.0, 5.0), 2.0),
    descending(0.5, (0.0, f32::MAX), 1.0),
    descending(0.5, (0.0, f32::MAX), 1.0),
];

/// Brings the scalars back to where they may be, after a step: `c` is not below `-a` and `b - 1`.
pub fn clip(scalars: &mut [f32; 7]) {
    for (value, scalar) in scalars.iter_mut().zip(&SCALARS) {
        *value = value.clamp(scalar.range.0, scalar.range.1);
    }
    let [a, b, c, ..] = scalars;
    *c = c.max(-*a).max(*b - 1.0);
}

/// The sharpness of the softplus that stands for the positive part.
const SHARPNESS: f64 = 5.0;

impl Llpauc {
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        for (key, rate) in [("true_positive_rate", self.true_positive_rate), ("false_positive_rate", self.false_positive_rate)] {
            if !(rate > 0.0 && rate <= 1.0) {
                return Err(format!("{key} is {rate}: expected a number above 0 and at most 1"));
            }
        }
        match self.concavity {
            concavity if concavity.is_finite() && concavity >= 0.0 => Ok(()),
            concavity => Err(format!("concavity is {concavity}: expected a finite number, at least 0")),
        }
    }

    /// What a step multiplies the gradient of each scalar by, before its learning rate: -1 where it ascends.
    pub fn directions(&self) -> [f32; 7] {
        SCALARS.map(|scalar| if scalar.ascends && self.updates == Updates::Minimax { -1.0 } else { 1.0 })
    }
}

/// One value per positive, `[B]`, whose mean is the loss of the batch, from `positives [B]`, `negatives [B, N]` and `scalars [7]`.
///
/// The mean over negatives is that of the row's.
pub fn llpauc(positives: &Tensor, negatives: &Tensor, scalars: &Tensor, settings: &Llpauc) -> Result<Tensor> {
    let scalar = |at: usize| scalars.narrow(0, at, 1);
    let (a, b, c, upper, lower) = (scalar(0)?, scalar(1)?, scalar(2)?, scalar(3)?, scalar(4)?);
    let slope = ((&c + 1.0)? * 2.0)?;
    let (positives, probabilities) = (sigmoid(positives)?, sigmoid(negatives)?);
    let above = (positives.broadcast_mul(&slope)? - positives.broadcast_sub(&a)?.sqr()?)?.broadcast_sub(&upper)?;
    let below = (probabilities.broadcast_mul(&slope)? + probabilities.broadcast_sub(&b)?.sqr()?)?.broadcast_sub(&lower)?;
    let above = rectified(&above)?;
    let below = (fill_masked(&rectified(&below)?, negatives, 0.0)?.sum(D::Minus1)? / count_items(negatives)?)?;
    let (alpha, beta) = (settings.true_positive_rate, settings.false_positive_rate);
    let (by_scores, by_bounds) = match settings.form {
        Form::Paper => ((below - above)?, ((&lower * beta)? - (&upper * alpha)?)?),
        Form::Release => (((below / beta)? - (above / alpha)?)?, (&lower - &upper)?),
    };
    let multipliers = ((scalar(5)? * (&a + &c)?)? + (scalar(6)? * ((&c + 1.0)? - &b)?)?)?;
    let by_scalars = ((by_bounds + multipliers)? - (c.sqr()? * (1.0 + settings.concavity))?)?;
    by_scores.broadcast_add(&by_scalars)
}

/// `r(y)`, a smooth positive part.
fn rectified(y: &Tensor) -> Result<Tensor> {
    softplus(&(y * SHARPNESS)?)? / SHARPNESS
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, assert_gradients, differentiate};
    use super::*;
    use proptest::prelude::*;

    fn settings(form: Form) -> Llpauc {
        Llpauc {
            true_positive_rate: 0.7,
            false_positive_rate: 0.1,
            form,
            updates: Updates::Minimax,
            concavity: 0.0,
            similarity: Similarity::Cosine,
        }
    }

    const WORKED: [f64; 7] = [0.9, 0.1, 0.05, 0.4, 0.6, 0.5, 0.5];

    fn logits<const N: usize>(probabilities: [f64; N]) -> [f64; N] {
        probabilities.map(|x| (x / (1.0 - x)).ln())
    }

    /// The mean over rows, and the gradients by positives, negatives and scalars.
    fn mean(settings: &Llpauc, positives: &[f64], negatives: &[f64], scalars: &[f64]) -> (f64, Vec<Vec<f64>>) {
        let rows = positives.len();
        let inputs: [(&[f64], &[usize]); 3] = [(positives, &[rows]), (negatives, &[rows, negatives.len() / rows]), (scalars, &[7])];
        differentiate(&inputs, |x| llpauc(&x[0], &x[1], &x[2], settings)? / rows as f64)
    }

    /// The reference's gradients are by `x`: those by scores are `x (1 - x)` times them.
    #[test]
    fn worked_example_of_the_release() {
        let (positives, negatives) = ([0.8, 0.6], [0.5, 0.3, 0.7, 0.2]);
        let (value, gradients) = mean(&settings(Form::Release), &logits(positives), &logits(negatives), &WORKED);
        assert_close(&[value], &[4.93092482], 5e-9);
        let by_probability = |by: &[f64], x: &[f64]| by.iter().zip(x).map(|(by, x)| by / (x * (1.0 - x))).collect::<Vec<_>>();
        assert_close(&by_probability(&gradients[0], &positives), &[-1.63999249, -1.88838705], 6e-9);
        assert_close(&by_probability(&gradients[1], &negatives), &[6.92217332, 3.66635987, 8.23243625, 1.72173893], 6e-9);
        assert_close(&gradients[2], &[1.06224961, -6.13951224, 5.97871678, 0.41244282, -6.09676006, 0.95, 0.95], 6e-9);
    }

    /// The terms of the release's worked example, put together as the paper does.
    #[test]
    fn the_paper_multiplies_the_blocks() {
        let value = |form| {
            let settings = Llpauc { true_positive_rate: 0.5, false_positive_rate: 0.5, ..settings(form) };
            mean(&settings, &[1.2, -0.3], &[0.4, 0.1, -0.7, 0.9], &[0.9, 0.1, 0.05, 0.4, 0.6, 0.0, 0.0]).0
        };
        let square = 0.05 * 0.05;
        assert_close(&[value(Form::Paper) + square], &[0.5 * (value(Form::Release) + square)], 1e-12);
    }

    #[test]
    fn concavity_weighs_the_square() {
        let value = |concavity| mean(&Llpauc { concavity, ..settings(Form::Paper) }, &[0.2], &[0.1], &WORKED).0;
        assert_close(&[value(0.0) - value(20.0)], &[20.0 * 0.05 * 0.05], 1e-12);
    }

    #[test]
    fn masked_negatives_add_nothing() {
        let found = mean(&settings(Form::Release), &[0.3], &[-1e30, 0.5, -1e30, -0.2], &WORKED);
        let expected = mean(&settings(Form::Release), &[0.3], &[0.5, -0.2], &WORKED);
        assert_close(&[found.0], &[expected.0], 1e-12);
        assert_close(&found.1[1], &[0.0, expected.1[1][0], 0.0, expected.1[1][1]], 1e-12);
        assert_eq!((found.1[1][0], found.1[1][2]), (0.0, 0.0));
        assert_close(&found.1[2], &expected.1[2], 1e-12);
    }

    #[test]
    fn finite_at_extreme_scores() {
        let positives = [500.0, -500.0, 1e4, -1e4];
        let negatives = [800.0, -300.0, 790.0, -1e30, 1e4, -1e4, -1e30, -1e30];
        let (value, gradients) = mean(&settings(Form::Paper), &positives, &negatives, &WORKED);
        assert!(value.is_finite() && gradients.concat().iter().all(|by| by.is_finite()), "{value} {gradients:?}");
        assert_eq!(gradients[1][6..], [0.0, 0.0], "a row without negatives");
    }

    #[test]
    fn scalars_are_clipped_to_where_they_may_be() {
        let mut scalars = [2.0, -1.0, -3.0, 9.0, -9.0, -0.1, 7.0];
        clip(&mut scalars);
        assert_eq!(scalars, [1.0, 0.0, -1.0, 4.0, 0.0, 0.0, 7.0]);
        let mut scalars = [0.25, 0.5, -0.9, 0.5, 0.5, 0.5, 0.5];
        clip(&mut scalars);
        assert_eq!(scalars[2], -0.25);
        let mut scalars = [0.75, 0.5, -0.9, 0.5, 0.5, 0.5, 0.5];
        clip(&mut scalars);
        assert_eq!(scalars[2], -0.5);
    }

    #[test]
    fn the_start_is_where_scalars_may_be() {
        let start = SCALARS.map(|scalar| scalar.start);
        let mut clipped = start;
        clip(&mut clipped);
        assert_eq!((clipped, start), (start, [1.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5]));
    }

    #[test]
    fn two_scalars_ascend_in_a_minimax_and_none_in_descent() {
        assert_eq!(settings(Form::Paper).directions(), [1.0, 1.0, -1.0, -1.0, 1.0, 1.0, 1.0]);
        assert_eq!(Llpauc { updates: Updates::Descent, ..settings(Form::Paper) }.directions(), [1.0; 7]);
    }

    #[test]
    fn values_that_are_none_are_named() {
        let message = |settings: Llpauc| settings.check().unwrap_err();
        let good = settings(Form::Paper);
        assert!(message(Llpauc { true_positive_rate: 0.0, ..good.clone() }).starts_with("true_positive_rate is 0:"));
        assert!(message(Llpauc { false_positive_rate: 1.5, ..good.clone() }).starts_with("false_positive_rate is 1.5:"));
        assert!(message(Llpauc { concavity: -1.0, ..good }).starts_with("concavity is -1:"));
    }

    #[test]
    fn defaults_are_the_paper() {
        let text = r#"{"true_positive_rate": 0.7, "false_positive_rate": 0.1}"#;
        assert_eq!(serde_json::from_str::<Llpauc>(text).unwrap(), settings(Form::Paper));
    }

    proptest! {
        #[test]
        fn gradients_are_central_differences(scores in prop::collection::vec(-3.0f64..3.0, 8), scalars in prop::collection::vec(0.0f64..1.0, 7)) {
            let inputs: [(&[f64], &[usize]); 3] = [(&scores[..2], &[2]), (&scores[2..], &[2, 3]), (&scalars, &[7])];
            for form in [Form::Paper, Form::Release] {
                assert_gradients(&inputs, 1e-6, |x| llpauc(&x[0], &x[1], &x[2], &settings(form)));
            }
        }
    }
}

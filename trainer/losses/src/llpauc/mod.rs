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
//! was no good there: `updates: descent`. It does not hold its multipliers `h` at 0 or above either, so that they fall without end and draw
//! `c` and `a` to 1 and `b` to 0. Tables start as normal with a standard deviation of 0.01 in both.
//! Shi et al., "Lower-Left Partial AUC: An Effective and Efficient Optimization Metric for Recommendation", WWW 2024, arXiv:2403.00844.

mod fused;

use super::primitives::{count_items, fill_masked, sigmoid, softplus};
use super::{Facts, FusedLossWithState, InitialValue, Learned, LossKind, Per, Scores, StateRows, StateSpec, Update};
use candle_core::{D, Result, Tensor};
use serde::{Deserialize, Serialize};
use vectors::Similarity;

/// `llpauc` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The blocks of positives and of negatives are multiplied by the rates.
    #[default]
    Paper,
    /// The means of the blocks are divided by the rates.
    Release,
}

/// `updates` of [`Llpauc`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Updates {
    /// `c` and `s+` ascend.
    #[default]
    Minimax,
    /// All descend, and `h_a` and `h_b` have no bounds.
    Descent,
}

/// A scalar that is learned beside the model.
struct Scalar {
    name: &'static str,
    start: f32,
    /// Where it is clipped to after each step; `c` is clipped further, see [`clip`].
    bounds: (f32, f32),
    /// What it is of a minimax.
    role: Role,
    /// What the model's learning rate is multiplied by.
    rate: f64,
}

/// What a scalar is of a minimax.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is minimised over.
    Lowest,
    /// It is maximised over.
    Highest,
    /// It weighs how far `c` is from a bound.
    Multiplier,
}
use Role::{Highest, Lowest, Multiplier};

const fn scalar(name: &'static str, role: Role, start: f32, bounds: (f32, f32), rate: f64) -> Scalar {
    Scalar { name, start, bounds, role, rate }
}

const FROM_ZERO: (f32, f32) = (0.0, f32::INFINITY);
const UNBOUNDED: (f32, f32) = (f32::NEG_INFINITY, f32::INFINITY);

/// As the releases have them.
const SCALARS: [Scalar; 7] = [
    scalar("a", Lowest, 1.0, (0.0, 1.0), 1.0),
    scalar("b", Lowest, 0.0, (0.0, 1.0), 1.0),
    scalar("c", Highest, 0.0, (-1.0, 1.0), 2.0),
    scalar("s_positive", Highest, 0.5, (-1.0, 4.0), 2.0),
    scalar("s_negative", Lowest, 0.5, (0.0, 5.0), 2.0),
    scalar("h_a", Multiplier, 0.5, FROM_ZERO, 1.0),
    scalar("h_b", Multiplier, 0.5, FROM_ZERO, 1.0),
];

/// Brings `c` of the numbers in the order of the columns back to where `a` and `b` let it be after a step: not below `-a` and `b - 1`.
pub(super) fn clip(numbers: &mut [&mut [f32]]) {
    if let [[a], [b], [c], ..] = numbers {
        *c = c.max(-*a).max(*b - 1.0);
    }
}

/// How sharp the softplus is that stands for the positive part: PyTorch's `beta`.
const BETA: f64 = 5.0;

impl LossKind for Llpauc {
    fn similarity(&self) -> Similarity {
        self.similarity
    }

    fn facts(&self) -> Facts {
        Facts {
            paper: "Shi et al., WWW 2024",
            values: "SL@K: `true_positive_rate` 0.7 / 0.5 / 0.7 / 0.7, `false_positive_rate` 0.01; Adam 0.1; its benchmark has `form: release` with `updates: descent`, and `form: paper` stays below popularity on a small dataset ([learning-rates.md](learning-rates.md))",
            cost: "O(N)",
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
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

    fn forward(&self, scores: &Scores) -> Result<Tensor> {
        let Scores { positives, negatives, given, .. } = *scores;
        llpauc(positives, negatives, &Tensor::cat(given.columns, 0)?, self)
    }

    fn fused_with_state(&self) -> Option<&dyn FusedLossWithState> {
        Some(self)
    }

    fn columns(&self) -> Vec<StateSpec> {
        let motion = |scalar: &Scalar| {
            let (ascends, bounds) = match (self.updates, scalar.role) {
                (Updates::Minimax, role) => (role == Highest, scalar.bounds),
                (Updates::Descent, Multiplier) => (false, UNBOUNDED),
                (Updates::Descent, Lowest | Highest) => (false, scalar.bounds),
            };
            Update::Learned(Learned { rate: scalar.rate, ascends, bounds })
        };
        let column = |scalar: &Scalar| StateSpec {
            name: scalar.name,
            per: Per::Whole(1),
            initial: InitialValue::Same(scalar.start),
            update: motion(scalar),
        };
        SCALARS.iter().map(column).collect()
    }

    fn clip(&self, numbers: &mut [&mut [f32]]) {
        clip(numbers);
    }

    fn needs_draws(&self) -> Option<&'static str> {
        Some(NEEDS_DRAWS)
    }
}

impl FusedLossWithState for Llpauc {
    fn rows(&self, losses: &mut [f32], positives: &mut [f32], negatives: &mut [f32], own: StateRows) {
        let width = negatives.len() / losses.len();
        let scalars = own.numbers.try_into().expect("llpauc has seven scalars");
        for ((loss, positive), negatives) in losses.iter_mut().zip(positives).zip(negatives.chunks_exact_mut(width)) {
            (*loss, *positive) = fused::llpauc(self, *positive, negatives, scalars, own.by_numbers);
        }
    }
}

impl Llpauc {
    /// What the mean over the negatives is multiplied by, and the positive's term.
    pub(super) fn weights(&self) -> [f64; 2] {
        match self.form {
            Form::Paper => [1.0, 1.0],
            Form::Release => [1.0 / self.false_positive_rate, 1.0 / self.true_positive_rate],
        }
    }

    /// What `s-` and `s+` are multiplied by.
    pub(super) fn bounds(&self) -> [f64; 2] {
        match self.form {
            Form::Paper => [self.false_positive_rate, self.true_positive_rate],
            Form::Release => [1.0, 1.0],
        }
    }
}

/// Why it cannot have the sampler `all`.
const NEEDS_DRAWS: &str = "llpauc learns its scalars from draws";

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
    softplus(&(y * BETA)?)? / BETA
}

#[cfg(test)]
impl super::contract::Contract for Llpauc {
    fn examples() -> Vec<Self> {
        let example = |form| Llpauc {
            true_positive_rate: 0.7,
            false_positive_rate: 0.1,
            form,
            updates: Updates::Minimax,
            concavity: 0.0,
            similarity: Similarity::Cosine,
        };
        [Form::Paper, Form::Release].map(example).into()
    }
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
    fn c_is_clipped_to_where_a_and_b_let_it_be() {
        let clipped = |mut scalars: [f32; 7]| {
            clip(&mut scalars.each_mut().map(std::slice::from_mut));
            scalars[2]
        };
        assert_eq!(clipped([0.25, 0.5, -0.9, 0.5, 0.5, 0.5, 0.5]), -0.25);
        assert_eq!(clipped([0.75, 0.5, -0.9, 0.5, 0.5, 0.5, 0.5]), -0.5);
        assert_eq!(clipped([0.75, 0.5, 0.3, 0.5, 0.5, 0.5, 0.5]), 0.3);
        let start = SCALARS.map(|scalar| scalar.start);
        assert_eq!((clipped(start), start), (0.0, [1.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5]));
    }

    #[test]
    fn two_scalars_ascend_in_a_minimax_and_none_in_descent() {
        let ascending = |updates| -> Vec<&str> {
            let columns = Llpauc { updates, ..settings(Form::Paper) }.columns();
            let ascends = |column: &&StateSpec| matches!(column.update, Update::Learned(Learned { ascends: true, .. }));
            columns.iter().filter(ascends).map(|column| column.name).collect()
        };
        assert_eq!(ascending(Updates::Minimax), ["c", "s_positive"]);
        assert!(ascending(Updates::Descent).is_empty());
    }

    #[test]
    fn multipliers_are_at_least_zero_but_in_descent() {
        let lowest = |updates, name: &str| {
            let columns = Llpauc { updates, ..settings(Form::Release) }.columns();
            let found = columns.iter().find(|column| column.name == name).unwrap();
            let Update::Learned(Learned { bounds, .. }) = found.update else { panic!("{name} is not learned") };
            bounds.0
        };
        assert_eq!(["h_a", "h_b", "s_positive"].map(|name| lowest(Updates::Minimax, name)), [0.0, 0.0, -1.0]);
        assert_eq!(["h_a", "h_b", "s_positive"].map(|name| lowest(Updates::Descent, name)), [f32::NEG_INFINITY, f32::NEG_INFINITY, -1.0]);
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

//! Lower-left partial AUC of a row, with the gradient of its scalars.

use super::Llpauc;
use crate::{
    fused::{
        lanes::{Steps, replace_and_sums},
        softmax::scale,
    },
    primitives::MASKED_BELOW,
};
use multiversion::multiversion;
use vectors::elementary::{exp_of_negative, softplus};

/// How sharp the softplus is that stands for the positive part: PyTorch's `beta`.
const BETA: f32 = 5.0;

/// The loss of a row, and its derivative by the positive; `negatives` become the derivatives by them. The derivatives by the scalars
/// `[a, b, c, s+, s-, h_a, h_b]` are added to `by_scalars`.
pub(super) fn llpauc(settings: &Llpauc, positive: f32, negatives: &mut [f32], scalars: &[f32; 7], by_scalars: &mut [f64]) -> (f32, f32) {
    let [a, b, c, upper, lower, h_a, h_b] = scalars.map(f64::from);
    let [of_negatives, of_positive] = settings.weights();
    let [of_lower, of_upper] = settings.bounds();
    let square = 1.0 + settings.concavity;
    let mut by_positive = [positive];
    let one = Side { slope: 2.0 * (1.0 + scalars[2]), centre: scalars[0], bend: -1.0, bound: scalars[3] };
    let [above, pull_above, along_above, _] = rectified(&mut by_positive, &one);
    let side = Side { centre: scalars[1], bend: 1.0, bound: scalars[4], ..one };
    let sums = rectified(negatives, &side);
    let count = sums[3].max(1.0);
    let [below, pull_below, along_below, _] = sums.map(|sum| of_negatives * sum / count);
    let [above, pull_above, along_above] = [above, pull_above, along_above].map(|term| of_positive * term);
    scale(negatives, (of_negatives / count) as f32);
    let derivatives = [
        h_a - 2.0 * (along_above - a * pull_above),
        -h_b - 2.0 * (along_below - b * pull_below),
        h_a + h_b + 2.0 * (along_below - along_above) - 2.0 * square * c,
        pull_above - of_upper,
        of_lower - pull_below,
        a + c,
        c + 1.0 - b,
    ];
    by_scalars.iter_mut().zip(derivatives).for_each(|(sum, derivative)| *sum += derivative);
    let by_bounds = of_lower * lower - of_upper * upper;
    let loss = below - above + by_bounds + h_a * (a + c) + h_b * (c + 1.0 - b) - square * c * c;
    (loss as f32, -of_positive as f32 * by_positive[0])
}

/// `y = slope x + bend (x - centre)^2 - bound` of `x = sigmoid(s)`.
struct Side {
    slope: f32,
    centre: f32,
    bend: f32,
    bound: f32,
}

impl Steps<4> for Side {
    /// The derivative of `r(y)` by the score; `r`, its derivative `r'` by y, `r' x`, and 1 for an item.
    #[inline(always)]
    fn step(&self, score: f32) -> (f32, [f32; 4]) {
        let small = exp_of_negative(-score.abs());
        let whole = 1.0 + small;
        let x = if score < 0.0 { small } else { 1.0 } / whole;
        let distance = x - self.centre;
        let (value, pull) = softplus(BETA * (self.slope * x + self.bend * (distance * distance) - self.bound));
        let derivative = pull * (self.slope + 2.0 * self.bend * distance) * (small / (whole * whole));
        if score < MASKED_BELOW as f32 { (0.0, [0.0; 4]) } else { (derivative, [value / BETA, pull, pull * x, 1.0]) }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn rectified(scores: &mut [f32], side: &Side) -> [f64; 4] {
    replace_and_sums(scores, side)
}

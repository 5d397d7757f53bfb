//! The three losses of `guided-rec` and the gradients of its network, sixteen rows at a time.
//!
//! Each row is a lane, so that a layer is a loop of whole registers without sums across them. The mean of the dot products of an item with all
//! items is its dot product with the mean item, so that pairs cost as much as items.

use super::surrogate::layers;
use crate::primitives::MASKED_BELOW;
use multiversion::multiversion;
use std::iter;
use vectors::elementary::{exp_of_negative, softplus, tanh};

/// Rows at a time.
pub(super) const ROWS: usize = 16;

/// One number of each row.
type Lanes = [f32; ROWS];

const ZERO: Lanes = [0.0; ROWS];

/// The losses of at most [`ROWS`] rows in a phase of a step; scores become derivatives. `parameters` are those of the network for rows of
/// this length, and the derivatives by them are added to `by_parameters`.
pub(super) fn guided_rec(
    phase: usize,
    losses: &mut [f32],
    positives: &mut [f32],
    negatives: &mut [f32],
    parameters: &[f32],
    by_parameters: &mut [f64],
) {
    let (rows, width) = (losses.len(), negatives.len() / losses.len());
    let (mut scores, mut derivatives) = (vec![ZERO; width + 1], vec![ZERO; width + 1]);
    for (row, (positive, negatives)) in positives.iter().zip(negatives.chunks_exact(width)).enumerate() {
        iter::once(positive).chain(negatives).zip(&mut scores).for_each(|(score, lanes)| lanes[row] = *score);
    }
    let found = match phase {
        0 => first(&scores, &mut derivatives),
        1 => error(&scores, parameters, rows, by_parameters),
        _ => guide(&scores, parameters, &mut derivatives),
    };
    losses.copy_from_slice(&found[..rows]);
    for (row, (positive, negatives)) in positives.iter_mut().zip(negatives.chunks_exact_mut(width)).enumerate() {
        iter::once(positive).chain(negatives).zip(&derivatives).for_each(|(score, lanes)| *score = lanes[row]);
    }
}

/// `N softplus(-s_ui) + sum_j softplus(s_uj)` of the items that there are.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn first(scores: &[Lanes], derivatives: &mut [Lanes]) -> Lanes {
    let (mut losses, mut counts) = (ZERO, ZERO);
    for (scores, derivatives) in scores[1..].iter().zip(&mut derivatives[1..]) {
        for lane in 0..ROWS {
            let (value, derivative) = softplus(scores[lane]);
            losses[lane] += value;
            derivatives[lane] = derivative;
            counts[lane] += if scores[lane] < MASKED_BELOW as f32 { 0.0 } else { 1.0 };
        }
    }
    for lane in 0..ROWS {
        let (value, derivative) = softplus(-scores[0][lane]);
        losses[lane] += counts[lane] * value;
        derivatives[0][lane] = -counts[lane] * derivative;
    }
    losses
}

/// `(S(x) - d)²` of so many rows, and its derivatives by the network.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn error(scores: &[Lanes], parameters: &[f32], rows: usize, by_parameters: &mut [f64]) -> Lanes {
    let mut network = Network::forward(scores, parameters);
    let (mut losses, mut by_estimates) = (ZERO, ZERO);
    for lane in 0..ROWS {
        let above = scores[1..].iter().filter(|scores_of| scores_of[lane] >= scores[0][lane]).count();
        let distance = network.estimates()[lane] - ((above + 2) as f32).log2().recip();
        losses[lane] = distance * distance;
        by_estimates[lane] = if lane < rows { 2.0 * distance } else { 0.0 };
    }
    network.backward(by_estimates, Some(by_parameters));
    losses
}

/// `-S(x)` and its derivatives by the scores.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn guide(scores: &[Lanes], parameters: &[f32], derivatives: &mut [Lanes]) -> Lanes {
    let mut network = Network::forward(scores, parameters);
    let by_inputs = network.backward([-1.0; ROWS], None);
    for ((derivatives, scores), by_input) in derivatives.iter_mut().zip(scores).zip(by_inputs.chunks_exact(2)) {
        for lane in 0..ROWS {
            let small = exp_of_negative(-scores[lane].abs());
            derivatives[lane] = by_input[0][lane] * (small / ((1.0 + small) * (1.0 + small)));
        }
    }
    network.estimates().map(|estimate| -estimate)
}

/// A linear layer with a bias, and tanh after it.
struct Layer<'a> {
    /// `[outputs, inputs]`
    weights: &'a [f32],
    bias: &'a [f32],
    /// Where its parameters start.
    start: usize,
}

impl<'a> Layer<'a> {
    /// All layers, from the parameters one after the other.
    fn all(length: usize, parameters: &'a [f32]) -> [Self; 6] {
        let mut start = 0;
        layers(length).map(|(inputs, outputs)| {
            let (from, middle) = (start, start + inputs * outputs);
            start = middle + outputs;
            Self { weights: &parameters[from..middle], bias: &parameters[middle..start], start: from }
        })
    }

    #[inline(always)]
    fn forward(&self, x: &[Lanes], y: &mut [Lanes]) {
        for ((weights, bias), y) in self.weights.chunks_exact(x.len()).zip(self.bias).zip(y) {
            let mut sums = [*bias; ROWS];
            for (weight, x) in weights.iter().zip(x) {
                for lane in 0..ROWS {
                    sums[lane] += weight * x[lane];
                }
            }
            for lane in 0..ROWS {
                y[lane] = tanh(sums[lane]);
            }
        }
    }

    /// `by_y` are derivatives by the outputs `y`; those by the inputs are added to `by_x`, those by the parameters to `by_parameters`, of the whole network.
    #[inline(always)]
    fn backward(&self, x: &[Lanes], by_x: &mut [Lanes], y: &[Lanes], by_y: &[Lanes], by_parameters: &mut Option<&mut [f64]>) {
        let inputs = x.len();
        for (at, (y, by_y)) in y.iter().zip(by_y).enumerate() {
            let mut by_sum = ZERO;
            for lane in 0..ROWS {
                by_sum[lane] = by_y[lane] * (1.0 - y[lane] * y[lane]);
            }
            for (weight, by_x) in self.weights[at * inputs..][..inputs].iter().zip(&mut *by_x) {
                for lane in 0..ROWS {
                    by_x[lane] += weight * by_sum[lane];
                }
            }
            let Some(by_parameters) = by_parameters else { continue };
            let (by_weights, by_bias) = by_parameters[self.start..].split_at_mut(self.weights.len());
            for (by_weight, x) in by_weights[at * inputs..][..inputs].iter_mut().zip(x) {
                *by_weight += f64::from(dot(&by_sum, x));
            }
            by_bias[at] += f64::from(dot(&by_sum, &[1.0; ROWS]));
        }
    }
}

/// The sum of products over lanes, by halves.
#[inline(always)]
fn dot(a: &Lanes, b: &Lanes) -> f32 {
    let mut products = ZERO;
    for lane in 0..ROWS {
        products[lane] = a[lane] * b[lane];
    }
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            products[lane] += products[lane + half];
        }
    }
    products[0]
}

/// The network's values for some rows: see [`surrogate`](crate::guided_rec::surrogate).
struct Network<'a> {
    layers: [Layer<'a>; 6],
    /// Probability and label of each item: `[2 L]`
    inputs: Vec<Lanes>,
    /// `[2 L]` each.
    flat: [Vec<Lanes>; 2],
    /// `[L, 2 L]`
    items: Vec<Lanes>,
    /// The mean over items: `[2 L]`
    mean_item: Vec<Lanes>,
    /// The mean of each item's dot products: `[L]`
    products: Vec<Lanes>,
    /// `[2 L]`
    pairs: Vec<Lanes>,
    /// `flat` times `pairs`: `[2 L]`
    both: Vec<Lanes>,
    /// `[8]`
    hidden: Vec<Lanes>,
    /// `[1]`
    out: Vec<Lanes>,
}

impl<'a> Network<'a> {
    #[inline(always)]
    fn forward(scores: &[Lanes], parameters: &'a [f32]) -> Self {
        let length = scores.len();
        let wide = 2 * length;
        let zeros = |count: usize| vec![ZERO; count];
        let mut network = Self {
            layers: Layer::all(length, parameters),
            inputs: zeros(wide),
            flat: [zeros(wide), zeros(wide)],
            items: zeros(length * wide),
            mean_item: zeros(wide),
            products: zeros(length),
            pairs: zeros(wide),
            both: zeros(wide),
            hidden: zeros(8),
            out: zeros(1),
        };
        for (scores, inputs) in scores.iter().zip(network.inputs.chunks_exact_mut(2)) {
            for lane in 0..ROWS {
                inputs[0][lane] = softplus(scores[lane]).1;
            }
        }
        network.inputs[1] = [1.0; ROWS];
        network.run();
        network
    }

    #[inline(always)]
    fn run(&mut self) {
        let Self { layers, inputs, flat: [flat, flatter], items, mean_item, products, pairs, both, hidden, out } = self;
        let (length, wide) = (products.len(), pairs.len());
        layers[0].forward(inputs, flat);
        layers[1].forward(flat, flatter);
        for (input, item) in inputs.chunks_exact(2).zip(items.chunks_exact_mut(wide)) {
            layers[2].forward(input, item);
            mean_item.iter_mut().zip(item).for_each(|(mean, item)| add(mean, item, 1.0 / length as f32));
        }
        for (item, product) in items.chunks_exact(wide).zip(products.iter_mut()) {
            item.iter().zip(&*mean_item).for_each(|(item, mean)| add_product(product, item, mean));
        }
        layers[3].forward(products, pairs);
        both.iter_mut().zip(flatter).zip(pairs).for_each(|((both, flat), pairs)| add_product(both, flat, pairs));
        layers[4].forward(both, hidden);
        layers[5].forward(hidden, out);
    }

    /// `S(x)`.
    fn estimates(&self) -> Lanes {
        self.out[0]
    }

    /// The derivatives by the inputs, from those by the estimates.
    #[inline(always)]
    fn backward(&mut self, by_estimates: Lanes, mut by_parameters: Option<&mut [f64]>) -> Vec<Lanes> {
        let Self { layers, inputs, flat: [flat, flatter], items, mean_item, products, pairs, both, hidden, out } = self;
        let (length, wide) = (products.len(), pairs.len());
        let zeros = |count: usize| vec![ZERO; count];
        let [mut by_hidden, mut by_both, mut by_products, mut by_flat, mut by_inputs] = [8, wide, length, wide, wide].map(zeros);
        let [mut by_flatter, mut by_pairs, mut by_mean] = [wide; 3].map(zeros);
        layers[5].backward(hidden, &mut by_hidden, out, &[by_estimates], &mut by_parameters);
        layers[4].backward(both, &mut by_both, hidden, &by_hidden, &mut by_parameters);
        for at in 0..wide {
            add_product(&mut by_flatter[at], &by_both[at], &pairs[at]);
            add_product(&mut by_pairs[at], &by_both[at], &flatter[at]);
        }
        layers[3].backward(products, &mut by_products, pairs, &by_pairs, &mut by_parameters);
        for (item, by_product) in items.chunks_exact(wide).zip(&by_products) {
            item.iter().zip(&mut by_mean).for_each(|(item, by_mean)| add_product(by_mean, item, by_product));
        }
        for (at, item) in items.chunks_exact(wide).enumerate() {
            let mut by_item = zeros(wide);
            for (by_item, (mean, by_mean)) in by_item.iter_mut().zip(mean_item.iter().zip(&by_mean)) {
                add_product(by_item, mean, &by_products[at]);
                add(by_item, by_mean, 1.0 / length as f32);
            }
            let input = 2 * at..2 * at + 2;
            layers[2].backward(&inputs[input.clone()], &mut by_inputs[input], item, &by_item, &mut by_parameters);
        }
        layers[1].backward(flat, &mut by_flat, flatter, &by_flatter, &mut by_parameters);
        layers[0].backward(inputs, &mut by_inputs, flat, &by_flat, &mut by_parameters);
        by_inputs
    }
}

#[inline(always)]
fn add(sums: &mut Lanes, values: &Lanes, factor: f32) {
    for lane in 0..ROWS {
        sums[lane] += values[lane] * factor;
    }
}

#[inline(always)]
fn add_product(sums: &mut Lanes, a: &Lanes, b: &Lanes) {
    for lane in 0..ROWS {
        sums[lane] += a[lane] * b[lane];
    }
}

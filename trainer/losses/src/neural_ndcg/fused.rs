//! NeuralNDCG of a list, forwards and back.

use super::{
    NeuralNdcg,
    matrix::{Matrix, Over, add, sum},
    sinkhorn::{Scaling, Sides},
};
use crate::fused::{items::of_items, smooth_metrics::ideal_dcg};
use multiversion::multiversion;
use vectors::elementary::exp_of_negative;

/// The loss of a list, whose scores become derivatives.
pub(super) fn neural_ndcg(settings: &NeuralNdcg, positives: &mut [f32], negatives: &mut [f32]) -> f32 {
    of_items(positives, negatives, 0.0, |scores, positives| {
        let cutoff = settings.cutoff.map_or(scores.len(), |cutoff| scores.len().min(cutoff as usize));
        let ranks = if settings.sinkhorn_iterations == 0 { cutoff } else { scores.len() };
        let permutation = sort(scores, ranks, settings.temperature);
        let scaling = Scaling::new(&permutation, settings.sinkhorn_iterations, settings.transposed);
        let (loss, by_factors, outer) = discounted(&permutation, scaling.factors(), positives, cutoff);
        let mut by_permutation = scaling.back(&permutation, by_factors);
        by_permutation.push(outer);
        (loss, sort_back(scores, &permutation, &by_permutation, settings.temperature))
    })
}

/// What a rank, counted from 0, multiplies scores by.
fn slope(length: usize, rank: usize) -> f64 {
    length as f64 - 1.0 - 2.0 * rank as f64
}

/// The soft permutation, `[ranks, n]`. Its logits are differences of large numbers, which `f32` would lose.
fn sort(scores: &[f64], ranks: usize, temperature: f64) -> Matrix {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let distances: Vec<f64> = scores.iter().map(|score| scores.iter().map(|other| (score - other).abs()).sum()).collect();
    let mut permutation = Matrix { columns: scores.len(), values: vec![0.0; ranks * scores.len()] };
    for ((rank, row), &largest) in permutation.values.chunks_exact_mut(scores.len()).enumerate().zip(&order) {
        share_out(row, scores, &distances, slope(scores.len(), rank), largest, 1.0 / temperature);
    }
    permutation
}

/// A row of the permutation; its largest logit is that of the item that has the rank.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl", "x86_64+avx2"))]
fn share_out(row: &mut [f64], scores: &[f64], distances: &[f64], slope: f64, largest: usize, inverse_temperature: f64) {
    let max = slope * scores[largest] - distances[largest];
    for (share, (score, distance)) in row.iter_mut().zip(scores.iter().zip(distances)) {
        *share = f64::from(exp_of_negative(((slope * score - distance - max) * inverse_temperature) as f32));
    }
    let inverse = 1.0 / sum(row);
    row.iter_mut().for_each(|share| *share *= inverse);
}

/// The loss, and its derivatives by the factors of the permutation's rows and columns, and by the permutation itself as an outer product.
fn discounted(permutation: &Matrix, [of_ranks, mut of_items]: Sides, positives: usize, cutoff: usize) -> (f64, Sides, Sides) {
    let ideal = ideal_dcg(positives.min(cutoff));
    let weights = (0..of_ranks.len()).map(|rank| if rank < cutoff { -1.0 / ((2.0 + rank as f64).log2() * ideal) } else { 0.0 });
    let weighted: Vec<f64> = weights.clone().zip(&of_ranks).map(|(weight, factor)| weight * factor).collect();
    of_items[positives..].fill(0.0);
    let gains = permutation.product(Over::Columns, &of_items);
    let loss = weighted.iter().zip(&gains).map(|(weight, gain)| weight * gain).sum();
    let by_ranks = weights.zip(&gains).map(|(weight, gain)| weight * gain).collect();
    let mut by_items = permutation.product(Over::Rows, &weighted);
    by_items[positives..].fill(0.0);
    (loss, [by_ranks, by_items], [weighted, of_items])
}

/// From derivatives by the permutation, a sum of outer products, to those by the scores.
fn sort_back(scores: &[f64], permutation: &Matrix, by_permutation: &[Sides], temperature: f64) -> Vec<f64> {
    let (mut by_scores, mut by_distances) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
    let mut by_row = vec![0.0; scores.len()];
    for (rank, shares) in permutation.rows().enumerate() {
        by_row.fill(0.0);
        by_permutation.iter().for_each(|[of_ranks, of_items]| add(&mut by_row, of_items, of_ranks[rank]));
        let mean: f64 = shares.iter().zip(&by_row).map(|(share, by)| share * by).sum();
        by_row.iter_mut().zip(shares).for_each(|(by, share)| *by = share * (*by - mean) / temperature);
        add(&mut by_scores, &by_row, slope(scores.len(), rank));
        add(&mut by_distances, &by_row, 1.0);
    }
    for (at, by_score) in by_scores.iter_mut().enumerate() {
        let pull = |(other, by): (&f64, &f64)| (by_distances[at] + by) * sign(scores[at] - other);
        *by_score -= scores.iter().zip(&by_distances).map(pull).sum::<f64>();
    }
    by_scores
}

/// -1, 0 or 1.
fn sign(x: f64) -> f64 {
    f64::from(u8::from(x > 0.0)) - f64::from(u8::from(x < 0.0))
}

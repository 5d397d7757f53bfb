//! Distance correlation: how far two parts of vectors depend on each other.
//!
//! ```text
//! D_ij = sqrt(|x_i - x_j|² + 1e-8), less the means of its row and its column, and the mean of all
//! cov(X, Y) = sqrt(sum_ij D^X_ij D^Y_ij / n² + 1e-8)        cor = cov(X, Y) / (sqrt(cov(X, X) cov(Y, Y)) + 1e-10)
//! ```
//! The small numbers are those of DGCF's release. Székely et al., The Annals of Statistics 2007.

use crate::encoder::TrainStep;
use candle_core::{D, Result, Tensor};
use std::collections::BTreeSet;
use streams::{Purpose, Stream};

/// Random users, and random items, for a step.
pub(super) struct Sample {
    pub(super) seed: u64,
    /// Nodes that are drawn of each side, or all that it has.
    pub(super) count: u32,
    /// How many users and items there are.
    pub(super) sides: [usize; 2],
}

impl Sample {
    /// Nodes, each once: users before items (Floyd's algorithm, Bentley, CACM 1987).
    pub(super) fn draw(&self, step: &TrainStep) -> Vec<u32> {
        let mut nodes = Vec::new();
        let mut first = 0;
        for (side, rows) in (0..).zip(self.sides.map(|rows| rows as u32)) {
            let mut stream = Stream::new(self.seed, Purpose::Noise, step.epoch, step.step, side);
            let mut drawn = BTreeSet::new();
            for last in rows - self.count.min(rows)..rows {
                let row = stream.below(last + 1);
                if !drawn.insert(row) {
                    drawn.insert(last);
                }
            }
            nodes.extend(drawn.into_iter().map(|row| first + row));
            first += rows;
        }
        nodes
    }
}

/// The correlation of rows `[n, a]` and `[n, b]`, `[]`.
///
/// # Errors
/// When there are not as many rows.
pub(super) fn distance_correlation([one, other]: [&Tensor; 2]) -> Result<Tensor> {
    let (one, other) = (centered_distances(one)?, centered_distances(other)?);
    let covariance = |one: &Tensor, other: &Tensor| ((one * other)?.mean_all()?.relu()? + 1e-8)?.sqrt();
    let scale = ((covariance(&one, &one)? * covariance(&other, &other)?)?.sqrt()? + 1e-10)?;
    covariance(&one, &other)? / scale
}

fn centered_distances(rows: &Tensor) -> Result<Tensor> {
    let squares = rows.sqr()?.sum_keepdim(D::Minus1)?; // [n, 1]
    let products = (rows.matmul(&rows.t()?)? * 2.0)?;
    let distances = (squares.broadcast_add(&squares.t()?)? - products)?.relu()?;
    let distances = (distances + 1e-8)?.sqrt()?;
    let centered = distances.broadcast_sub(&distances.mean_keepdim(0)?)?.broadcast_sub(&distances.mean_keepdim(1)?)?;
    centered.broadcast_add(&distances.mean_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::Wanted;
    use candle_core::Device;

    /// Of NumPy, by the formula.
    #[test]
    fn correlations_are_those_of_numpy() {
        let one = Tensor::new(&[[0.0f64, 0.0], [3.0, 4.0], [6.0, 8.0]], &Device::Cpu).unwrap();
        let other = Tensor::new(&[[1.0f64], [2.0], [4.0]], &Device::Cpu).unwrap();
        let found = distance_correlation([&one, &other]).unwrap().to_scalar::<f64>().unwrap();
        assert!((found - 0.983993604636).abs() < 1e-9, "{found}");
    }

    fn draw(count: u32, sides: [usize; 2], step: u32) -> Vec<u32> {
        let at = TrainStep { epoch: 1, step, users: &[], positives: &[], wanted: Wanted::default() };
        Sample { seed: 3, count, sides }.draw(&at)
    }

    #[test]
    fn a_sample_has_each_node_once_and_all_where_there_are_few() {
        assert_eq!(draw(5, [3, 4], 1), (0..7).collect::<Vec<u32>>());
        let drawn = draw(10, [100, 50], 1);
        assert!(drawn.len() == 20 && drawn.windows(2).all(|pair| pair[0] < pair[1]) && drawn[9] < 100 && drawn[10] >= 100, "{drawn:?}");
        assert_ne!(drawn, draw(10, [100, 50], 2));
    }

    /// Each of 20 users is in 5 of 20 places: 2,000 samples have it 500 times, with a standard deviation of 19.4.
    #[test]
    fn nodes_are_drawn_equally_often() {
        let mut counts = [0u32; 20];
        (0..2_000).for_each(|step| draw(5, [20, 5], step)[..5].iter().for_each(|&user| counts[user as usize] += 1));
        let chi: f64 = counts.iter().map(|&count| (f64::from(count) - 500.0).powi(2) / 375.0).sum();
        assert!(chi < 43.8, "{counts:?}"); // chi-square of 19 degrees at 0.001
    }
}

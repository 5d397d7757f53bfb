//! Random numbers on the vectors of a model: the same for any number of threads and after any resume.

use super::encoder::TrainStep;
use candle_core::{Result, Tensor};
use rayon::prelude::*;
use streams::{Purpose, Stream};

/// Rows of one parallel task.
const BLOCK: usize = 64;

/// Matrices of random numbers for one place in a model, such as a layer of a view.
#[derive(Clone, Copy)]
pub(crate) struct Keyed {
    pub seed: u64,
    pub purpose: Purpose,
    /// Which of the model's matrices it is.
    pub place: u32,
    /// The number of the first row.
    pub first: usize,
}

impl Keyed {
    /// The generator of a row's numbers.
    pub(crate) fn stream(self, step: &TrainStep, row: usize) -> Stream {
        // Places have keys beside the seed's, which are apart from those of other seeds.
        let seed = Stream::key(self.seed, self.purpose, self.place);
        Stream::new(seed, self.purpose, step.epoch, step.step, (self.first + row) as u32)
    }

    /// A matrix of the shape and the type of `like [rows, dim]`, whose rows are filled by random numbers of their own.
    ///
    /// # Errors
    /// When `like` is no matrix.
    pub(crate) fn rows(self, step: &TrainStep, like: &Tensor, fill: impl Fn(&mut Stream, &mut [f32]) + Sync) -> Result<Tensor> {
        let (rows, dim) = like.dims2()?;
        let mut values = vec![0.0f32; rows * dim];
        values.par_chunks_mut(BLOCK * dim).enumerate().for_each(|(block, values)| {
            for (row, values) in (block * BLOCK..).zip(values.chunks_exact_mut(dim)) {
                fill(&mut self.stream(step, row), values);
            }
        });
        Tensor::from_vec(values, (rows, dim), like.device())?.to_dtype(like.dtype())
    }
}

impl Keyed {
    /// A list of the length and the type of `like [count]`; numbers in a block of 64 come from one generator.
    ///
    /// # Errors
    /// When `like` is no list.
    pub(crate) fn list(self, step: &TrainStep, like: &Tensor, fill: impl Fn(&mut Stream, &mut [f32]) + Sync) -> Result<Tensor> {
        let count = like.dims1()?;
        let blocks = Tensor::zeros((count.div_ceil(BLOCK), BLOCK), like.dtype(), like.device())?;
        self.rows(step, &blocks, fill)?.flatten_all()?.narrow(0, 0, count)
    }
}

/// Numbers in `[0, 1)`, two of each 64 bits.
pub(crate) fn uniform(stream: &mut Stream, values: &mut [f32]) {
    const UNIT: f32 = 1.0 / (1 << 24) as f32;
    for pair in values.chunks_mut(2) {
        let bits = stream.bits();
        pair[0] = (bits >> 40) as f32 * UNIT;
        if let Some(second) = pair.get_mut(1) {
            *second = ((bits >> 8) as u32 & 0xff_ffff) as f32 * UNIT;
        }
    }
}

/// Normal numbers, two of each point that falls into the unit circle (Marsaglia and Bray, "A Convenient Method for Generating Normal Variables", 1964).
pub(crate) fn normal(stream: &mut Stream, values: &mut [f32]) {
    const UNIT: f64 = 1.0 / (1u64 << 31) as f64;
    for pair in values.chunks_mut(2) {
        let (x, y, square) = loop {
            let bits = stream.bits();
            let [x, y] = [(bits >> 32) as u32, bits as u32].map(|half| f64::from(half.cast_signed()) * UNIT);
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                break (x, y, square);
            }
        };
        let factor = (-2.0 * square.ln() / square).sqrt();
        pair[0] = (x * factor) as f32;
        if let Some(second) = pair.get_mut(1) {
            *second = (y * factor) as f32;
        }
    }
}

/// Inverted dropout: a share of the numbers of each row is dropped, and the others are as much larger, by factors of 0 or 1 / (1 - share).
pub(crate) fn dropout(share: f32) -> impl Fn(&mut Stream, &mut [f32]) + Sync {
    move |stream, values| {
        uniform(stream, values);
        values.iter_mut().for_each(|value| *value = if *value < share { 0.0 } else { 1.0 / (1.0 - share) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::Wanted;
    use candle_core::{DType, Device};

    fn matrix(keyed: Keyed, epoch: u32, step: u32, fill: impl Fn(&mut Stream, &mut [f32]) + Sync) -> Vec<f32> {
        let step = TrainStep { epoch, step, users: &[], positives: &[], wanted: Wanted::default() };
        let like = Tensor::zeros((1000, 63), DType::F32, &Device::Cpu).unwrap();
        keyed.rows(&step, &like, fill).unwrap().flatten_all().unwrap().to_vec1().unwrap()
    }

    const KEYED: Keyed = Keyed { seed: 7, purpose: Purpose::Noise, place: 0, first: 0 };

    /// Standard errors over 63,000 numbers: of the mean of uniform ones 0.00115, of their variance 0.0003; of normal ones 0.004 and 0.0056.
    #[test]
    fn numbers_have_the_moments_of_their_distributions() {
        let moments = |values: &[f32]| {
            let count = values.len() as f64;
            let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
            (mean, values.iter().map(|&value| (f64::from(value) - mean).powi(2)).sum::<f64>() / count)
        };
        let (mean, variance) = moments(&matrix(KEYED, 1, 1, uniform));
        assert!((mean - 0.5).abs() < 0.005 && (variance - 1.0 / 12.0).abs() < 0.0015, "{mean} {variance}");
        let (mean, variance) = moments(&matrix(KEYED, 1, 1, normal));
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
        let dropped = matrix(KEYED, 1, 1, dropout(0.2));
        assert!(dropped.iter().all(|&value| value == 0.0 || value == 1.25));
        let share = dropped.iter().filter(|&&value| value == 0.0).count() as f64 / dropped.len() as f64;
        assert!((share - 0.2).abs() < 0.008, "{share}");
    }

    /// The distribution function at some points, by SciPy's `norm.cdf`; standard errors over 63,000 numbers are at most 0.002.
    #[test]
    fn normal_numbers_have_their_distribution_and_pairs_are_independent() {
        let values = matrix(KEYED, 1, 1, normal);
        for (point, expected) in [
            (-3.0, 0.001_349_9),
            (-2.0, 0.022_750_1),
            (-1.0, 0.158_655_3),
            (-0.3, 0.382_088_6),
            (0.5, 0.691_462_5),
            (1.5, 0.933_192_8),
            (2.5, 0.993_790_3),
        ] {
            let share = values.iter().filter(|&&value| value < point).count() as f64 / values.len() as f64;
            let error = (expected * (1.0 - expected) / values.len() as f64).sqrt();
            assert!((share - expected).abs() < 4.0 * error, "{point}: {share} {expected}");
        }
        let mean = |of: fn(f64, f64) -> f64| {
            let rows = values.chunks_exact(63).flat_map(|row| row.chunks_exact(2));
            let products: Vec<f64> = rows.map(|pair| of(f64::from(pair[0]), f64::from(pair[1]))).collect();
            (products.iter().sum::<f64>() / products.len() as f64, (products.len() as f64).sqrt())
        };
        // Products of independent numbers have a mean of 0 and a variance of 1, products of their squares less 1 one of 4.
        let ((product, root), (squares, _)) = (mean(|x, y| x * y), mean(|x, y| (x * x - 1.0) * (y * y - 1.0)));
        assert!(product.abs() < 4.0 / root && squares.abs() < 4.0 * 2.0 / root, "{product} {squares}");
    }

    #[test]
    fn every_part_of_the_key_counts_and_nothing_else() {
        let first = matrix(KEYED, 1, 1, uniform);
        assert_eq!(first, matrix(KEYED, 1, 1, uniform));
        for other in [
            matrix(KEYED, 2, 1, uniform),
            matrix(KEYED, 1, 2, uniform),
            matrix(Keyed { place: 1, ..KEYED }, 1, 1, uniform),
            matrix(Keyed { seed: 8, ..KEYED }, 1, 1, uniform),
            matrix(Keyed { purpose: Purpose::Dropout, ..KEYED }, 1, 1, uniform),
        ] {
            assert!(first.iter().zip(&other).filter(|(a, b)| a == b).count() < 10);
        }
        assert_eq!(first[3 * 63..], matrix(Keyed { first: 3, ..KEYED }, 1, 1, uniform)[..997 * 63]);
        let rows: std::collections::BTreeSet<u32> = first.chunks_exact(63).map(|row| row[0].to_bits()).collect();
        assert!(rows.len() > 990, "each row has numbers of its own");
    }
}

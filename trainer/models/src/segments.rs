//! Sums and maxima of rows that belong together, in candle's operations on any device.
//!
//! Neighbours are joined two by two, level by level: a level is two gathers and an addition over all rows, and of n rows there are log2 n levels. The order follows
//! from the segments alone, and no device adds by atomics.

use candle_core::{DType, Device, Result, Tensor};

/// Segments of rows that follow each other.
pub(crate) struct Segments {
    levels: Vec<Level>,
    /// The row that is left of each segment.
    last: Tensor,
    /// `[segments, 1]`: 0 for segments without rows, else 1.
    is_there: Tensor,
    dtype: DType,
}

/// Which rows are joined: each with the next, or with itself and a weight of 0 at the odd end of a segment.
struct Level {
    first: Tensor,
    second: Tensor,
    /// `[rows, 1]`
    weight: Tensor,
}

impl Segments {
    /// The segments from each start to the next, on a device, for rows of a type.
    pub(crate) fn new(starts: &[usize], device: &Device, dtype: DType) -> Result<Self> {
        let ids = |ids: Vec<u32>| Tensor::from_vec(ids.clone(), ids.len(), device);
        let column = |values: Vec<f32>| Tensor::from_vec(values.clone(), (values.len(), 1), device)?.to_dtype(dtype);
        let mut lengths: Vec<usize> = starts.windows(2).map(|ends| ends[1] - ends[0]).collect();
        let is_there = column(lengths.iter().map(|&length| if length > 0 { 1.0 } else { 0.0 }).collect())?;
        let mut levels = Vec::new();
        while lengths.iter().any(|&length| length > 1) {
            let (mut start, mut first, mut second, mut weight) = (0, Vec::new(), Vec::new(), Vec::new());
            for length in &mut lengths {
                for at in (0..*length).step_by(2) {
                    let has_next = at + 1 < *length;
                    first.push((start + at) as u32);
                    second.push((start + at + usize::from(has_next)) as u32);
                    weight.push(if has_next { 1.0 } else { 0.0 });
                }
                start += *length;
                *length = length.div_ceil(2);
            }
            levels.push(Level { first: ids(first)?, second: ids(second)?, weight: column(weight)? });
        }
        let place = |left: &mut u32, &length: &usize| {
            let own = *left;
            *left += length as u32;
            Some(if length > 0 { own } else { 0 })
        };
        let last = ids(lengths.iter().scan(0, place).collect())?;
        Ok(Self { levels, last, is_there, dtype })
    }

    /// The sum of each segment's rows, `[segments, dim]` of `[rows, dim]`; zeros where there are none.
    pub(crate) fn sum(&self, rows: &Tensor) -> Result<Tensor> {
        self.join(rows, |one, other, weight| one + other.broadcast_mul(weight)?)
    }

    /// The largest of each segment's rows, number by number; zeros where there are none.
    pub(super) fn max(&self, rows: &Tensor) -> Result<Tensor> {
        self.join(rows, |one, other, _| one.maximum(&other))
    }

    fn join(&self, rows: &Tensor, join: impl Fn(Tensor, Tensor, &Tensor) -> Result<Tensor>) -> Result<Tensor> {
        let (count, dim) = rows.dims2()?;
        if count == 0 {
            return Tensor::zeros((self.last.dim(0)?, dim), self.dtype, rows.device());
        }
        let mut rows = rows.detach();
        for Level { first, second, weight } in &self.levels {
            rows = join(rows.index_select(first, 0)?, rows.index_select(second, 0)?, weight)?;
        }
        rows.index_select(&self.last, 0)?.broadcast_mul(&self.is_there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 3, 0, 5, 1 and 0 rows, by hand.
    #[test]
    fn rows_are_joined_within_their_segment() {
        let segments = Segments::new(&[0, 3, 3, 8, 9, 9], &Device::Cpu, DType::F64).unwrap();
        let rows = [[1.0f64, -1.0], [2.0, -3.0], [4.0, -2.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0], [5.0, 5.0], [7.0, 0.5]];
        let rows = Tensor::new(&rows, &Device::Cpu).unwrap();
        let sums: Vec<Vec<f64>> = segments.sum(&rows).unwrap().to_vec2().unwrap();
        assert_eq!(sums, [[7.0, -6.0], [0.0, 0.0], [15.0, 15.0], [7.0, 0.5], [0.0, 0.0]]);
        let largest: Vec<Vec<f64>> = segments.max(&rows).unwrap().to_vec2().unwrap();
        assert_eq!(largest, [[4.0, -1.0], [0.0, 0.0], [5.0, 5.0], [7.0, 0.5], [0.0, 0.0]]);
        let none = Segments::new(&[0, 0, 0], &Device::Cpu, DType::F64).unwrap();
        let sums = none.sum(&Tensor::zeros((0, 2), DType::F64, &Device::Cpu).unwrap()).unwrap();
        assert_eq!(sums.to_vec2::<f64>().unwrap(), [[0.0; 2]; 2]);
    }
}

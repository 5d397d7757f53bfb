//! Loops over a row in 16 lanes.

/// Floats of a step: one register of AVX-512, two of AVX2, four of SSE and NEON.
const LANES: usize = 16;
/// Floats whose sum is kept in `f32`: 64 a lane.
const BLOCK: usize = 64 * LANES;

/// The largest entry; `f32::NEG_INFINITY` of nothing. Does not see NaN.
#[inline(always)]
pub fn max(values: &[f32]) -> f32 {
    let mut largest = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (largest, &value) in largest.iter_mut().zip(chunk) {
            *largest = if value > *largest { value } else { *largest };
        }
    }
    largest.iter().chain(rest).fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a })
}

/// What a loop does with each entry. Not a closure, because a closure cannot be told to be inlined.
pub trait Step {
    /// What the entry becomes, and what it adds to the sum.
    fn step(&self, value: f32) -> (f32, f32);
}

/// What a loop with several sums does with each entry.
pub trait Steps<const K: usize> {
    /// What the entry becomes, and what it adds to each sum.
    fn step(&self, value: f32) -> (f32, [f32; K]);
}

/// Takes the step for each entry, and returns the sums, of the order of [`replace_and_sum`].
#[inline(always)]
pub fn replace_and_sums<const K: usize>(values: &mut [f32], steps: &impl Steps<K>) -> [f64; K] {
    let mut totals = [0.0; K];
    for block in values.chunks_mut(BLOCK) {
        let mut sums = [[0.0f32; LANES]; K];
        let (chunks, rest) = block.as_chunks_mut::<LANES>();
        for chunk in chunks {
            for lane in 0..LANES {
                let (replaced, addends) = steps.step(chunk[lane]);
                chunk[lane] = replaced;
                for k in 0..K {
                    sums[k][lane] += addends[k];
                }
            }
        }
        for (lane, value) in rest.iter_mut().enumerate() {
            let (replaced, addends) = steps.step(*value);
            *value = replaced;
            for k in 0..K {
                sums[k][lane] += addends[k];
            }
        }
        totals.iter_mut().zip(sums).for_each(|(total, sums)| *total += sums.iter().map(|&sum| f64::from(sum)).sum::<f64>());
    }
    totals
}

/// Takes the step for each entry, and returns the sum.
///
/// The order of the additions depends on the length of the row alone.
#[inline(always)]
pub fn replace_and_sum(values: &mut [f32], step: &impl Step) -> f64 {
    let mut total = 0.0;
    for block in values.chunks_mut(BLOCK) {
        let mut sums = [0.0f32; LANES];
        let (chunks, rest) = block.as_chunks_mut::<LANES>();
        for chunk in chunks {
            for lane in 0..LANES {
                let (replaced, addend) = step.step(chunk[lane]);
                chunk[lane] = replaced;
                sums[lane] += addend;
            }
        }
        for (sum, value) in sums.iter_mut().zip(rest) {
            let (replaced, addend) = step.step(*value);
            *value = replaced;
            *sum += addend;
        }
        total += sums.iter().map(|&sum| f64::from(sum)).sum::<f64>();
    }
    total
}

//! Sums in the order that is promised, and against those of `f64`.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
struct Case {
    rows: usize,
    keys: Vec<u32>,
    weights: Vec<f32>,
    vectors: Vec<f32>,
    width: usize,
    dim: usize,
}

impl Case {
    /// The places of each row's entries, ascending.
    fn entries(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut entries = BTreeMap::<usize, Vec<usize>>::new();
        for (place, &key) in self.keys.iter().enumerate().filter(|&(_, &key)| key != u32::MAX) {
            entries.entry(key as usize).or_default().push(place);
        }
        entries
    }

    fn vector(&self, entry: usize) -> &[f32] {
        &self.vectors[entry / self.width * self.dim..][..self.dim]
    }

    /// The sums of a row in the order that is promised, and of its weights.
    fn in_order(&self, entries: &[usize]) -> (Vec<f32>, f32) {
        let piece = |piece: &[usize]| {
            let (mut sum, mut total) = (vec![0.0f32; self.dim], 0.0);
            for &entry in piece {
                total += self.weights[entry];
                sum.iter_mut().zip(self.vector(entry)).for_each(|(sum, &value)| *sum = self.weights[entry].mul_add(value, *sum));
            }
            (sum, total)
        };
        let add = |(mut sum, total): (Vec<f32>, f32), (next, more): (Vec<f32>, f32)| {
            sum.iter_mut().zip(next).for_each(|(sum, next)| *sum += next);
            (sum, total + more)
        };
        entries.chunks(PIECE).map(piece).reduce(add).unwrap()
    }

    /// The kernels' sums, marks of touched rows, and totals; rows that are not touched keep 7.
    fn sums(&self, segments: &mut Segments) -> (Vec<f32>, Vec<u8>, Vec<f32>) {
        let gpu = Gpu::emulated();
        let [weights, vectors] = [&self.weights, &self.vectors].map(|values| gpu.upload(values).unwrap());
        let mut out = gpu.upload(&vec![7.0f32; self.rows * self.dim]).unwrap();
        let (mut touched, mut totals) = (gpu.upload(&vec![3u8; self.rows]).unwrap(), gpu.upload(&vec![7.0f32; self.rows]).unwrap());
        let terms = Terms { weights: &weights, vectors: &vectors, width: self.width, dim: self.dim };
        segments.sort(&gpu, &gpu.upload(&self.keys).unwrap(), self.keys.len()).unwrap();
        segments.sum(&gpu, terms, Sums { out: &mut out, touched: &mut touched, totals: &mut totals }).unwrap();
        (gpu.read(&out).unwrap(), gpu.read(&touched).unwrap(), gpu.read(&totals).unwrap())
    }

    fn check(&self, segments: &mut Segments) {
        let ((out, touched, totals), entries) = (self.sums(segments), self.entries());
        let (distinct, number) = segments.rows();
        let gpu = Gpu::emulated();
        let number = gpu.read(number).unwrap()[0] as usize;
        assert!(gpu.read(distinct).unwrap()[..number].iter().map(|&row| row as usize).eq(entries.keys().copied()));
        for (row, found) in out.chunks_exact(self.dim).enumerate() {
            let (sum, total) = entries.get(&row).map_or((vec![7.0; self.dim], 7.0), |entries| self.in_order(entries));
            assert_eq!(touched[row], u8::from(entries.contains_key(&row)), "row {row}");
            assert_eq!((found, totals[row]), (&sum[..], total), "row {row}");
        }
        for (row, entries) in entries {
            for column in 0..self.dim {
                let terms = || entries.iter().map(|&entry| f64::from(self.weights[entry]) * f64::from(self.vector(entry)[column]));
                let (sum, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
                assert!((f64::from(out[row * self.dim + column]) - sum).abs() <= 1e-5 * size);
            }
        }
    }
}

fn case(keys: Vec<u32>, rows: usize, width: usize, dim: usize) -> Case {
    let value = |at: usize| (at.wrapping_mul(2_654_435_761) % 2_003) as f32 / 1_001.5 - 1.0;
    let vectors = keys.len().div_ceil(width) * dim;
    Case { rows, weights: (0..keys.len()).map(|at| value(at + 5)).collect(), vectors: (0..vectors).map(value).collect(), keys, width, dim }
}

/// Keys of few or many rows, some of them popular and some left out.
fn cases() -> impl Strategy<Value = Case> {
    let dims = prop_oneof![Just(1usize), Just(5), Just(16), Just(32), Just(34), Just(64), Just(67), Just(128), Just(132)];
    (prop_oneof![1usize..9, 200usize..400], 1usize..12, dims, 0usize..900).prop_flat_map(|(rows, width, dim, size)| {
        let key = prop_oneof![8 => 0..rows as u32, 1 => Just(u32::MAX), 4 => Just(rows as u32 / 2)];
        prop::collection::vec(key, size).prop_map(move |keys| case(keys, rows, width, dim))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn rows_have_the_sums_of_their_entries(cases in prop::collection::vec(cases(), 1..3)) {
        let rows = cases[0].rows;
        // One room serves one case after another, as from step to step.
        let mut segments = Segments::new(&Gpu::emulated(), 1_000, rows).unwrap();
        cases.iter().filter(|case| case.rows == rows).for_each(|case| case.check(&mut segments));
    }
}

#[test]
fn segments_reach_over_tiles_and_pieces() {
    let keys = |at: usize| match at {
        0..30 => 1,
        30..5_000 => 2,                      // from the first tile into the second
        5_000..9_000 => 3 + at as u32 % 700, // many short ones
        9_000..9_128 => 800,                 // one piece to the last entry
        9_128..9_257 => 801,                 // one more
        9_257..13_000 => u32::MAX,
        _ => 899,
    };
    let case = case((0..13_100).map(keys).collect(), 900, 1_001, 8);
    let mut segments = Segments::new(&Gpu::emulated(), 13_100, 900).unwrap();
    case.check(&mut segments);
}

#[test]
fn entries_that_are_all_left_out_touch_nothing() {
    let mut segments = Segments::new(&Gpu::emulated(), 40, 3).unwrap();
    case(vec![2; 40], 3, 1, 4).check(&mut segments);
    case(vec![u32::MAX; 40], 3, 1, 4).check(&mut segments);
    case(vec![], 3, 1, 4).check(&mut segments);
}

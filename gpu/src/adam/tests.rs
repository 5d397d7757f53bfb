//! Steps against a transcription of the CPU's, and leaps against every step of the formula in `f64`.

use super::*;
use proptest::prelude::*;

const RATE: f64 = 0.01;
const BETAS: [f64; 2] = [0.7, 0.999];
const EPSILON: f64 = 1e-8;

/// The constants of a step, counted from 1.
fn constants(weight_decay: f64, at: i32) -> Step {
    let [beta1, beta2] = BETAS;
    Step {
        weight_decay: weight_decay as f32,
        shrinkage: 1.0 - 0.1 * weight_decay as f32,
        first_decay: beta1 as f32,
        first_gain: (1.0 - beta1) as f32,
        second_decay: beta2 as f32,
        second_gain: (1.0 - beta2) as f32,
        second_scale: (1.0 / (1.0 - beta2.powi(at)).sqrt()) as f32,
        rate: (RATE / (1.0 - beta1.powi(at))) as f32,
        epsilon: EPSILON as f32,
    }
}

/// Values, first and second moments.
#[derive(Clone, Debug, PartialEq)]
struct State([Vec<f32>; 3]);

impl State {
    fn new(length: usize, seed: u32) -> Self {
        let value = |at: u32| (at.wrapping_add(seed).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0;
        let part = |from: u32| (0..length as u32).map(|at| value(at * 3 + from)).collect::<Vec<_>>();
        Self([part(0), part(1), part(2).into_iter().map(|value| value * value).collect()])
    }

    /// Runs a change of the table on the device.
    fn changed(&self, dim: usize, change: impl FnOnce(&Gpu, Table)) -> Self {
        let gpu = Gpu::emulated();
        let [mut values, mut first, mut second] = self.0.each_ref().map(|part| gpu.upload(part).unwrap());
        change(&gpu, Table { values: &mut values, first: &mut first, second: &mut second, dim });
        Self([values, first, second].map(|buffer| gpu.read(&buffer).unwrap()))
    }

    /// The step of one number, as the CPU has it.
    fn update(&mut self, at: usize, gradient: f32, by: &Step) {
        let [value, first, second] = self.0.each_mut().map(|part| &mut part[at]);
        let gradient = by.weight_decay * *value + gradient;
        *first = by.first_decay * *first + by.first_gain * gradient;
        *second = by.second_decay * *second + by.second_gain * gradient * gradient;
        *value = by.shrinkage * *value - by.rate * *first / (second.sqrt() * by.second_scale + by.epsilon);
    }
}

/// Row lengths of each width of the kernels.
fn dims() -> impl Strategy<Value = usize> {
    prop_oneof![Just(1usize), Just(3), Just(8), Just(33), Just(34), Just(64), Just(66), Just(68), Just(130)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn steps_have_the_bits_of_the_cpu(
        dim in dims(),
        touched in prop::collection::vec(any::<bool>(), 0..40),
        (others_move, listed, weight_decay) in (any::<bool>(), any::<bool>(), prop_oneof![Just(0.0), Just(0.01)]),
        (seed, at) in (any::<u32>(), 1i32..10_000),
    ) {
        let (start, by, rows) = (State::new(touched.len() * dim, seed), constants(weight_decay, at), touched.len());
        let mut gradient = State::new(rows * dim, seed ^ 99).0[0].clone();
        for (row, _) in touched.iter().enumerate().filter(|(_, touched)| !**touched) {
            gradient[row * dim..][..dim].fill(f32::NAN); // nobody may read it
        }
        let found = start.changed(dim, |gpu, table| {
            let gradient = gpu.upload(&gradient).unwrap();
            if listed {
                let list: Vec<u32> = (0..rows as u32).filter(|&row| touched[row as usize]).collect();
                let number = gpu.upload(&[list.len() as u32]).unwrap();
                let mut list_of_more = gpu.upload(&vec![u32::MAX; rows]).unwrap();
                gpu.write(&mut list_of_more, &list).unwrap();
                move_rows(gpu, table, (&list_of_more, &number), &gradient, &by).unwrap();
            } else {
                let touched = gpu.upload(&touched.iter().map(|&touched| u8::from(touched)).collect::<Vec<_>>()).unwrap();
                step(gpu, table, &gradient, &touched, &by, others_move).unwrap();
            }
        });
        let mut expected = start;
        for (at, &gradient) in gradient.iter().enumerate() {
            match touched[at / dim] {
                true => expected.update(at, gradient, &by),
                false if others_move && !listed => expected.update(at, 0.0, &by),
                false => {}
            }
        }
        prop_assert_eq!(found, expected);
    }
}

/// The leap of n steps after step `from`, from its definition.
fn leap(from: i32, n: i32) -> Leap {
    let [beta1, beta2] = BETAS;
    let steps: Vec<(f64, f64)> = (1..=n)
        .map(|k| {
            let at = from + k;
            (beta1.powi(k) * RATE / (1.0 - beta1.powi(at)), beta2.powf(f64::from(k) / 2.0) / (1.0 - beta2.powi(at)).sqrt())
        })
        .collect();
    let weight: f64 = steps.iter().map(|(c, _)| c).sum();
    if n == 0 {
        return Leap { scale: 1.0, weight: 0.0, terms: [0.0; 5] };
    }
    let mean = steps.iter().map(|(c, d)| c * d).sum::<f64>() / weight;
    let term = |j: i32| (steps.iter().map(|(c, d)| c * (1.0 - d / mean).powi(j)).sum::<f64>() / weight) as f32;
    Leap { scale: mean as f32, weight: weight as f32, terms: [2, 3, 4, 5, 6].map(term) }
}

/// After so many steps without gradient nothing is left of the first moment.
const WINDOW: usize = 60;

/// The step at which places are counted from: late enough for the series.
const BASE: i32 = 2_000;

/// In which steps each row has a gradient, and which.
#[derive(Clone, Debug)]
struct Touches {
    dim: usize,
    /// `[steps]`: the rows, and whether they are brought up to date before the step.
    steps: Vec<(Vec<(u32, f32)>, bool)>,
}

const ROWS: usize = 6;

fn touches() -> impl Strategy<Value = Touches> {
    let row = (prop::option::weighted(0.1, -1.0f32..1.0), -4f32..1.0).prop_map(|(value, size)| value.map(|value| value * 10f32.powf(size)));
    let rows = prop::collection::vec(row, ROWS);
    let listed = rows.prop_map(|rows| rows.into_iter().zip(0..).filter_map(|(value, row)| Some((row, value?))).collect());
    (prop_oneof![Just(1usize), Just(34)], prop::collection::vec((listed, any::<bool>()), 1..40), 0usize..90).prop_map(
        |(dim, steps, gap)| {
            // Some rows wait for less than a window, some for more.
            let wait = vec![(vec![], false); gap];
            Touches { dim, steps: [&steps[..steps.len() / 2], &wait, &steps[steps.len() / 2..]].concat() }
        },
    )
}

/// The table after all steps; rows are brought up to date before a step where that is said, or where it is not.
fn trained(touches: &Touches, start: &State, otherwise: bool) -> State {
    let Touches { dim, steps } = touches;
    start.changed(*dim, |gpu, mut table| {
        let decays: Vec<[f32; 2]> = (0..=steps.len() as i32).map(|n| BETAS.map(|beta| beta.powi(n) as f32)).collect();
        let mut leaps = Leaps::new(gpu, EPSILON as f32, &decays).unwrap();
        let mut left = gpu.zeros(ROWS).unwrap();
        for (at, (rows, current)) in (1..).zip(steps) {
            let list = gpu.upload(&rows.iter().map(|&(row, _)| row).collect::<Vec<_>>()).unwrap();
            let number = gpu.upload(&[rows.len() as u32]).unwrap();
            let mut gradient = vec![f32::NAN; ROWS * dim];
            rows.iter().for_each(|&(row, value)| gradient[row as usize * dim..][..*dim].fill(value));
            let gradient = gpu.upload(&gradient).unwrap();
            if *current != otherwise {
                leaps.current(gpu, again(&mut table), &mut left, (&list, &number)).unwrap();
            }
            let by = constants(0.0, BASE + at);
            leaps.move_rows(gpu, again(&mut table), &mut left, (&list, &number), &gradient, &by).unwrap();
            let recent: Vec<Leap> = (0..=at.min(WINDOW as i32)).map(|n| leap(BASE + at - n, n)).collect();
            leaps.advance(gpu, &recent).unwrap();
        }
        assert_eq!((leaps.now(), leaps.room()), (steps.len(), 0));
        leaps.catch_up(gpu, table, &mut left).unwrap();
        assert_eq!(gpu.read(&left).unwrap(), [0; ROWS]);
        leaps.restart();
        assert_eq!(leaps.now(), 0);
    })
}

/// A table, borrowed once more.
fn again<'a>(table: &'a mut Table) -> Table<'a> {
    Table { values: table.values, first: table.first, second: table.second, dim: table.dim }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn rows_left_behind_come_to_where_every_step_would_have_brought_them(touches in touches(), seed in any::<u32>()) {
        let start = State::new(ROWS * touches.dim, seed);
        let found = trained(&touches, &start, false);
        prop_assert_eq!(&found, &trained(&touches, &start, true), "when rows are brought up to date shows");
        for at in 0..ROWS * touches.dim {
            let [mut value, mut first, mut second] = [0, 1, 2].map(|part| f64::from(start.0[part][at]));
            let (mut way, mut first_size) = (0.0, first.abs());
            for (step, (rows, _)) in (BASE + 1..).zip(&touches.steps) {
                let gradient = rows.iter().find(|(row, _)| *row as usize == at / touches.dim).map_or(0.0, |&(_, value)| f64::from(value));
                let [beta1, beta2] = BETAS;
                first = beta1 * first + (1.0 - beta1) * gradient;
                second = beta2 * second + (1.0 - beta2) * gradient * gradient;
                first_size = beta1 * first_size + (1.0 - beta1) * gradient.abs();
                let moved = RATE * first / (1.0 - beta1.powi(step)) / ((second / (1.0 - beta2.powi(step))).sqrt() + EPSILON);
                value -= moved;
                way += moved.abs();
            }
            let [found_value, found_first, found_second] = [0, 1, 2].map(|part| f64::from(found.0[part][at]));
            // A few roundings of each step that was made, and of the value itself.
            prop_assert!((found_value - value).abs() <= 4e-6 * way + 1e-6, "{found_value} {value}, on a way of {way}");
            prop_assert!((found_first - first).abs() <= 1e-4 * first_size + 1e-30, "{found_first} {first}");
            prop_assert!((found_second - second).abs() <= 1e-4 * second + 1e-30, "{found_second} {second}");
        }
    }
}

#[test]
#[should_panic(expected = "3 steps without bringing all rows up to date")]
fn more_steps_than_there_is_room_for_are_refused() {
    let gpu = Gpu::emulated();
    let mut leaps = Leaps::new(&gpu, 1e-8, &[[1.0; 2]; 3]).unwrap();
    (0..3).for_each(|_| leaps.advance(&gpu, &[leap(BASE, 0)]).unwrap());
}

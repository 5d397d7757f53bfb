//! Steps against the formula in `f64`, one value at a time, and against PyTorch's.

use super::{catch_up::CatchUp, *};
use embeddings::RowGradients;
use proptest::prelude::*;
use vectors::Matrix;

const ADAM: Adam =
    Adam { learning_rate: 0.1, learning_rate_decay: None, weight_decay: 0.01, batch_l2: None, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

fn table(values: &[f32]) -> Parameter {
    Parameter::new("table", Matrix { rows: values.len(), dim: 1, values: values.to_vec() })
}

/// Value, first and second moment.
type State = (f64, f64, f64);

/// One step of the formula.
fn step(adam: &Adam, t: i32, (value, first, second): State, gradient: f64) -> State {
    let gradient = gradient + adam.weight_decay * value;
    let first = adam.beta1 * first + (1.0 - adam.beta1) * gradient;
    let second = adam.beta2 * second + (1.0 - adam.beta2) * gradient * gradient;
    let (first_hat, second_hat) = (first / (1.0 - adam.beta1.powi(t)), second / (1.0 - adam.beta2.powi(t)));
    (value - adam.learning_rate * first_hat / (second_hat.sqrt() + adam.epsilon), first, second)
}

/// Two rows of one value; the gradient touches row 0 in the first of three steps.
fn three_steps(optimizer: &Optimizer) -> Parameter {
    let (mut table, mut stepper) = (table(&[1.0, -2.0]), Stepper::new(optimizer, 0));
    for step in 1..=3 {
        let mut gradients = RowGradients::new(2, 1);
        if step == 1 {
            gradients.add(0, &[0.5]);
        }
        stepper.move_all(&mut table, &gradients);
        stepper.finish_step();
    }
    table
}

#[test]
fn dense_steps_follow_the_formula_in_every_row() {
    let table = three_steps(&Optimizer::Adam(ADAM));
    for (&value, (start, gradients)) in table.values.values.iter().zip([(1.0, [0.5, 0.0, 0.0]), (-2.0, [0.0; 3])]) {
        let (expected, ..) = (1..).zip(gradients).fold((start, 0.0, 0.0), |state, (t, gradient)| step(&ADAM, t, state, gradient));
        assert!((f64::from(value) - expected).abs() < 1e-6, "{value} {expected}");
    }
}

/// PyTorch 2.5.1, in `f64`: two values from 1 and -2 with gradients of (0.5, 0), (-0.25, 0), (0, 0.125) and (1, 0). The second is a row without gradient in three of the
/// four steps, which is exactly a gradient of zero.
#[test]
fn steps_are_those_of_pytorch() {
    let cases = [
        (r#"{"sgd": {"learning_rate": 0.1}}"#, [[0.95, -2.0], [0.975, -2.0], [0.975, -2.0125], [0.875, -2.0125]]),
        (
            r#"{"sgd": {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.01}}"#,
            [[0.949, -1.998], [0.927151, -1.994202], [0.906559749, -2.001289598], [0.787121063, -2.005667147]],
        ),
        (
            r#"{"sgd": {"learning_rate": 0.1, "weight_decay": 0.01}}"#,
            [[0.949, -1.998], [0.973051, -1.996002], [0.972077949, -2.006505998], [0.871105871, -2.004499492]],
        ),
        (r#"{"adagrad": {"learning_rate": 0.1}}"#, [[0.9, -2.0], [0.94472136, -2.0], [0.94472136, -2.1], [0.857434203, -2.1]]),
        (
            r#"{"adagrad": {"learning_rate": 0.1, "weight_decay": 0.01, "epsilon": 1e-6}}"#,
            [[0.900000196, -1.900005], [0.942724909, -1.831132455], [0.94105387, -1.927947507], [0.85376224, -1.910714031]],
        ),
        (
            r#"{"adam-w": {"learning_rate": 0.1}}"#,
            [[0.899000002, -1.998], [0.871467299, -1.996002], [0.850007902, -2.057887349], [0.790195757, -2.108157176]],
        ),
        (
            r#"{"adam-w": {"learning_rate": 0.1, "weight_decay": 0.1, "beta1": 0.5, "beta2": 0.9}}"#,
            [[0.890000002, -1.98], [0.881100002, -1.9602], [0.872289002, -2.034667003], [0.774491224, -2.066447425]],
        ),
        (
            r#"{"adam": {"learning_rate": 0.1, "weight_decay": 0.01}}"#,
            [[0.900000002, -1.90000005], [0.871229348, -1.800166587], [0.848004762, -1.842775544], [0.787993246, -1.867637612]],
        ),
    ];
    for (settings, expected) in cases {
        let optimizer: Optimizer = serde_json::from_str(settings).unwrap();
        optimizer.check().unwrap();
        let (mut table, mut stepper) = (table(&[1.0, -2.0]), Stepper::new(&optimizer, 0));
        for ((row, gradient), expected) in [(0, 0.5), (0, -0.25), (1, 0.125), (0, 1.0)].into_iter().zip(expected) {
            let mut gradients = RowGradients::new(2, 1);
            gradients.add(row, &[gradient]);
            stepper.move_all(&mut table, &gradients);
            stepper.finish_step();
            for (&found, expected) in table.values.values.iter().zip(expected) {
                assert!((f64::from(found) - expected).abs() < 2e-6, "{settings}: {found} {expected}");
            }
        }
    }
}

/// What a list of rows moves is what the whole table would: where rows without gradient stay, leaving them out is exact.
#[test]
fn rows_that_are_listed_move_as_in_the_whole_table() {
    for settings in [
        r#"{"sgd": {"learning_rate": 0.1}}"#,
        r#"{"sgd": {"learning_rate": 0.1, "momentum": 0.9}}"#,
        r#"{"adagrad": {"learning_rate": 0.1}}"#,
        r#"{"adagrad": {"learning_rate": 0.1, "weight_decay": 0.01}}"#,
        r#"{"adam-w": {"learning_rate": 0.1}}"#,
    ] {
        let optimizer: Optimizer = serde_json::from_str(settings).unwrap();
        let (mut whole, mut listed, mut stepper) = (table(&[1.0, -2.0, 0.5]), table(&[1.0, -2.0, 0.5]), Stepper::new(&optimizer, 0));
        listed.leave_behind(true);
        for (row, gradient) in [(0, 0.5), (2, -0.25), (0, 1.0)] {
            let (mut gradients, mut current) = (RowGradients::new(3, 1), [0.0]);
            gradients.add(row, &[gradient]);
            stepper.move_all(&mut whole, &gradients);
            stepper.current(&[row as u32], &listed, &mut current);
            stepper.move_rows(&[row as u32], &current, &mut listed, |_, sum| sum[0] = gradient);
            stepper.finish_step();
        }
        stepper.catch_up(std::iter::once(&mut listed));
        assert_eq!((whole.values.values, whole.first, whole.second), (listed.values.values, listed.first, listed.second), "{settings}");
    }
}

#[test]
fn values_that_are_none_are_named() {
    let message = |settings: &str| serde_json::from_str::<Optimizer>(settings).unwrap().check().unwrap_err();
    for (settings, expected) in [
        (r#"{"sgd": {"learning_rate": 0}}"#, "learning_rate is 0,"),
        (r#"{"sgd": {"learning_rate": 0.1, "momentum": 1}}"#, "momentum is 1,"),
        (r#"{"sgd": {"learning_rate": 0.1, "weight_decay": -1}}"#, "weight_decay is -1, expected a number of at least 0"),
        (r#"{"adagrad": {"learning_rate": 0.1, "epsilon": 0}}"#, "epsilon is 0,"),
        (r#"{"adam-w": {"learning_rate": 0.1, "weight_decay": 10}}"#, "weight_decay is 10 at a learning_rate of 0.1,"),
        (r#"{"lazy-adam": {"learning_rate": 0.1, "beta1": 1}}"#, "beta1 is 1,"),
        (r#"{"adam": {"learning_rate": 0.1, "batch_l2": -0.5}}"#, "batch_l2 is -0.5,"),
    ] {
        assert!(message(settings).starts_with(expected), "{}", message(settings));
    }
}

#[test]
fn the_first_step_has_the_length_of_the_learning_rate() {
    let (mut table, mut gradients) = (table(&[1.0]), RowGradients::new(1, 1));
    gradients.add(0, &[1e-3]);
    Stepper::new(&Optimizer::Adam(Adam { weight_decay: 0.0, ..ADAM }), 0).move_all(&mut table, &gradients);
    assert!((table.values.values[0] - 0.9).abs() < 1e-4, "{}", table.values.values[0]);
}

#[test]
fn lazy_steps_leave_rows_without_gradient_alone() {
    let Parameter { values, first, second, .. } = three_steps(&Optimizer::LazyAdam(LazyAdam(ADAM)));
    assert_eq!((values.values[1], first[1], second[1]), (-2.0, 0.0, 0.0));
    assert!((f64::from(values.values[0]) - 0.9).abs() < 1e-6);
}

/// By hand: where the gradient is always the same, a step of Adam has the length of the learning rate, which is halved after each two epochs, here of
/// one step each. From 1 the value comes to 0.9, 0.8, 0.75 and 0.7.
#[test]
fn the_learning_rate_falls_in_steps() {
    let decay = StepDecay { every: 2, factor: 0.5 };
    let optimizer = Optimizer::Adam(Adam { weight_decay: 0.0, learning_rate_decay: Some(decay), ..ADAM });
    let (mut table, mut gradients) = (table(&[1.0]), RowGradients::new(1, 1));
    gradients.add(0, &[0.5]);
    for (epoch, expected) in [(1, 0.9), (2, 0.8), (3, 0.75), (4, 0.7)] {
        let mut stepper = Stepper::new(&optimizer.in_epoch(epoch), u64::from(epoch) - 1);
        stepper.move_all(&mut table, &gradients);
        stepper.finish_step();
        assert!((table.values.values[0] - expected).abs() < 1e-5, "{epoch}: {}", table.values.values[0]);
        assert_eq!(optimizer.changes_in(epoch), epoch == 3);
    }
}

/// A decay of a row's own is that much of the row in its gradient, whether it has another one or not; rows without move as ever.
#[test]
fn rows_have_decays_of_their_own() {
    for optimizer in [Optimizer::Adam(ADAM), Optimizer::LazyAdam(LazyAdam(ADAM))] {
        let moved = |gradients: &[(usize, f32)], decays: Option<&[f32]>| {
            let (mut table, mut rows) = (table(&[1.0, -2.0, 3.0, 0.5]), RowGradients::new(4, 1));
            gradients.iter().for_each(|&(row, gradient)| rows.add(row, &[gradient]));
            Stepper::new(&optimizer, 0).move_decayed(&mut table, &rows, decays);
            (table.values.values, table.first)
        };
        let found = moved(&[(0, 0.5), (2, 0.25)], Some(&[0.2, 0.1, 0.0, 0.0]));
        let expected = moved(&[(0, 0.5 + 0.2), (1, -0.2), (2, 0.25)], None);
        for (found, expected) in [(&found.0, &expected.0), (&found.1, &expected.1)] {
            assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6), "{found:?} {expected:?}");
        }
    }
}

/// The gradients of one row: the step, counted from the start, and the value.
#[derive(Clone, Debug)]
struct Touches {
    adam: Adam,
    /// Steps before the first, in which nothing is touched.
    before: u64,
    /// `[steps][rows]`
    gradients: Vec<Vec<Option<f32>>>,
    ends_of_epochs: Vec<bool>,
}

const ROWS: usize = 5;

fn touches() -> impl Strategy<Value = Touches> {
    let adam = (
        prop_oneof![Just(1e-8), Just(1e-5), Just(1e-3)],
        prop_oneof![4 => Just(0.9), 1 => Just(0.0), 1 => Just(0.5), 1 => Just(0.99)],
        prop_oneof![4 => Just(0.999), 1 => Just(0.99), 1 => Just(0.9999), 1 => Just(0.5)],
    );
    let before = prop_oneof![Just(0u64), 0u64..400, 0u64..100_000];
    (adam, before, 1usize..700, 0.002f64..0.5, -9f32..3.0).prop_flat_map(|((epsilon, beta1, beta2), before, steps, often, size)| {
        let gradient = prop::option::weighted(often, (-1.0f32..1.0).prop_map(move |value| value * 10f32.powf(size)));
        let adam = Adam { learning_rate: 0.01, weight_decay: 0.0, beta1, beta2, epsilon, ..ADAM };
        (prop::collection::vec(prop::collection::vec(gradient, ROWS), steps), prop::collection::vec(prop::bool::weighted(0.01), steps))
            .prop_map(move |(gradients, ends_of_epochs)| Touches { adam: adam.clone(), before, gradients, ends_of_epochs })
    })
}

/// A table after all steps, where rows may or may not be left behind.
fn trained(touches: &Touches, left_behind: bool) -> Parameter {
    let mut table = table(&[0.0; ROWS]);
    table.leave_behind(left_behind);
    let mut stepper = Stepper::new(&Optimizer::Adam(touches.adam.clone()), touches.before);
    for (gradients, end) in touches.gradients.iter().zip(&touches.ends_of_epochs) {
        let rows: Vec<u32> = (0..ROWS as u32).filter(|&row| gradients[row as usize].is_some()).collect();
        let mut current = vec![0.0; rows.len()];
        stepper.current(&rows, &table, &mut current);
        stepper.move_rows(&rows, &current, &mut table, |k, gradient| gradient[0] = gradients[rows[k] as usize].unwrap());
        stepper.finish_step();
        if *end {
            stepper.catch_up(std::iter::once(&mut table));
        }
    }
    stepper.catch_up(std::iter::once(&mut table));
    table
}

/// What `f64` says of a row: its state after all steps, the length of its way, and the first moment had all gradients the same sign.
struct Exact {
    state: State,
    way: f64,
    first_size: f64,
}

fn exact(touches: &Touches, row: usize) -> Exact {
    let mut exact = Exact { state: (0.0, 0.0, 0.0), way: 0.0, first_size: 0.0 };
    for (gradients, t) in touches.gradients.iter().zip(touches.before as i32 + 1..) {
        let (before, gradient) = (exact.state.0, f64::from(gradients[row].unwrap_or(0.0)));
        exact.state = step(&touches.adam, t, exact.state, gradient);
        exact.way += (exact.state.0 - before).abs();
        exact.first_size = step(&touches.adam, t, (0.0, exact.first_size, 0.0), gradient.abs()).1;
    }
    exact
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn rows_left_behind_come_to_where_every_step_would_have_brought_them(touches in touches()) {
        let (left, dense) = (trained(&touches, true), trained(&touches, false));
        for row in 0..ROWS {
            let Exact { state: (value, first, second), way, first_size } = exact(&touches, row);
            let (error, dense_error) = (f64::from(left.values.values[row]) - value, f64::from(dense.values.values[row]) - value);
            // Each touch rounds the value once, and the moments that all later steps use.
            let allowed = (16.0 * f64::from(f32::EPSILON) * way).max(dense_error.abs());
            prop_assert!(error.abs() <= allowed, "row {row}: off by {error:e}, dense by {dense_error:e}, on a way of {way:e}");
            prop_assert!((f64::from(left.first[row]) - first).abs() <= 1e-4 * first_size + 1e-30);
            prop_assert!((f64::from(left.second[row]) - second).abs() <= 1e-4 * second + 1e-30);
        }
    }

    /// The sharper test: one leap of any length, to four roundings.
    #[test]
    fn a_leap_is_the_sum_of_its_steps(
        (beta1, beta2) in prop_oneof![Just((0.9, 0.999)), Just((0.5, 0.99)), Just((0.95, 0.9999)), Just((0.0, 0.999))],
        epsilon in prop_oneof![Just(1e-8), Just(1e-3)],
        (early, base, left, gap) in (any::<bool>(), 0u64..100_000, 0u64..300, 0u64..1_200),
        root in -12f64..6.0,
    ) {
        let adam = Adam { learning_rate: 0.01, weight_decay: 0.0, beta1, beta2, epsilon, ..ADAM };
        let mut idle = CatchUp::new(adam.moments()).unwrap();
        let start = (0..).find(|&step| idle.holds(step)).unwrap();
        let base = if early { start } else { start + base };
        idle.restart(base);
        (0..left + gap).for_each(|_| idle.advance());
        let (second, mut value) = (10f64.powf(root).powi(2) as f32, [0.0f32]);
        let (leap, decay) = idle.leap(left as u32);
        kernels::leapt(&mut value, &[0.0], &[1.0], &[second], leap, epsilon as f32);
        let moved = |k: u64| {
            let t = (base + left + k) as i32;
            let second = f64::from(second) * beta2.powi(k as i32) / (1.0 - beta2.powi(t));
            0.01 * beta1.powi(k as i32) / (1.0 - beta1.powi(t)) / (second.sqrt() + f64::from(epsilon as f32))
        };
        let exact: f64 = (1..=gap).map(moved).sum();
        prop_assert!((f64::from(value[0]) + exact).abs() <= 4.0 * f64::from(f32::EPSILON) * exact, "{} {exact}", value[0]);
        prop_assert!((f64::from(decay.second) - beta2.powi(gap as i32)).abs() <= 1e-7);
        prop_assert!((f64::from(decay.first) - beta1.powi(gap as i32)).abs() <= 1e-7);
    }
}

//! Who goes on, against examples that are worked by hand.

use super::*;
use crate::runner::score::tests::score;

/// Values of configurations at rungs, and the order in which they were asked for.
struct Table {
    /// Values by rung, then configuration; `None` for one that fails.
    values: Vec<Vec<Option<f64>>>,
    asked: Vec<(usize, usize)>,
}

impl Table {
    fn new(values: &[&[f64]]) -> Self {
        let some = |value: &f64| (!value.is_nan()).then_some(*value);
        Self { values: values.iter().map(|rung| rung.iter().map(some).collect()).collect(), asked: Vec::new() }
    }

    fn shape(&self, factor: u32) -> Shape {
        Shape { configurations: self.values[0].len(), rungs: self.values.len(), factor }
    }

    fn synchronous(&mut self, factor: u32) -> Vec<usize> {
        let shape = self.shape(factor);
        synchronous::halve(shape, &mut |configuration, rung| Ok(self.climb(configuration, rung))).unwrap()
    }

    fn asynchronous(&mut self, factor: u32) -> Vec<usize> {
        let shape = self.shape(factor);
        asynchronous::halve(shape, &mut |configuration, rung| Ok(self.climb(configuration, rung))).unwrap()
    }

    fn climb(&mut self, configuration: usize, rung: usize) -> Score {
        self.asked.push((configuration, rung));
        score(self.values[rung][configuration])
    }
}

const X: f64 = f64::NAN;

#[test]
fn the_best_third_goes_on_from_each_complete_rung() {
    // 7, 2 and 4 of nine lead at first; of these 4 leads at the second rung.
    let values: [&[f64]; 3] =
        [&[0.1, 0.2, 0.8, 0.3, 0.7, 0.5, 0.4, 0.9, 0.6], &[X, X, 0.81, X, 0.95, X, X, 0.92, X], &[X, X, X, X, 0.96, X, X, X, X]];
    let mut table = Table::new(&values);
    assert_eq!(table.synchronous(3), [0, 0, 1, 0, 2, 0, 0, 1, 0]);
    let first = (0..9).map(|configuration| (configuration, 0));
    assert!(table.asked.into_iter().eq(first.chain([(2, 1), (4, 1), (7, 1), (4, 2)])));
}

#[test]
fn at_least_one_goes_on_and_the_first_of_equals() {
    assert_eq!(Table::new(&[&[0.5, 0.5], &[0.5, X], &[0.5, X]]).synchronous(3), [2, 0]);
    assert_eq!(Table::new(&[&[0.5], &[0.4]]).synchronous(4), [1]);
    assert_eq!(Table::new(&[&[0.5, 0.6]]).synchronous(3), [0, 0]);
}

#[test]
fn what_failed_never_goes_on() {
    assert_eq!(Table::new(&[&[X, 0.1, X, X, 0.2, X], &[X, 0.3, X, X, 0.4, X]]).synchronous(2), [0, 1, 0, 0, 1, 0]);
    assert_eq!(Table::new(&[&[X, X, X], &[X, X, X]]).synchronous(3), [0, 0, 0]);
    // The only one that went on failed there: nothing takes its place.
    assert_eq!(Table::new(&[&[0.3, 0.2, 0.1], &[X, X, X], &[X, X, X]]).synchronous(3), [1, 0, 0]);
}

/// Nothing goes on before there are `factor` in a rung, a rung above goes before one below, and what goes on is the best third so far.
#[test]
fn one_worker_promotes_as_soon_as_a_third_is_there() {
    let values: [&[f64]; 3] = [
        &[0.1, 0.3, 0.2, 0.6, 0.5, 0.4, 0.9, 0.8, 0.7],
        &[X, 0.31, X, 0.61, 0.51, X, 0.91, 0.81, 0.71],
        &[X, X, X, 0.62, X, X, 0.92, 0.82, X],
    ];
    let mut table = Table::new(&values);
    assert_eq!(table.asynchronous(3), [0, 1, 0, 2, 1, 0, 2, 2, 1]);
    let expected = [
        [(0, 0), (1, 0), (2, 0), (1, 1), (3, 0), (3, 1)], // 1 leads three; 3 leads four
        [(4, 0), (5, 0), (4, 1), (3, 2), (6, 0), (6, 1)], // 4 is second of six; 3 leads three above; 6 leads seven
        [(6, 2), (7, 0), (7, 1), (8, 0), (8, 1), (7, 2)], // 6 leads four above; 7 is second of eight, 8 third of nine; 7 is second of six above
    ];
    assert_eq!(table.asked, expected.concat());
    // Awaited, the best three of nine are 6, 7 and 8, and the best of these is 6.
    assert_eq!(Table::new(&values).synchronous(3), [0, 0, 0, 0, 0, 0, 2, 1, 1]);
}

#[test]
fn both_agree_where_nothing_is_overtaken() {
    // The best come first, so that none that went on is overtaken.
    let values: [&[f64]; 3] =
        [&[0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1], &[0.9, 0.8, 0.7, X, X, X, X, X, X], &[0.9, X, X, X, X, X, X, X, X]];
    let (mut one, mut other) = (Table::new(&values), Table::new(&values));
    assert_eq!(one.asynchronous(3), other.synchronous(3));
    one.asked.sort_unstable();
    other.asked.sort_unstable();
    assert_eq!(one.asked, other.asked);
}

#[test]
fn too_few_for_a_third_still_have_one_that_goes_on() {
    assert_eq!(Table::new(&[&[0.2, 0.1], &[0.5, X], &[0.6, X]]).asynchronous(3), [2, 0]);
    assert_eq!(Table::new(&[&[X, 0.1, X], &[X, X, X]]).asynchronous(3), [0, 1, 0]);
    assert_eq!(Table::new(&[&[X, X], &[X, X]]).asynchronous(2), [0, 0]);
    assert_eq!(Table::new(&[&[0.1, 0.2]]).asynchronous(2), [0, 0]);
    // Four: the best of the first three goes on, then the fourth, which is better than all of them.
    assert_eq!(Table::new(&[&[0.1, 0.3, 0.2, 0.4], &[X, 0.5, X, 0.6]]).asynchronous(3), [0, 1, 0, 1]);
}

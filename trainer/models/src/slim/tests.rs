//! The weights against scikit-learn, and against the conditions that hold at the optimum alone.

use super::super::testing::scores;
use super::*;
use proptest::prelude::*;
use testing::dataset_of;

/// Users with the items {0, 1, 4}, {0, 1, 2}, {1, 2, 3}, {0, 2, 3, 4}, {2, 3} and {0, 1, 3, 4}.
const PAIRS: [(u32, u32); 19] = [
    (0, 0),
    (0, 1),
    (0, 4),
    (1, 0),
    (1, 1),
    (1, 2),
    (2, 1),
    (2, 2),
    (2, 3),
    (3, 0),
    (3, 2),
    (3, 3),
    (3, 4),
    (4, 2),
    (4, 3),
    (5, 0),
    (5, 1),
    (5, 3),
    (5, 4),
];

fn slim(l1: f64, l2: f64) -> Slim {
    Slim { l1, l2, max_iterations: 10_000, tolerance: 1e-12 }
}

/// `[items, items]`
fn weights(slim: &Slim, dataset: &Dataset) -> Vec<Vec<f64>> {
    let Scorer::SparseItemWeights(SparseItemWeights { weights }) = slim.fit(dataset, 1 << 28).unwrap() else {
        panic!("sparse item weights")
    };
    let dense = |item: usize| {
        let mut row = vec![0.0; dataset.items()];
        weights.row(item).for_each(|(to, weight)| row[to as usize] = f64::from(weight));
        row
    };
    (0..dataset.items()).map(dense).collect()
}

/// Column j by scikit-learn 1.9.1, column j of X being zero:
/// `ElasticNet(alpha=(l1 + l2) / 6, l1_ratio=l1 / (l1 + l2), positive=True, fit_intercept=False, max_iter=100000, tol=1e-14).fit(X, R[:, j]).coef_`
#[test]
fn weights_are_those_of_scikit_learn() {
    let small = [
        [0.0, 0.4375, 0.078125, 0.0, 0.452380952],
        [0.276119403, 0.0, 0.078125, 0.02238806, 0.0],
        [0.097014925, 0.078125, 0.0, 0.440298507, 0.0],
        [0.0, 0.078125, 0.4375, 0.0, 0.119047619],
        [0.462686567, 0.0, 0.0, 0.253731343, 0.0],
    ];
    let large = [
        [0.0, 0.35631929, 0.12173913, 0.005684211, 0.397101449],
        [0.288909091, 0.0, 0.12173913, 0.091789474, 0.063768116],
        [0.146909091, 0.131929047, 0.0, 0.407789474, 0.0],
        [0.002181818, 0.098447894, 0.402173913, 0.0, 0.163043478],
        [0.434181818, 0.100443459, 0.0, 0.258315789, 0.0],
    ];
    for (l1, l2, expected) in [(0.5, 1.0, small), (0.1, 2.0, large)] {
        let found = weights(&slim(l1, l2), &dataset_of([6, 5], &PAIRS));
        for (found, expected) in found.iter().flatten().zip(expected.as_flattened()) {
            assert!((found - expected).abs() < 2e-8 + 1e-7 * expected, "l1 {l1}, l2 {l2}: {found} where {expected} is expected");
        }
    }
}

/// User 4 has the items 2 and 3.
#[test]
fn scores_are_sums_of_the_weights_from_train_items() {
    let dataset = dataset_of([6, 5], &PAIRS);
    let found = scores(&slim(0.5, 1.0).fit(&dataset, 1 << 28).unwrap(), &dataset, 4);
    let expected = [0.097_014_93, 0.15625, 0.4375, 0.440_298_5, 0.119_047_62];
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6),
        "{found:?}"
    );
}

proptest! {
    /// The derivative of the objective is 0 where a weight is above 0, and not negative where it is 0.
    #[test]
    fn derivatives_are_those_of_an_optimum(
        rows in prop::collection::vec(prop::collection::vec(any::<bool>(), 9), 1..30),
        l1 in prop_oneof![Just(0.0), 0.0f64..4.0],
        l2 in 0.1f64..10.0,
    ) {
        let pairs = super::super::nearest::dense::pairs(&rows);
        let weights = weights(&slim(l1, l2), &dataset_of([rows.len(), 9], &pairs));
        let entry = |row: &[bool], item: usize| f64::from(u8::from(row[item]));
        let columns = (0..9).map(|to| weights.iter().map(|row| row[to]).collect::<Vec<f64>>());
        for (to, column) in columns.enumerate() {
            let weight = |from: usize| column[from];
            let error = |row: &Vec<bool>| (0..9).map(|from| entry(row, from) * weight(from)).sum::<f64>() - entry(row, to);
            prop_assert_eq!(weight(to), 0.0);
            for from in (0..9).filter(|&from| from != to) {
                let derivative = rows.iter().map(|row| entry(row, from) * error(row)).sum::<f64>() + l1 + l2 * weight(from);
                let tolerance = 1e-4; // of weights that are stored as floats
                prop_assert!(derivative > -tolerance && (weight(from) == 0.0 || derivative < tolerance), "{} {}", derivative, weight(from));
            }
        }
    }
}

#[test]
fn rows_that_are_not_kept_give_the_same_weights() {
    let (dataset, slim) = (dataset_of([6, 5], &PAIRS), slim(0.5, 1.0));
    let users_of = dataset.train.transpose(5);
    let gram = Gram::new(&users_of, &dataset.train, &GramEntryCounts::count(&users_of, &dataset.train, 0.5));
    let weights = |most: usize| {
        let mut descent = Descent::new(5, most);
        (0..5).map(|item| descent.weights(&slim, &gram, item)).collect::<Vec<_>>()
    };
    let expected = weights(KEPT);
    assert!([0, 4, 9].into_iter().all(|most| weights(most) == expected));
}

#[test]
fn impossible_values_are_named() {
    let refused = |change: fn(&mut Slim)| {
        let mut settings = slim(1.0, 1.0);
        change(&mut settings);
        settings.check().unwrap_err()
    };
    assert_eq!(refused(|slim| slim.l1 = -1.0), "l1 is -1, expected a number of at least 0");
    assert_eq!(refused(|slim| slim.l2 = f64::INFINITY), "l2 is inf, expected a number of at least 0");
    assert_eq!(refused(|slim| slim.max_iterations = 0), "max_iterations is 0, expected at least 1");
    assert_eq!(refused(|slim| slim.tolerance = 0.0), "tolerance is 0, expected a number above 0");
    assert_eq!(slim(0.0, 0.0).check(), Ok(()));
}

#[test]
fn a_dataset_beyond_the_memory_is_refused_with_the_arithmetic() {
    let message = slim(1.0, 1.0).fit(&dataset_of([6, 5], &PAIRS), 100).unwrap_err().to_string();
    assert!(
        message.starts_with("slim on 5 items, 25 pairs of which users have together, needs") && message.contains("--memory"),
        "{message}"
    );
}

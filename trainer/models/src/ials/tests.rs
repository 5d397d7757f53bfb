//! Sweeps against NumPy, solvers against each other, and what every model by least squares promises.

use super::super::als::{ConjugateGradient, Subspace, testing::*};
use super::*;

fn ials(convention: Convention, regularization: f64) -> Ials {
    Ials { dim: 2, regularization, convention, solver: Solver::default(), init: als::small() }
}

fn rendle(unobserved_weight: f64, reg_scaling: f64) -> Convention {
    Convention::Rendle(Rendle { unobserved_weight, reg_scaling })
}

/// An epoch from the worked example's items.
struct Case {
    settings: Ials,
    users: [f64; 8],
    items: [f64; 12],
    /// After each half.
    objectives: [f64; 2],
}

/// Least squares by NumPy (`lstsq` of the pairs' equations, each times the root of its weight, with the penalties below), and the objective by
/// its formula over all pairs. The library implicit 0.7.3 has the rows of `convention: implicit` too.
#[test]
fn sweeps_are_those_of_numpy() {
    let cases = [
        Case {
            settings: ials(rendle(0.1, 1.0), 0.05),
            users: [1.520604643, 0.15296023, 0.73336384, 1.31379302, 1.515151515, -0.841750842, 1.191401191, 0.932400932],
            items: [
                0.523247674,
                0.244090391,
                0.485520883,
                0.379598686,
                0.102862639,
                0.565615176,
                0.634960347,
                0.209390761,
                0.351257873,
                -0.386939088,
                0.305433754,
                0.441470584,
            ],
            objectives: [0.759826303763, 0.342843130494],
        },
        Case {
            settings: ials(rendle(0.3, 0.5), 0.02),
            users: [2.178621095, 0.582282072, 1.348322408, 2.445098865, 1.849959805, -0.912965843, 1.898118745, 1.417556354],
            items: [
                0.299528755,
                0.061115798,
                0.226831858,
                0.17722083,
                -0.012431639,
                0.286289433,
                0.324891836,
                0.048682058,
                0.245086103,
                -0.251528513,
                0.162385844,
                0.148188442,
            ],
            objectives: [0.641084223217, 0.471834089524],
        },
        Case {
            settings: ials(Convention::Implicit(Implicit { alpha: 3.0 }), 0.1),
            users: [2.462686567, 0.671641791, 1.708860759, 2.877312561, 2.234042553, -0.957446809, 2.127659574, 1.70212766],
            items: [
                0.316163446,
                0.064070978,
                0.231801838,
                0.190463237,
                -0.011927191,
                0.30290172,
                0.326912562,
                0.042226204,
                0.269969859,
                -0.268807936,
                0.14343235,
                0.157949842,
            ],
            objectives: [1.739276982191, 1.044285120850],
        },
        Case {
            settings: ials(Convention::Recstudio(Recstudio { alpha: 3.0 }), 0.1),
            users: [2.916666667, 0.833333333, 1.89679219, 3.417015342, 2.453333333, -1.173333333, 2.56, 1.92],
            items: [
                0.291802588,
                0.045246582,
                0.214488065,
                0.163209456,
                -0.017565038,
                0.270195886,
                0.30823787,
                0.040013333,
                0.242196796,
                -0.242502125,
                0.156383113,
                0.128069862,
            ],
            objectives: [2.052460870913, 1.225955948251],
        },
    ];
    for Case { settings, users, items, objectives } in cases {
        assert_sweep(|dataset| settings.training("ials", dataset, 1).unwrap(), &users, &items, objectives);
    }
}

/// The confidence 5 is w0 = 1 / 4 with targets of 5 / 4 and a quarter of the penalty.
#[test]
fn conventions_are_one_objective() {
    let dataset = random([40, 30], 300);
    let users = |convention: Convention, regularization: f64| {
        let mut training = ials(convention, regularization).training("ials", &dataset, 3).unwrap();
        training.half_sweep(Side::Users).unwrap();
        products(&training.tables)
    };
    let implicit = users(Convention::Implicit(Implicit { alpha: 5.0 }), 2.0);
    assert_eq!(users(Convention::Recstudio(Recstudio { alpha: 4.0 }), 2.0), implicit);
    let larger: Vec<f64> = users(rendle(0.25, 0.0), 0.5).iter().map(|score| 1.25 * score).collect();
    assert_close(&larger, &implicit, 1e-7);
}

#[test]
fn the_objective_falls_in_every_half_sweep() {
    let solvers = [
        Solver::default(),
        Solver::ConjugateGradient(ConjugateGradient { steps: 3 }),
        Solver::ConjugateGradient(ConjugateGradient { steps: 1 }),
        Solver::Subspace(Subspace { block: 5 }),
    ];
    for solver in solvers {
        for convention in [Convention::default(), Convention::Implicit(Implicit { alpha: 10.0 })] {
            let settings = Ials { dim: 12, solver, ..ials(convention, 0.01) };
            assert_falls(|dataset| settings.training("ials", dataset, 5).unwrap());
        }
    }
}

/// Whatever solver moved the rows, and wherever it stopped.
#[test]
fn the_objective_is_the_sum_over_all_pairs() {
    let dataset = random([40, 30], 300);
    for solver in [Solver::default(), Solver::ConjugateGradient(ConjugateGradient { steps: 2 }), Solver::Subspace(Subspace { block: 5 })] {
        let settings = Ials { dim: 12, solver, ..ials(rendle(0.2, 0.7), 0.03) };
        let mut training = settings.training("ials", &dataset, 5).unwrap();
        for side in [Side::Users, Side::Items, Side::Users] {
            let found = training.half_sweep(side).unwrap();
            let scores = products(&training.tables);
            let mut expected: f64 = 0.0;
            let mut of_item = [0usize; 30];
            for user in 0..40 {
                let row = dataset.train.row(user);
                for item in 0..30 {
                    let score = scores[user * 30 + item];
                    expected += 0.2 * score * score;
                    if row.contains(&(item as u32)) {
                        expected += (score - 1.0).powi(2);
                        of_item[item] += 1;
                    }
                }
                expected += 0.03 * (row.len() as f64 + 0.2 * 30.0).powf(0.7) * norm(training.tables.users.row(user));
            }
            for (item, count) in of_item.into_iter().enumerate() {
                expected += 0.03 * (count as f64 + 0.2 * 40.0).powf(0.7) * norm(training.tables.items.row(item));
            }
            expected /= dataset.train.len() as f64;
            assert!((found - expected).abs() < 1e-6 * expected, "{solver:?}: {found} {expected}");
        }
    }
}

#[test]
fn many_steps_of_conjugate_gradients_and_one_block_are_cholesky() {
    let dataset = random([60, 50], 900);
    let tables = |dim: u32, solver: Solver| {
        let settings = Ials { dim, solver, ..ials(Convention::default(), 0.05) };
        let mut training = settings.training("ials", &dataset, 2).unwrap();
        train(&mut training, 3);
        training.tables
    };
    for dim in [7, 20, 32] {
        let exact = tables(dim, Solver::default());
        assert_eq!(tables(dim, Solver::Subspace(Subspace { block: dim })), exact);
        let steps = tables(dim, Solver::ConjugateGradient(ConjugateGradient { steps: 60 }));
        assert_close(&products(&steps), &products(&exact), 1e-3); // six half sweeps in floats
    }
}

/// Coordinates one after the other reach what all at once do.
#[test]
fn blocks_reach_the_same_objective() {
    let dataset = random([60, 50], 900);
    let objective = |solver: Solver| {
        let settings = Ials { dim: 6, solver, ..ials(Convention::default(), 0.05) };
        let mut training = settings.training("ials", &dataset, 2).unwrap();
        train(&mut training, 200)
    };
    let exact = objective(Solver::default());
    for block in [1, 4] {
        let found = objective(Solver::Subspace(Subspace { block }));
        assert!((found - exact).abs() < 1e-3 * exact, "{block}: {found} {exact}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for solver in [Solver::default(), Solver::ConjugateGradient(ConjugateGradient { steps: 3 }), Solver::Subspace(Subspace { block: 3 })] {
        let settings = Ials { dim: 10, solver, ..ials(Convention::default(), 0.01) };
        assert_same_bits(|dataset| settings.training("ials", dataset, 9).unwrap());
    }
}

#[test]
fn a_training_goes_on_from_its_state() {
    let settings = Ials { dim: 10, solver: Solver::ConjugateGradient(ConjugateGradient { steps: 2 }), ..ials(Convention::default(), 0.01) };
    assert_resumes(&settings);
}

/// User 4 and item 6 have no train interactions.
#[test]
fn rows_without_train_interactions_are_zero() {
    let dataset = testing::dataset_of([5, 7], &WORKED);
    for solver in [Solver::default(), Solver::ConjugateGradient(ConjugateGradient { steps: 3 }), Solver::Subspace(Subspace { block: 1 })] {
        let mut training = Ials { solver, ..ials(Convention::default(), 0.05) }.training("ials", &dataset, 2).unwrap();
        training.epoch(1).unwrap();
        assert_eq!((training.tables.users.row(4), training.tables.items.row(6)), (&[0.0, 0.0][..], &[0.0, 0.0][..]));
    }
}

/// Two users have vectors of three numbers that span a plane at most.
#[test]
fn equations_without_a_solution_are_told() {
    let dataset = testing::dataset_of([2, 5], &[(0, 0), (0, 1), (1, 2), (1, 3), (1, 4)]);
    let mut training = Ials { dim: 3, ..ials(Convention::default(), 0.0) }.training("ials", &dataset, 2).unwrap();
    let message = training.epoch(1).unwrap_err().to_string();
    assert_eq!(message, "ials: an item's equations have no solution that floats can hold; raise regularization");
}

#[test]
fn impossible_values_are_named() {
    let refused = |change: fn(&mut Ials)| {
        let mut settings = ials(Convention::default(), 0.1);
        change(&mut settings);
        settings.check().unwrap_err()
    };
    assert_eq!(refused(|ials| ials.regularization = -1.0), "regularization is -1, expected a number of at least 0");
    assert_eq!(refused(|ials| ials.dim = 0), "dim is 0, expected 1 to 65536");
    assert_eq!(refused(|ials| ials.convention = rendle(0.0, 1.0)), "unobserved_weight is 0, expected a number above 0");
    assert_eq!(refused(|ials| ials.convention = rendle(1.0, -0.5)), "reg_scaling is -0.5, expected a number of at least 0");
    let message = refused(|ials| ials.convention = Convention::Implicit(Implicit { alpha: 1.0 }));
    assert!(message.starts_with("alpha is 1, expected a number above 1: with `convention: implicit`"), "{message}");
    assert_eq!(refused(|ials| ials.convention = Convention::Recstudio(Recstudio { alpha: 0.0 })), "alpha is 0, expected a number above 0");
    assert_eq!(refused(|ials| ials.solver = Solver::ConjugateGradient(ConjugateGradient { steps: 0 })), "steps is 0, expected at least 1");
    assert_eq!(refused(|ials| ials.solver = Solver::Subspace(Subspace { block: 3 })), "block is 3, expected 1 to dim, which is 2");
    assert_eq!(ials(Convention::default(), 0.0).check(), Ok(()));
}

#[test]
fn settings_are_read_as_they_are_written() {
    let read = |text: &str| serde_json::from_str::<Ials>(text);
    let least = read(r#"{"dim": 2, "regularization": 0.1}"#).unwrap();
    assert_eq!(least, ials(Convention::Rendle(Rendle { unobserved_weight: 0.1, reg_scaling: 1.0 }), 0.1));
    let all = read(
        r#"{"dim": 2, "regularization": 0.1, "convention": {"implicit": {}}, "solver": {"conjugate-gradient": {}}, "init": {"xavier-normal": {}}}"#,
    );
    assert_eq!(all.unwrap().solver, Solver::ConjugateGradient(ConjugateGradient { steps: 3 }));
    assert!(read(r#"{"dim": 2, "regularization": 0.1, "alpha": 3}"#).is_err());
    assert!(read(r#"{"dim": 2, "regularization": 0.1, "solver": {"cholesky": {"steps": 3}}}"#).is_err());
}

/// 4 bytes for 1,500 vectors of 8 numbers, in the tables and in the copy that is ranked; 4 for each train interaction by items, and 24 for each item
/// and one more while they are sorted.
#[test]
fn memory_is_that_of_tables_and_of_the_copy_that_is_ranked() {
    let sizes = Sizes { users: 1_000, items: 500, train: 10_000, batch: 0, positives: 0 };
    let settings = Ials { dim: 8, ..ials(Convention::default(), 0.1) };
    assert_eq!(settings.memory(sizes, 1_000_000), 48_000 + 40_000 + 24 * 501 + 48_000 + 1_000_000);
    assert!(settings.memory(sizes, 0) >= 48_000 + 40_000 + 24 * 501 + 2 * 48_000);
}

//! Sweeps against NumPy, solvers against each other, and what every model by least squares promises.

use super::super::als::{ConjugateGradient, Subspace, testing::*};
use super::*;

fn ials(convention: Convention, regularization: f64) -> Ials {
    Ials { dim: 2, regularization, convention, item_bias: false, solver: Solver::default(), init: als::small() }
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
            settings: ials(Convention::Implicit(Implicit { alpha: 3.0, reg_scaling: 0.0 }), 0.1),
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
            settings: ials(Convention::Recstudio(Recstudio { alpha: 3.0, reg_scaling: 0.0 }), 0.1),
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

/// The normal equations of each row in NumPy in f64 (`solve`), with penalties lambda (3 P + others)^0.5 and lambda (4 P + others): the weights of a row's pairs.
#[test]
fn penalties_grow_with_the_weights_of_a_row() {
    let implicit = ials(Convention::Implicit(Implicit { alpha: 3.0, reg_scaling: 0.5 }), 0.1);
    let users = [1.521815769, 0.250744154, 0.992389415, 1.616898482, 1.586108340, -0.725875005, 1.218522214, 1.039377774];
    let items = [
        0.473071546,
        0.192151810,
        0.392900956,
        0.324192515,
        0.050910558,
        0.469387497,
        0.508634135,
        0.105360515,
        0.372287215,
        -0.376613265,
        0.204714757,
        0.324276435,
    ];
    assert_sweep(|dataset| implicit.training("ials", dataset, 1).unwrap(), &users, &items, [2.220585792245, 1.151548832411]);
    let recstudio = ials(Convention::Recstudio(Recstudio { alpha: 3.0, reg_scaling: 1.0 }), 0.1);
    let users = [0.782726046, 0.053981107, 0.431445758, 0.689690935, 0.912031558, -0.451282051, 0.574358974, 0.517554241];
    let items = [
        0.841408138,
        0.448661352,
        0.768076269,
        0.596147100,
        0.257158818,
        0.803090852,
        0.898659989,
        0.265386440,
        0.604068129,
        -0.528717921,
        0.431261593,
        0.647341331,
    ];
    assert_sweep(|dataset| recstudio.training("ials", dataset, 1).unwrap(), &users, &items, [3.500904034414, 1.707073903294]);
}

/// The worked example's items with the biases 0.1, -0.2, 0.05, 0, 0.3 and -0.1.
const BIASED: [f32; 18] = [0.2, -0.1, 0.1, 0.1, 0.1, -0.2, -0.2, 0.2, 0.05, 0.3, 0.0, 0.0, 0.1, -0.2, 0.3, 0.0, 0.3, -0.1];

/// The normal equations of each row in NumPy in f64: of users for targets less the biases, of items and their biases together.
#[test]
fn sweeps_with_item_biases_are_those_of_numpy() {
    let cases = [
        (
            ials(rendle(0.1, 1.0), 0.05),
            [1.531371843, 0.396646872, 1.0, 0.826678067, 1.411996339, 1.0, 1.425990676, -0.478826729, 1.0, 1.102887853, 1.127622378, 1.0],
            [
                0.415546917,
                0.245604043,
                0.106168380,
                0.341366187,
                0.296286462,
                0.166480634,
                -0.136368888,
                0.488013294,
                0.251956736,
                0.228023485,
                0.058531416,
                0.518214961,
                0.241391848,
                -0.454349167,
                0.293816335,
                0.129150092,
                0.459406536,
                0.111233856,
            ],
            [0.781227752613, 0.334367925051],
        ),
        (
            ials(Convention::Implicit(Implicit { alpha: 3.0, reg_scaling: 0.5 }), 0.1),
            [1.535360425, 0.564201341, 1.0, 1.076651976, 1.838381641, 1.0, 1.532369434, -0.343619620, 1.0, 1.165093216, 1.300090846, 1.0],
            [
                0.413273060,
                0.185469815,
                0.031286904,
                0.422091790,
                0.322271675,
                -0.130052056,
                -0.087083121,
                0.454136379,
                0.072804663,
                0.198527808,
                0.018874367,
                0.457592845,
                0.238425074,
                -0.438271464,
                0.348178614,
                -0.058915673,
                0.293857596,
                0.272048510,
            ],
            [2.258239569712, 1.173810679745],
        ),
    ];
    let dataset = testing::dataset_of([4, 6], &WORKED);
    let values = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>();
    for (settings, users, items, objectives) in cases {
        let many = Solver::ConjugateGradient(ConjugateGradient { steps: 20 });
        for solver in [Solver::default(), many] {
            let settings = Ials { item_bias: true, solver, ..settings.clone() };
            let mut training = settings.training("ials", &dataset, 1).unwrap();
            assert_eq!((training.tables.users.dim, training.tables.items.row(2)[2], training.tables.users.row(3)[2]), (3, 0.0, 1.0));
            training.tables.items.values.copy_from_slice(&BIASED);
            let first = training.half_sweep(SolvedSide::Users).unwrap();
            assert_close(&values(&training.tables.users.values), &users, 1e-5);
            let second = training.half_sweep(SolvedSide::Items).unwrap();
            assert_close(&values(&training.tables.items.values), &items, 1e-5);
            assert_close(&[first, second], &objectives, 1e-5);
        }
    }
}

#[test]
fn item_biases_keep_what_is_promised_without() {
    for solver in [Solver::default(), Solver::ConjugateGradient(ConjugateGradient { steps: 2 }), Solver::Subspace(Subspace { block: 5 })] {
        let settings = Ials { dim: 12, solver, item_bias: true, ..ials(Convention::default(), 0.01) };
        assert_falls(|dataset| settings.training("ials", dataset, 5).unwrap());
        assert_same_bits(|dataset| settings.training("ials", dataset, 9).unwrap());
        assert_resumes(&settings);
    }
}

/// The confidence 5 is w0 = 1 / 4 with targets of 5 / 4 and a quarter of the penalty.
#[test]
fn conventions_are_one_objective() {
    let dataset = random([40, 30], 300);
    let users = |convention: Convention, regularization: f64| {
        let mut training = ials(convention, regularization).training("ials", &dataset, 3).unwrap();
        training.half_sweep(SolvedSide::Users).unwrap();
        products(&training.tables)
    };
    let implicit = users(Convention::Implicit(Implicit { alpha: 5.0, reg_scaling: 0.0 }), 2.0);
    assert_eq!(users(Convention::Recstudio(Recstudio { alpha: 4.0, reg_scaling: 0.0 }), 2.0), implicit);
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
        for convention in [Convention::default(), Convention::Implicit(Implicit { alpha: 10.0, reg_scaling: 0.0 })] {
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
        for side in [SolvedSide::Users, SolvedSide::Items, SolvedSide::Users] {
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
    let message = refused(|ials| ials.convention = Convention::Implicit(Implicit { alpha: 1.0, reg_scaling: 0.0 }));
    assert!(message.starts_with("alpha is 1, expected a number above 1: with `convention: implicit`"), "{message}");
    let scaled = |ials: &mut Ials| ials.convention = Convention::Implicit(Implicit { alpha: 2.0, reg_scaling: f64::NAN });
    assert_eq!(refused(scaled), "reg_scaling is NaN, expected a number of at least 0");
    assert_eq!(
        refused(|ials| ials.convention = Convention::Recstudio(Recstudio { alpha: 0.0, reg_scaling: 0.0 })),
        "alpha is 0, expected a number above 0"
    );
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
    let plain = r#"{"dim":2,"regularization":0.1,"convention":{"implicit":{"alpha":40.0}},"solver":{"cholesky":{}},"init":{"normal":{"std":0.01}}}"#;
    let implicit = read(r#"{"dim": 2, "regularization": 0.1, "convention": {"implicit": {}}, "item_bias": false}"#).unwrap();
    assert_eq!(serde_json::to_string(&implicit).unwrap(), plain, "a trial is named as before there were biases");
    assert!(read(r#"{"dim": 2, "regularization": 0.1, "solver": {"cholesky": {"steps": 3}}}"#).is_err());
}

/// 4 bytes for 1,500 vectors of 8 numbers, in the tables and in the file of the state; 4 for each train interaction by items, and 24 for each item
/// and one more while they are sorted. No copy is ranked.
#[test]
fn memory_is_that_of_tables_and_of_what_ranks_or_reads_them() {
    let sizes = Sizes { users: 1_000, items: 500, train: 10_000, batch: 0, positives: 0 };
    let settings = Ials { dim: 8, ..ials(Convention::default(), 0.1) };
    assert_eq!(settings.memory(sizes, 1_000_000), 48_000 + 40_000 + 24 * 501 + 1_000_000);
    assert!(settings.memory(sizes, 0) >= 48_000 + 40_000 + 24 * 501 + 48_000);
}

#[test]
fn what_is_lent_is_the_model_and_comes_back() {
    let dataset = random([40, 30], 500);
    let started = || ials(Convention::default(), 0.1).training("ials", &dataset, 3).unwrap();
    let (mut lent, mut other) = (started(), started());
    for epoch in 1..=3 {
        assert_eq!(lent.epoch(epoch).unwrap(), other.epoch(epoch).unwrap());
        let scorer = lent.lend_scorer().unwrap();
        assert_eq!(scorer, other.scorer().unwrap());
        assert!(lent.tables.users.values.is_empty() && lent.tables.items.values.is_empty(), "the vectors are there twice");
        lent.take_back(scorer);
    }
    assert_eq!(lent.tables, other.tables);
}

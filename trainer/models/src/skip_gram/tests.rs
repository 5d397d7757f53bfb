//! What all models that learn by skip-gram promise: losses and moves by hand, derivatives by differences, the same bits anywhere.

use super::super::Backbone;
use super::*;
use proptest::prelude::*;
use testing::assert_drawn_from;
use testing::dataset_of;

/// `sin(1 + 0.7 n)` for number n.
fn table(rows: usize, dim: usize) -> Matrix {
    Matrix { rows, dim, values: (0..rows * dim).map(|number| (1.0 + 0.7 * number as f32).sin()).collect() }
}

/// Inputs of the rows 1, 0 and 0; of the second group one negative is the positive.
fn piece() -> Piece {
    let mut piece = Piece::new(vec![0, 1, 0], 2);
    for (places, outputs) in [(vec![1, 2], [3, 4, 5]), (vec![0], [4, 4, 3])] {
        let mut negatives = outputs[1..].iter().copied();
        piece.add(places.into_iter(), outputs[0], || negatives.next().unwrap());
    }
    piece
}

/// By NumPy, in f64: the pairs (1, 3) and (0, 3), by half of whose derivatives the rows move, then (0, 4).
#[test]
fn a_block_moves_its_rows_as_by_hand() {
    let mut table = table(6, 2);
    let loss = Learner::default().step(&mut table, &Block::new([piece()].into_iter()), 0.5);
    let expected = [
        [0.029_900_1, 0.367_047_5],
        [-0.028_471_9, -0.539_437_6],
        [-0.611_857_9, -0.977_530_1],
        [-0.344_706_3, -0.052_559_9],
        [-0.196_842_5, 0.527_453_7],
        [0.420_651_2, 0.244_461_5],
    ];
    assert!((loss - 8.782_065_307).abs() < 1e-6, "{loss}");
    for (found, expected) in table.values.iter().zip(expected.as_flattened()) {
        assert!((found - expected).abs() < 1e-6, "{:?}", table.values);
    }
}

/// The loss of groups by its formula, in f64.
fn written<'p>(inputs: &[u32], groups: impl Iterator<Item = (&'p [u32], &'p [u32])>, values: &[f64], dim: usize) -> f64 {
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    let dot = |one: u32, other: u32| {
        let row = |row: u32| &values[row as usize * dim..][..dim];
        row(one).iter().zip(row(other)).map(|(one, other)| one * other).sum::<f64>()
    };
    let mut loss = 0.0;
    for (places, outputs) in groups {
        for &place in places {
            let input = inputs[place as usize];
            loss += softplus(-dot(input, outputs[0]));
            let negatives = outputs[1..].iter().filter(|&&negative| negative != outputs[0]);
            loss += negatives.map(|&negative| softplus(dot(input, negative))).sum::<f64>();
        }
    }
    loss
}

/// The loss of a piece and its moves, group after group, by central differences.
fn moved(piece: &Piece, start: &[f64], dim: usize, rate: f64) -> (f64, Vec<f64>) {
    let (mut values, mut total) = (start.to_vec(), 0.0);
    for group in piece.groups() {
        let at = |values: &[f64]| written(&piece.inputs, [group].into_iter(), values, dim);
        total += at(&values);
        let derivative = |place: usize| {
            let moved = |by: f64| {
                let mut values = values.clone();
                values[place] += by;
                at(&values)
            };
            (moved(1e-5) - moved(-1e-5)) / 2e-5
        };
        let derivatives: Vec<f64> = (0..values.len()).map(derivative).collect();
        values.iter_mut().zip(derivatives).for_each(|(value, derivative)| *value -= rate * derivative);
    }
    (total, values.iter().zip(start).map(|(value, start)| value - start).collect())
}

fn pieces(rows: u32) -> impl Strategy<Value = Vec<Piece>> {
    let group = (prop::collection::vec(0u32..4, 1..4), prop::collection::vec(0..rows, 3));
    let piece = (prop::collection::vec(0..rows, 4), prop::collection::vec(group, 1..4)).prop_map(|(inputs, groups)| {
        let mut piece = Piece::new(inputs, 2);
        for (places, outputs) in groups {
            let mut negatives = outputs[1..].iter().copied();
            piece.add(places.into_iter(), outputs[0], || negatives.next().unwrap());
        }
        piece
    });
    prop::collection::vec(piece, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Inputs and outputs may be rows of one table, as in LINE's first order: even the same row.
    #[test]
    fn moves_are_those_of_differences(pieces in pieces(7), dim in prop_oneof![1usize..6, Just(16)]) {
        let mut table = table(7, dim);
        let start: Vec<f64> = table.values.iter().map(|&value| f64::from(value)).collect();
        let loss = Learner::default().step(&mut table, &Block::new(pieces.iter().cloned()), 0.1);
        let (mut expected, mut total) = (start.clone(), 0.0);
        for piece in &pieces {
            let (loss, moves) = moved(piece, &start, dim, 0.1);
            total += loss;
            expected.iter_mut().zip(moves).for_each(|(value, by)| *value += by);
        }
        prop_assert!((loss - total).abs() < 1e-5 * total, "{} {}", loss, total);
        for (found, expected) in table.values.iter().zip(expected) {
            prop_assert!((f64::from(*found) - expected).abs() < 2e-5, "{} {}", found, expected);
        }
    }
}

/// Nodes 3 to 6, of the degrees 4, 0, 1 and 9.
#[test]
fn negatives_follow_their_distribution() {
    for (exponent, weights) in [(0.5, [2.0, 0.0, 1.0, 3.0]), (0.0, [1.0, 0.0, 1.0, 1.0])] {
        let noise = NoiseLaw::new(3, [4, 0, 1, 9].into_iter(), exponent);
        let (mut stream, mut found) = (Stream::new(5, Purpose::Negatives, 1, 0, 0), [0.0; 4]);
        (0..60_000).for_each(|_| found[noise.draw(&mut stream) as usize - 3] += 1.0);
        assert_drawn_from(&found, &weights.map(|weight| weight / weights.iter().sum::<f64>()), 1.0);
    }
}

#[test]
fn the_rate_falls_to_its_floor() {
    let decay = Decay { learning_rate: 0.5, epochs: 4 };
    let rates = [(1, 0.0), (1, 0.5), (2, 0.0), (4, 0.5), (4, 0.99999), (5, 0.0), (9, 0.7)].map(|(epoch, share)| decay.rate(epoch, share));
    assert_eq!(rates, [0.5, 0.4375, 0.375, 0.0625, 0.00005, 0.00005, 0.00005]);
}

const MODELS: [&str; 5] = [
    r#"{"deep-walk": {"dim": 16, "walk_length": 10, "window": 3, "learning_rate": 0.1, "walks_per_node": 20}}"#,
    r#"{"node2vec": {"dim": 16, "walk_length": 10, "window": 3, "p": 0.25, "q": 2.0, "learning_rate": 0.1, "walks_per_node": 20}}"#,
    r#"{"line": {"dim": 16, "order": "first", "learning_rate": 0.1}}"#,
    r#"{"line": {"dim": 16, "order": "second", "learning_rate": 0.1}}"#,
    r#"{"line": {"dim": 16, "learning_rate": 0.1}}"#,
];

fn model(text: &str) -> Backbone {
    serde_json::from_str(text).unwrap()
}

fn start<'d>(model: &Backbone, dataset: &'d Dataset) -> Box<dyn Epochs + 'd> {
    model.iterative().unwrap().start(dataset, 3).unwrap()
}

fn state(training: &mut dyn Epochs) -> Vec<(String, Vec<f32>)> {
    training.state().into_iter().map(|(name, values)| (name, values.to_vec())).collect()
}

/// Two halves of 60 users and 45 items, of whose pairs every other one is an edge, without an edge between them; the last user and the last two items have no edge at all.
fn halves() -> Dataset {
    let pairs: Vec<(u32, u32)> = (0..4_000u32)
        .map(|at| {
            let (half, mixed) = (at % 2, at.wrapping_mul(2_654_435_761) >> 8);
            (60 * half + mixed % 60, 45 * half + mixed / 60 % 45)
        })
        .collect();
    dataset_of([121, 92], &pairs)
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let dataset = halves();
    for text in MODELS {
        let trained = |threads: usize| {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            threads.install(|| {
                let mut training = start(&model(text), &dataset);
                let losses = [1, 2].map(|epoch| training.epoch(epoch).unwrap().to_bits());
                (losses, state(&mut *training))
            })
        };
        assert!(trained(1) == trained(3), "{text}");
    }
}

#[test]
fn a_state_goes_on_as_the_training_that_it_is_of() {
    let dataset = halves();
    for text in MODELS {
        let (mut whole, mut resumed) = (start(&model(text), &dataset), start(&model(text), &dataset));
        whole.epoch(1).unwrap();
        let kept = state(&mut *whole);
        for ((_, to), (_, from)) in resumed.state().into_iter().zip(&kept) {
            to.copy_from_slice(from);
        }
        assert_eq!(whole.epoch(2).unwrap(), resumed.epoch(2).unwrap());
        assert!(state(&mut *whole) == state(&mut *resumed) && state(&mut *whole) != kept, "{text}");
        let names: Vec<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
        let expected: &[&str] = if text.contains("first") { &["inputs"] } else { &["inputs", "contexts"] };
        assert_eq!(names, expected);
    }
}

/// Who has no edge keeps the vector that it began with, or a context of zeros.
#[test]
fn items_of_the_own_half_have_higher_scores() {
    let dataset = halves();
    for text in MODELS {
        let mut training = start(&model(text), &dataset);
        let first = state(&mut *training);
        let losses: Vec<f64> = (1..=8).map(|epoch| training.epoch(epoch).unwrap()).collect();
        assert!(losses[7] < 0.95 * losses[0], "{text}: {losses:?}");
        let last = state(&mut *training);
        for ((_, first), (_, last)) in first.iter().zip(&last) {
            assert!([120, 121 + 90, 121 + 91].into_iter().all(|node| first[node * 16..][..16] == last[node * 16..][..16]), "{text}");
        }
        let Scorer::Factors(Factors { users, items, similarity: Similarity::Dot }) = training.scorer().unwrap() else { panic!("{text}") };
        assert_eq!([users.rows, users.dim, items.rows, items.dim], [121, 16, 92, 16]);
        for user in 0..120 {
            let score = |item: usize| users.row(user).iter().zip(items.row(item)).map(|(one, other)| one * other).sum::<f32>();
            let [mut one, mut other] = [0..45, 45..90].map(|half| half.map(score).sum::<f32>());
            if user >= 60 {
                std::mem::swap(&mut one, &mut other);
            }
            assert!(one > other, "{text}, user {user}: {one} {other}");
        }
    }
}

#[test]
fn trainings_that_diverge_say_so() {
    let dataset = halves();
    for text in MODELS {
        let model = model(&text.replace(r#""learning_rate": 0."#, r#""learning_rate": 1e3"#));
        let mut training = start(&model, &dataset);
        let error = (1..4).find_map(|epoch| training.epoch(epoch).err()).unwrap();
        assert!(matches!(error, Error::NotFinite { .. }), "{text}: {error}");
    }
}

#[test]
fn datasets_without_train_interactions_are_refused() {
    let dataset = dataset_of([3, 4], &[]);
    for text in MODELS {
        let error = model(text).iterative().unwrap().start(&dataset, 3).err().unwrap().to_string();
        assert!(error.contains(": there are no train interactions to "), "{error}");
    }
}

#[test]
fn impossible_values_are_named() {
    let refused = |text: &str, message: &str| assert!(model(text).check().unwrap_err().starts_with(message), "{text}");
    for kind in ["deep-walk", "node2vec"] {
        let of = |keys: &str| format!(r#"{{"{kind}": {{{keys}}}}}"#);
        assert_eq!(model(&of(r#""dim": 64"#)).check(), Ok(()));
        refused(&of(r#""dim": 0"#), "dim is 0, expected 1 to");
        refused(&of(r#""dim": 4, "walk_length": 1"#), "walk_length is 1, expected 2 to 1000 nodes");
        refused(&of(r#""dim": 4, "walk_length": 5"#), "window is 10, expected 1 to 4, as a walk has 5 nodes");
        refused(&of(r#""dim": 4, "window": 0"#), "window is 0, expected 1 to 79");
        refused(&of(r#""dim": 4, "walks_per_node": 0"#), "walks_per_node is 0");
        refused(&of(r#""dim": 4, "negatives": 0"#), "negatives is 0, expected 1 to 1024");
        refused(&of(r#""dim": 4, "exponent": -1"#), "exponent is -1");
        refused(&of(r#""dim": 4, "learning_rate": 0"#), "learning_rate is 0, expected a number above 0");
    }
    refused(r#"{"node2vec": {"dim": 4, "p": 0}}"#, "p is 0, expected a number from 0.000001 to 1000000");
    refused(r#"{"node2vec": {"dim": 4, "q": -2}}"#, "q is -2, expected");
    assert_eq!(model(r#"{"line": {"dim": 64}}"#).check(), Ok(()));
    refused(r#"{"line": {"dim": 4, "samples_per_edge": 0}}"#, "samples_per_edge is 0, expected at least 1");
    refused(r#"{"line": {"dim": 4, "negatives": 2000}}"#, "negatives is 2000, expected 1 to 1024");
    assert!(serde_json::from_str::<Backbone>(r#"{"line": {"dim": 4, "order": "third"}}"#).is_err());
    assert!(serde_json::from_str::<Backbone>(r#"{"deep-walk": {"dim": 4, "p": 1}}"#).is_err());
}

/// The table, what walks need, and the derivatives of a block: a walk of 80 nodes has 560 rows, and a block 29 of them.
#[test]
fn memory_is_what_is_kept() {
    let sizes = Sizes { users: 30_000, items: 40_000, train: 800_000, batch: 0, positives: 0 };
    let of = |text: &str, ranking: u64| model(text).iterative().unwrap().memory(sizes, ranking);
    let table = 70_000 * 64 * 4;
    let kept = 2 * table + 800_000 * 4 + 40_000 * 8 + 70_000 * 12 + 29 * 560 * 64 * 4;
    assert_eq!(of(r#"{"deep-walk": {"dim": 64}}"#, 1 << 30), kept + table + (1 << 30));
    assert_eq!(of(r#"{"deep-walk": {"dim": 1}}"#, 1) % 1_000_000, of(r#"{"node2vec": {"dim": 1}}"#, 1) % 1_000_000);
    let [first, both] = ["first", "both"].map(|order| of(&format!(r#"{{"line": {{"dim": 64, "order": "{order}"}}}}"#), 0));
    assert!((both - first).abs_diff(table) < 1_000_000, "{first} {both}");
}

//! Two made-up sweeps side by side: what is compared, over which splits, and what is said of the rest.

use super::*;
use crate::{file::SweepFile, plan, report::Style};
use dataset::{Location, Split};
use evaluator::TrialValues;

const BPR: &str = "mf-8 / bpr / uniform-5";
const SOFTMAX: &str = "mf-8 / softmax / uniform-5";
const POPULARITY: &str = "popularity";

/// Three methods on each dataset.
const GRID: &str = "grid:
  - backbones: [{kind: mf, dim: 8}]
    losses: [{kind: bpr}, {kind: softmax, temperature: 0.2}]
    samplers: [{kind: uniform, negatives: 5}]
    optimizer: {kind: adam, learning_rate: 0.01}
  - backbones: [{kind: popularity}]
training: {epochs: 2, batch_size: 64, evaluate_every: 1, select_by: ndcg@5}
evaluation: {metrics: [ndcg], cutoffs: [5]}
";

/// A sweep with these results, on datasets that are split by these seeds.
fn sweep(datasets: &[(&str, &[u64])], values: Vec<TrialValues>) -> StoredSweep {
    let (mut listed, mut fingerprints) = (String::new(), Vec::new());
    for (name, seeds) in datasets {
        let seed = if let [seed] = seeds { seed.to_string() } else { format!("{seeds:?}") };
        let split = format!("{{kind: random, test: 0.2, validation: 0.1, seed: {seed}}}");
        listed += &format!("  - {{name: {name}, source: {{format: synthetic}}, split: {split}}}\n");
        fingerprints.extend(seeds.iter().map(|seed| format!("{name}-{seed}")));
    }
    let file = SweepFile::parse(&format!("name: s\ndatasets:\n{listed}{GRID}"), "s.yaml").unwrap();
    let plan = plan::check(&file).unwrap().plan(&fingerprints).unwrap();
    StoredSweep { folder: Location::parse("memory:///diff").unwrap(), plan, trials: Vec::new(), values }
}

/// What a training reached on three users: this mean, and 0.01 around it, in an order of the training's own. The same training of a method on a split is
/// the same trial in every sweep.
fn result(dataset: &str, method: &str, split_seed: Option<u64>, training: u64, mean: f64) -> TrialValues {
    let around = |user: u64| mean + [-0.01, 0.0, 0.01][(user + training) as usize % 3];
    TrialValues {
        trial: format!("{dataset} {method} {split_seed:?} {training}"),
        method: method.to_owned(),
        dataset: dataset.to_owned(),
        seed: (method != POPULARITY).then_some(training),
        split_seed,
        split: Split::Test,
        users: vec![0, 1, 2],
        user_ids: ["ann", "bob", "eve"].iter().map(|&id| id.to_owned()).collect(),
        values: vec![("ndcg@5".parse().unwrap(), [0, 1, 2].map(around).to_vec())],
        tied_users: 0,
        listed: None,
        unknown_users: 0,
        sampled_candidates: None,
        groups: Vec::new(),
    }
}

/// A training of a method on each of these splits of the dataset `d`, with these means.
fn on_splits(method: &str, training: u64, means: &[(u64, f64)]) -> Vec<TrialValues> {
    means.iter().map(|&(split, mean)| result("d", method, Some(split), training, mean)).collect()
}

/// Trainings of a method on the one split of the dataset `d`, with these means.
fn trainings(method: &str, means: &[(u64, f64)]) -> Vec<TrialValues> {
    means.iter().map(|&(training, mean)| result("d", method, None, training, mean)).collect()
}

fn row<'a>(difference: &'a Difference, key: &str) -> &'a MethodDifference {
    difference.datasets[0].methods.iter().find(|row| row.key == key).unwrap()
}

#[track_caller]
fn assert_means(row: &MethodDifference, expected: [f64; 2]) {
    assert!(row.means.iter().zip(expected).all(|(mean, expected)| (mean - expected).abs() < 1e-12), "{:?} {expected:?}", row.means);
}

fn text(difference: &Difference) -> String {
    difference.export(DiffFormat::Text, Style::default()).unwrap()
}

#[test]
fn what_a_sweep_has_no_result_of_is_named() {
    let datasets: [(&str, &[u64]); 2] = [("d", &[1]), ("e", &[2])];
    let on_d = [trainings(BPR, &[(1, 0.3)]), trainings(SOFTMAX, &[(1, 0.4)])].concat();
    let first = sweep(&datasets, [on_d, vec![result("e", BPR, None, 1, 0.3)]].concat());
    let second = sweep(&datasets, [trainings(BPR, &[(2, 0.2)]), trainings(POPULARITY, &[(0, 0.1)])].concat());
    let difference = Difference::new(&first, &second, None).unwrap();
    assert_eq!(difference.datasets.iter().map(|dataset| dataset.name.as_str()).collect::<Vec<_>>(), ["d"]);
    assert_eq!(difference.datasets[0].methods.iter().map(|row| row.key.as_str()).collect::<Vec<_>>(), [BPR]);
    for format in [DiffFormat::Text, DiffFormat::Markdown, DiffFormat::Latex] {
        let shown = difference.export(format, Style::default()).unwrap();
        assert!(shown.contains("no result in A: popularity on d, softmax on mf-8 on e, popularity on e\n"), "{shown}");
        assert!(shown.contains("no result in B: softmax on mf-8 on d, dataset e\n"), "{shown}");
    }
}

/// Popularity is ranked on one split and in one sweep, so that it says nothing of the splits of what is compared.
#[test]
fn methods_that_are_not_compared_take_no_split_away() {
    let datasets: [(&str, &[u64]); 1] = [("d", &[1, 2, 3])];
    let popularity = on_splits(POPULARITY, 0, &[(1, 0.2)]);
    let first = sweep(&datasets, [on_splits(BPR, 1, &[(1, 0.1), (2, 0.2), (3, 0.3)]), popularity].concat());
    let second = sweep(&datasets, on_splits(BPR, 2, &[(1, 0.2), (2, 0.4), (3, 0.9)]));
    let difference = Difference::new(&first, &second, None).unwrap();
    assert_means(row(&difference, BPR), [0.2, 0.5]);
    let shown = text(&difference);
    let heading = "d by ndcg@5: the same data and splits; 3 splits counted (A 3, B 3); 3 users ranked by both (A 3, B 3)\n";
    assert!(shown.contains(heading), "{shown}");
    assert!(shown.contains("tested over users and splits, paired by user"), "{shown}");
}

#[test]
fn a_split_that_one_sweep_has_alone_is_compared_with_that_of_its_seed() {
    let first = sweep(&[("d", &[2, 1])], on_splits(BPR, 1, &[(2, 0.4), (1, 0.1)]));
    let second = sweep(&[("d", &[1])], trainings(BPR, &[(2, 0.3)]));
    assert_means(row(&Difference::new(&first, &second, None).unwrap(), BPR), [0.1, 0.3]);
    assert_means(row(&Difference::new(&second, &first, None).unwrap(), BPR), [0.3, 0.1]);
}

#[test]
fn the_order_of_splits_is_no_difference() {
    let on = |training: u64| on_splits(BPR, training, &[(1, 0.1), (2, 0.2)]);
    let (first, second) = (sweep(&[("d", &[1, 2])], on(1)), sweep(&[("d", &[2, 1])], on(2)));
    let shown = text(&Difference::new(&first, &second, None).unwrap());
    assert!(shown.contains("d by ndcg@5: the same data and splits; 2 splits counted"), "{shown}");
}

#[test]
fn the_heading_says_how_many_splits_count() {
    let datasets: [(&str, &[u64]); 1] = [("d", &[1, 2, 3])];
    let bpr = |training: u64| on_splits(BPR, training, &[(1, 0.1), (2, 0.2), (3, 0.6)]);
    let first = sweep(&datasets, [bpr(1), on_splits(SOFTMAX, 1, &[(1, 0.2), (2, 0.4)])].concat());
    let second = sweep(&datasets, [bpr(2), on_splits(SOFTMAX, 2, &[(1, 0.3), (2, 0.1), (3, 0.8)])].concat());
    let difference = Difference::new(&first, &second, None).unwrap();
    assert_means(row(&difference, BPR), [0.15, 0.15]);
    assert_means(row(&difference, SOFTMAX), [0.3, 0.2]);
    let shown = text(&difference);
    assert!(shown.contains("the same data and splits; 2 splits counted (A 3, B 3); 3 users"), "{shown}");
}

/// One sweep ranked it on the first split alone and the other on the second.
#[test]
fn a_method_that_no_split_has_in_both_is_named_and_takes_no_split_away() {
    let datasets: [(&str, &[u64]); 1] = [("d", &[1, 2])];
    let bpr = |training: u64| on_splits(BPR, training, &[(1, 0.1), (2, 0.2)]);
    let first = sweep(&datasets, [bpr(1), on_splits(SOFTMAX, 1, &[(1, 0.2)])].concat());
    let second = sweep(&datasets, [bpr(2), on_splits(SOFTMAX, 2, &[(2, 0.3)])].concat());
    let difference = Difference::new(&first, &second, None).unwrap();
    assert_means(row(&difference, BPR), [0.15, 0.15]);
    assert_eq!(difference.datasets[0].uncounted, ["softmax on mf-8"]);
    let shown = text(&difference);
    assert!(shown.contains("2 splits counted (A 2, B 2)") && shown.contains("\nnot in both on these splits: softmax on mf-8\n"), "{shown}");
}

#[test]
fn splits_are_said_to_be_counted_where_several_are() {
    let of_both = |split: Option<u64>, training: u64| [result("d", BPR, split, training, 0.1), result("e", BPR, Some(1), training, 0.1)];
    let compared = |datasets: &[(&str, &[u64])], split: Option<u64>| {
        let on_second = |training: u64| vec![result("e", BPR, Some(2), training, 0.2)];
        let [first, second] = [1, 2].map(|training| sweep(datasets, [of_both(split, training).to_vec(), on_second(training)].concat()));
        text(&Difference::new(&first, &second, None).unwrap())
    };
    let mixed = compared(&[("d", &[7]), ("e", &[1, 2])], None);
    assert!(mixed.contains("over users and seeds, and over users and splits on e, paired by user"), "{mixed}");
    assert!(mixed.contains("d by ndcg@5: the same data and split; 3 users ranked by both"), "{mixed}");
    // Of its two splits one has results.
    let of_one_split = compared(&[("d", &[7, 8])], Some(7));
    assert!(of_one_split.contains("the same data and splits; 1 split counted (A 2, B 2); 3 users"), "{of_one_split}");
    assert!(of_one_split.contains("tested over users and seeds, paired by user"), "{of_one_split}");
}

/// The splits 1 and 3 are of one sweep alone, and on split 2 both have the same trial.
#[test]
fn trials_are_the_same_where_those_on_the_splits_that_count_are() {
    let means = [(1, 0.1), (2, 0.2), (3, 0.6)];
    let first = sweep(&[("d", &[1, 2])], on_splits(BPR, 1, &means[..2]));
    let second = sweep(&[("d", &[2, 3])], on_splits(BPR, 1, &means[1..]));
    let difference = Difference::new(&first, &second, None).unwrap();
    let bpr = row(&difference, BPR);
    assert_means(bpr, [0.2, 0.2]);
    assert!(bpr.tested.is_none() && bpr.verdict() == "same-trials");
    assert!(text(&difference).contains("data or splits differ; 1 split counted (A 2, B 2); 3 users"));
}

/// Means by hand: of 0.1 and 0.3 it is 0.2, with 0.5 it is 0.3. The other method is the one row that is tested, so that Holm adjusts nothing.
#[test]
fn more_trainings_of_a_method_are_no_second_sample() {
    let datasets: [(&str, &[u64]); 1] = [("d", &[1])];
    let bpr = [(1, 0.1), (2, 0.3), (3, 0.5)];
    let first = sweep(&datasets, [trainings(BPR, &bpr[..2]), trainings(SOFTMAX, &[(1, 0.2), (2, 0.24)])].concat());
    let second = sweep(&datasets, [trainings(BPR, &bpr), trainings(SOFTMAX, &[(11, 0.3), (12, 0.32)])].concat());
    for (sides, means, said, verdict) in [
        ([&first, &second], [0.2, 0.3], "B has 1 more training", "more-trials"),
        ([&second, &first], [0.3, 0.2], "A has 1 more training", "fewer-trials"),
    ] {
        let difference = Difference::new(sides[0], sides[1], None).unwrap();
        let (bpr, softmax) = (row(&difference, BPR), row(&difference, SOFTMAX));
        assert_means(bpr, means);
        assert!(bpr.tested.is_none() && bpr.said() == said && bpr.verdict() == verdict);
        let tested = softmax.tested.unwrap();
        let expected = if verdict == "more-trials" { 0.09 } else { -0.09 };
        assert!((tested.difference - expected).abs() < 1e-12, "{tested:?}");
        assert!((tested.judged.p_adjusted - tested.judged.p_value).abs() < 1e-12, "{tested:?}");
        let shown = text(&difference);
        assert!(shown.lines().any(|line| line.contains("bpr on mf-8") && line.contains(said)), "{shown}");
        let csv = difference.export(DiffFormat::Csv, Style::default()).unwrap();
        assert!(csv.lines().any(|line| line.contains(BPR) && line.ends_with(&format!(",,,,,,{verdict}"))), "{csv}");
    }
}

/// However many of the second sweep's three trainings of one method the first sweep has, three trainings moderate the variance of the other.
#[test]
fn a_training_that_both_have_counts_once() {
    let datasets: [(&str, &[u64]); 1] = [("d", &[1])];
    let bpr = [(1, 0.1), (2, 0.3), (3, 0.5)];
    let second = sweep(&datasets, [trainings(BPR, &bpr), trainings(SOFTMAX, &[(11, 0.3), (12, 0.32)])].concat());
    let p_value = |shared: usize| {
        let first = sweep(&datasets, [trainings(BPR, &bpr[..shared]), trainings(SOFTMAX, &[(1, 0.2), (2, 0.24)])].concat());
        let difference = Difference::new(&first, &second, None).unwrap();
        row(&difference, SOFTMAX).tested.unwrap().judged.p_value
    };
    let expected = p_value(3);
    assert!(expected > 0.0 && expected < 1.0, "{expected}");
    for shared in [1, 2] {
        assert!((p_value(shared) / expected - 1.0).abs() < 1e-9, "{shared}: {} {expected}", p_value(shared));
    }
}

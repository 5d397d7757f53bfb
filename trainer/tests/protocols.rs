//! What the protocols of papers ask of a training: rows, penalties and rates that are not the usual ones.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)] // this file uses parts of it
mod support;

use dataset::{Dataset, Interactions};
use evaluator::{Factors, Matrix, Scorer};
use support::{RESOURCES, ended, folder, result, tastes, train_with_stops};
use trainer::{Ranks, Resources, Trial, train};

const MF: &str = r#"{"mf": {"dim": 16}}"#;
const LIGHT_GCN: &str = r#"{"light-gcn": {"dim": 16, "layers": 2}}"#;
const BPR: &str = r#"{"bpr": {}}"#;
const UNIFORM: &str = r#"{"uniform": {"negatives": 20}}"#;
const ADAM: &str = r#"{"adam": {"learning_rate": 0.05}}"#;
const L2: &str = r#"{"adam": {"learning_rate": 0.05, "batch_l2": 0.01}}"#;
const DECAY: &str = r#"{"adam": {"learning_rate": 0.05, "learning_rate_decay": {"every": 3, "factor": 0.5}}}"#;

fn unchecked(backbone: &str, loss: &str, sampler: &str, optimizer: &str, training: &str) -> Trial {
    let text = format!(
        r#"{{"version": 1, "dataset": "tastes", "backbone": {backbone}, "select_by": "ndcg@10",
            "learning": {{"loss": {loss}, "sampler": {sampler}, "optimizer": {optimizer}, "seed": 3, "training": {training}}}}}"#
    );
    serde_json::from_str(&text).unwrap()
}

fn trial(backbone: &str, loss: &str, sampler: &str, optimizer: &str, training: &str) -> Trial {
    let trial = unchecked(backbone, loss, sampler, optimizer, training);
    trial.check().unwrap();
    trial
}

/// 12 epochs, of 12 steps where rows are pairs.
fn training(more: &str) -> String {
    format!(r#"{{"epochs": 12, "batch_size": 64, "evaluate_every": 2, "patience": 20{more}}}"#)
}

fn at_k(estimator: &str) -> String {
    format!(
        r#"{{"softmax-at-k": {{"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.0, "quantile_every": 3, "quantile_estimator": {estimator}}}}}"#
    )
}

/// Two users with an item each, among users and items without any: drawn by popularity, the negatives of each are the other's item.
fn two_of_many(items: usize) -> Dataset {
    let users = 10;
    Dataset {
        user_ids: (0..users).map(|user| user.to_string()).collect(),
        item_ids: (0..items).map(|item| item.to_string()).collect(),
        train: Interactions::from_pairs(users, [(0, 0), (1, 1)].into_iter()),
        validation: Interactions::empty(users),
        test: Interactions::empty(users),
        fold_in: None,
        order: None,
        ..tastes()
    }
}

fn tables(name: &str, trial: &Trial, dataset: &Dataset, resources: &Resources) -> [Matrix; 2] {
    let folder = folder(name);
    train(trial, dataset, &folder, resources, &mut ()).unwrap();
    match ended(&folder).unwrap().scorer(&folder).unwrap() {
        Scorer::Factors(Factors { users, items, .. }) => [users, items],
        _ => panic!("no tables"),
    }
}

/// LightGCN's `decay / 2 (|e_u|^2 + |e_i|^2 + |e_j|^2) / B`, with three negatives of each of two rows: users stand once, and items once as positive and
/// three times as negative. With an epsilon far above all gradients the first step of Adam is one of plain descent, here by half of the gradient.
#[test]
fn the_batchs_vectors_are_drawn_to_zero_by_how_often_they_stand_there() {
    let epsilon = 1e5;
    let optimizer = |rate: f64, more: &str| format!(r#"{{"adam": {{"learning_rate": {rate}, "epsilon": {epsilon}{more}}}}}"#);
    let one_step = r#"{"epochs": 1, "batch_size": 2, "evaluate_every": 1}"#;
    // Few rows of the items are touched, or most; two ranks have gradients of whole tables.
    for (way, items, ranks) in [("few", 60, 1), ("many", 10, 1), ("whole", 10, 2)] {
        let (data, resources) = (two_of_many(items), Resources { ranks: Ranks::threads(ranks), ..RESOURCES });
        let after = |rate: f64, more: &str| {
            let trial = trial(MF, BPR, r#"{"popularity": {"negatives": 3}}"#, &optimizer(rate, more), one_step);
            tables(&format!("l2 {way} {}", trial.id()), &trial, &data, &resources)
        };
        let (start, without, with) = (after(1e-30, ""), after(0.5 * epsilon, ""), after(0.5 * epsilon, r#", "batch_l2": 0.25"#));
        for (side, times) in [(0, 1.0), (1, 4.0)] {
            let rows = start[side].values.iter().zip(&without[side].values).zip(&with[side].values).enumerate();
            for (at, ((start, without), with)) in rows {
                let stands = if at < 2 * 16 { times } else { 0.0 };
                let expected = without - 0.5 * 0.25 / 2.0 * stands * start;
                assert!((with - expected).abs() < 1e-5, "{way}, side {side}, {at}: {start} {without} {with}");
            }
        }
    }
}

/// A loss that is a mean by itself: three negatives weigh three times as much where they are summed.
#[test]
fn the_sum_over_what_is_kept_is_one_of_a_mean_too() {
    let (epsilon, one_step) = (1e5, r#"{"epochs": 1, "batch_size": 2, "evaluate_every": 1}"#);
    let data = two_of_many(10);
    let after = |rate: f64, sum: bool| {
        let optimizer = format!(r#"{{"adam": {{"learning_rate": {rate}, "epsilon": {epsilon}}}}}"#);
        let sampler = format!(r#"{{"dns-mn": {{"candidates": 8, "negatives": 3, "sum": {sum}}}}}"#);
        let ccl = r#"{"ccl": {"margin": -2.0, "negative_weight": 1.0, "similarity": "dot"}}"#;
        let trial = trial(MF, ccl, &sampler, &optimizer, one_step);
        tables(&format!("sum {}", trial.id()), &trial, &data, &RESOURCES)
    };
    let (start, mean, sum) = (after(1e-30, false), after(0.5 * epsilon, false), after(0.5 * epsilon, true));
    // Items that are no positive move by the negatives' gradient alone.
    let rows = start[1].values.iter().zip(&mean[1].values).zip(&sum[1].values).skip(2 * 16);
    let moves: Vec<[f32; 2]> = rows.map(|((start, mean), sum)| [mean - start, sum - start]).collect();
    assert!(moves.iter().any(|[mean, _]| mean.abs() > 1e-3));
    assert!(moves.iter().all(|[mean, sum]| (3.0 * mean - sum).abs() < 1e-5), "{moves:?}");
}

/// Rows of one table that two trainings leave different.
fn moved(before: &Matrix, after: &Matrix) -> Vec<usize> {
    let rows = before.values.chunks_exact(before.dim).zip(after.values.chunks_exact(after.dim)).enumerate();
    rows.filter(|(_, (before, after))| before != after).map(|(row, _)| row).collect()
}

/// Of twenty candidates the rule keeps one: the others have a gradient of zero, which `lazy-adam` must not take for one. Each row has its user, its positive and one
/// negative, whether few items are touched or most; a user of `simplex` has its own vector and its history.
#[test]
fn lazy_adam_leaves_rows_alone_that_are_not_in_the_loss() {
    let optimizer = |rate: f64| format!(r#"{{"lazy-adam": {{"learning_rate": {rate}, "weight_decay": 0.1}}}}"#);
    let one_step = r#"{"epochs": 1, "batch_size": 2, "evaluate_every": 1}"#;
    let dns = r#"{"dns": {"candidates": 20}}"#;
    let simplex = r#"{"simplex": {"dim": 16, "dropout": 0.0}}"#;
    for (backbone, sampler, items) in [(MF, dns, 420), (MF, dns, 60), (simplex, r#"{"uniform": {"negatives": 1}}"#, 60)] {
        let data = two_of_many(items);
        let after = |rate: f64| {
            let trial = trial(backbone, BPR, sampler, &optimizer(rate), one_step);
            tables(&format!("lazy {items} {}", trial.id()), &trial, &data, &RESOURCES)
        };
        let (start, end) = (after(1e-30), after(0.05));
        let [users, of_items] = [0, 1].map(|side| moved(&start[side], &end[side]));
        assert_eq!(users, [0, 1], "{backbone}");
        assert!(of_items.starts_with(&[0, 1]) && (3..=4).contains(&of_items.len()), "{backbone}, {items}: {of_items:?}");
    }
}

/// What was stored by builds that took other rows, or a mean for the sum, is no result of this one.
#[test]
fn trainings_that_changed_have_another_revision() {
    let lazy = r#"{"lazy-adam": {"learning_rate": 0.05}}"#;
    let (dns, sum) = (r#"{"dns": {"candidates": 20}}"#, r#"{"dns-mn": {"candidates": 20, "negatives": 3, "sum": true}}"#);
    let revisions = |backbone: &str, loss: &str, sampler: &str, optimizer: &str| {
        let Trial { learning, backbone, .. } = trial(backbone, loss, sampler, optimizer, &training(""));
        let learning = learning.unwrap();
        [learning.loss_revision(&backbone), learning.sampler_revision(&backbone)]
    };
    let of = |sampler: &str, optimizer: &str| revisions(MF, BPR, sampler, optimizer)[1];
    assert_eq!([of(UNIFORM, ADAM), of(UNIFORM, lazy), of(dns, ADAM), of(dns, lazy), of(sum, ADAM), of(sum, lazy)], [0, 0, 0, 1, 1, 1]);
    // Of items in a batch, by the train interactions where rows are targets of histories.
    let (sas_rec, corrected, in_batch) =
        (r#"{"sas-rec": {"dim": 8}}"#, r#"{"sampled-softmax": {"temperature": 0.2}}"#, r#"{"in-batch": {}}"#);
    let of = |backbone: &str, loss: &str| revisions(backbone, loss, in_batch, ADAM)[1];
    assert_eq!([of(MF, corrected), of(sas_rec, BPR), of(sas_rec, corrected)], [2, 2, 3]);
    // And of what fills short lists, in a contrast that counts how often a batch has an item.
    let (all, lists) = (r#"{"sim-gcl": {"dim": 8, "layers": 1, "contrast_ids": "all"}}"#, r#"{"smooth-ndcg": {"temperature": 1.5}}"#);
    let unique = r#"{"sim-gcl": {"dim": 8, "layers": 1, "contrast_ids": "unique"}}"#;
    let of = |backbone: &str, loss: &str| revisions(backbone, loss, UNIFORM, ADAM)[0];
    assert_eq!([of(all, BPR), of(unique, lists), of(all, lists)], [0, 0, 1]);
}

/// Trainings with each of the options, of 12 steps an epoch.
fn options() -> Vec<Trial> {
    let plain = training("");
    let users = training(r#", "rows": "users""#);
    let regression = at_k(r#"{"regression": {"learning_rate": 0.5, "steps": 2}}"#);
    let full = r#"{"softmax": {"temperature": 0.2, "include_positive": true}}"#;
    vec![
        trial(MF, BPR, UNIFORM, L2, &plain),
        trial(MF, BPR, UNIFORM, r#"{"lazy-adam": {"learning_rate": 0.05, "batch_l2": 0.01}}"#, &plain),
        trial(LIGHT_GCN, BPR, UNIFORM, L2, &plain),
        trial(LIGHT_GCN, BPR, r#"{"mix-gcf": {"candidates": 8}}"#, L2, &plain),
        trial(r#"{"ngcf": {"dim": 8, "layers": 1}}"#, BPR, UNIFORM, L2, &plain),
        trial(MF, BPR, UNIFORM, DECAY, &plain),
        trial(MF, BPR, r#"{"uniform": {"negatives": 1}}"#, DECAY, &plain),
        trial(MF, r#"{"uib": {}}"#, UNIFORM, DECAY, &plain),
        trial(MF, BPR, UNIFORM, ADAM, &users),
        trial(MF, r#"{"cce": {}}"#, r#"{"in-batch": {}}"#, ADAM, &users),
        trial(MF, &at_k(r#"{"unbiased": {}}"#), UNIFORM, ADAM, &plain),
        trial(MF, &regression, UNIFORM, ADAM, &plain),
        trial(MF, full, r#"{"all": {"exclude": "row"}}"#, ADAM, &plain),
    ]
}

#[test]
fn a_training_that_stops_has_the_bits_of_one_that_does_not() {
    for (at, trial) in options().into_iter().enumerate() {
        let (whole, stopped) = (folder(&format!("options-whole-{at}")), folder(&format!("options-stops-{at}")));
        train(&trial, &tastes(), &whole, &RESOURCES, &mut ()).unwrap();
        assert_eq!(train_with_stops(&trial, &stopped, &[(1, 1), (3, 12), (4, 2), (6, 0), (7, 7)]), 5, "{:?}", trial.learning);
        assert!(result(&whole) == result(&stopped), "{:?}", trial.learning);
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    for trial in options() {
        let results = [1, 3].map(|threads| {
            let folder = folder(&format!("options-{threads}-{}", trial.id()));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| train(&trial, &tastes(), &folder, &RESOURCES, &mut ()).unwrap());
            result(&folder)
        });
        assert!(results[0] == results[1], "{:?}", trial.learning);
    }
}

/// The best model of each is no worse than half of that without the option, and the last is another one.
#[test]
fn options_are_heeded() {
    let value = |trial: &Trial| {
        let best = folder(&format!("heeded-{}", trial.id()));
        let data = Dataset { validation: Interactions::empty(90), ..tastes() };
        let last = tables(&format!("heeded-last-{}", trial.id()), trial, &data, &RESOURCES);
        (train(trial, &tastes(), &best, &RESOURCES, &mut ()).unwrap().validation.unwrap(), last)
    };
    let keys = ["batch_l2", "learning_rate_decay", "rows", "quantile_estimator", "exclude"];
    for trial in options() {
        let mut text = serde_json::to_value(&trial).unwrap();
        let parts = text["learning"].as_object_mut().unwrap().values_mut().filter_map(serde_json::Value::as_object_mut);
        for part in parts {
            keys.iter().for_each(|key| drop(part.remove(*key)));
            part.values_mut()
                .filter_map(serde_json::Value::as_object_mut)
                .for_each(|part| keys.iter().for_each(|key| drop(part.remove(*key))));
        }
        let without: Trial = serde_json::from_value(text).unwrap();
        let written = serde_json::to_string(&without).unwrap();
        assert!(keys.iter().all(|key| !written.contains(&format!("\"{key}\""))), "named as before: {written}");
        let (found, plain) = (value(&trial), value(&without));
        assert!(found.1 != plain.1 && found.0 > 0.5 * plain.0, "{:?}: {} {}", trial.learning, found.0, plain.0);
    }
}

#[test]
fn options_that_cannot_be_are_refused() {
    let plain = training("");
    let l2 = |backbone: &str, sampler: &str| unchecked(backbone, BPR, sampler, L2, &plain).check().unwrap_err();
    assert!(l2(MF, r#"{"all": {}}"#).contains("the sampler `all` draws nothing"));
    assert!(l2(MF, r#"{"dns": {"candidates": 5}}"#).contains("the sampler `dns` keeps or weighs"));
    assert!(l2(r#"{"neu-mf": {"dim": 8, "hidden": [8]}}"#, UNIFORM).contains("the backbone `neu-mf` has no vector of its own"));
    assert!(l2(r#"{"gru4rec": {"dim": 8, "hidden": 8}}"#, UNIFORM).contains("the backbone `gru4rec` has no vector of its own"));
    let users = |backbone: &str, loss: &str, sampler: &str| {
        unchecked(backbone, loss, sampler, ADAM, &training(r#", "rows": "users""#)).check().unwrap_err()
    };
    assert!(
        users(MF, r#"{"smooth-ndcg": {"temperature": 1}}"#, UNIFORM).starts_with("rows is `users`, and those of the loss `smooth-ndcg`")
    );
    assert!(users(r#"{"gru4rec": {"dim": 8, "hidden": 8}}"#, BPR, UNIFORM).starts_with("rows is `users`, and the backbone `gru4rec`"));
    assert!(users(MF, r#"{"sampled-softmax": {}}"#, r#"{"in-batch": {}}"#).starts_with("rows is `users`, and the sampler `in-batch`"));
    let own = r#"{"version": 1, "dataset": "tastes", "learning": null, "select_by": "ndcg@10",
        "iterations": {"epochs": 1, "evaluate_every": 1, "seed": 1},
        "backbone": {"enmf": {"dim": 8, "optimizer": {"adam": {"learning_rate": 0.1, "batch_l2": 0.1}}}}}"#;
    let own: Trial = serde_json::from_str(own).unwrap();
    assert!(own.check().unwrap_err().starts_with("batch_l2 is given, expected of models alone that learn from a loss"));
    let sum = |loss: &str| unchecked(MF, loss, r#"{"dns-mn": {"candidates": 8, "negatives": 3, "sum": true}}"#, ADAM, &plain).check();
    assert!(sum(r#"{"cce": {}}"#).unwrap_err().starts_with("sum is true, and the loss `cce`, which neither sums over its negatives"));
    assert_eq!(sum(BPR), Ok(()));
    let lists = unchecked(r#"{"gru4rec": {"dim": 8}}"#, r#"{"smooth-ndcg": {"temperature": 1.0}}"#, UNIFORM, ADAM, &plain).check();
    assert!(lists.unwrap_err().contains("the backbone `gru4rec` predicts the next item of a history: take another loss"));
    let bounds = |optimizer: &str| unchecked(MF, BPR, UNIFORM, optimizer, &plain).check().unwrap_err();
    assert!(bounds(r#"{"adam": {"learning_rate": 0.1, "batch_l2": -1}}"#).starts_with("batch_l2 is -1,"));
    assert!(bounds(r#"{"adam": {"learning_rate": 0.1, "learning_rate_decay": {"every": 5, "factor": 2}}}"#).starts_with("factor is 2,"));
}

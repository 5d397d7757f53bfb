//! What every loss, sampler, model and optimizer promises in training: it learns, with the same bits for any number of threads and after any resume.
#![allow(clippy::unwrap_used)]

mod by_candle;
#[path = "../src/device_checks/checks/loss_examples.rs"]
mod checked_on_devices;
mod kinds_page;
mod support;

use dataset::quote::kind;
use models::TargetsOf;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use support::{RESOURCES, Snapshot, folder, kinds, result, tastes, train_with_stops, trial};
use trainer::{Backbone, Iterations, Loss, Optimizer, Sampler, Trial, train};

const MF: &str = r#"{"mf": {"dim": 16}}"#;
const LIGHT_GCN: &str = r#"{"light-gcn": {"dim": 16, "layers": 2}}"#;
const ADAM: &str = r#"{"adam": {"learning_rate": 0.05, "weight_decay": 1e-6}}"#;
/// Rectified units die of larger steps.
const SLOWER: &str = r#"{"adam": {"learning_rate": 0.02, "weight_decay": 1e-6}}"#;
const UNIFORM: &str = r#"{"uniform": {"negatives": 20}}"#;
const BPR: &str = r#"{"bpr": {}}"#;
const CCE: &str = r#"{"cce": {}}"#;

/// Each loss with a sampler that it can have. A kind and its settings, as JSON without the outer braces.
const LOSSES: &[(&str, &str)] = &[
    (r#""bce": {}"#, UNIFORM),
    (r#""gbce": {"calibration": 0.75}"#, UNIFORM),
    (r#""bpr": {}"#, UNIFORM),
    (r#""cce": {}"#, UNIFORM),
    (r#""softmax": {"temperature": 0.2}"#, UNIFORM),
    (r#""sampled-softmax": {}"#, r#"{"popularity": {"negatives": 20}}"#),
    (r#""softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.0, "quantile_every": 3}"#, UNIFORM),
    (
        r#""softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.0, "quantile_every": 3, "quantile_update": "before-epoch"}"#,
        UNIFORM,
    ),
    (
        r#""softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.0, "quantile_every": 3, "quantile_estimator": {"unbiased": {}}}"#,
        UNIFORM,
    ),
    (r#""bsl": {"positive_temperature": 0.2, "negative_temperature": 0.2}"#, UNIFORM),
    (r#""bsl": {"positive_temperature": 0.2, "negative_temperature": 0.2, "form": "pairs"}"#, UNIFORM),
    (r#""smooth-ndcg": {"temperature": 1.0}"#, UNIFORM),
    (r#""smooth-ndcg": {"temperature": 1.0, "form": "gains"}"#, UNIFORM),
    (r#""smooth-ap": {"temperature": 1.0, "positives": 3}"#, r#"{"all": {}}"#),
    (r#""smooth-recall": {"temperature": 0.5, "cutoffs": [1, 3, 5]}"#, UNIFORM),
    (r#""approx-ndcg": {}"#, UNIFORM),
    (r#""approx-ndcg": {}"#, r#"{"dns-mn": {"candidates": 20, "negatives": 10}}"#),
    (r#""neural-ndcg": {"temperature": 1.0}"#, UNIFORM),
    (r#""psl": {"temperature": 0.1}"#, UNIFORM),
    (r#""psl": {"temperature": 0.1, "surrogate": "relu"}"#, UNIFORM),
    (r#""psl": {"temperature": 0.1, "whole_batch": true}"#, UNIFORM),
    (r#""uib": {}"#, UNIFORM),
    (r#""uib": {"negative_weight": 0.3, "penalty": "hinge"}"#, UNIFORM),
    (r#""cml": {"margin": 0.5}"#, UNIFORM),
    (r#""sml": {}"#, UNIFORM),
    (r#""sml": {}"#, r#"{"dns-mn": {"candidates": 20, "negatives": 5}}"#),
    (r#""warp": {}"#, r#"{"warp": {"candidates": 20}}"#),
    (r#""direct-au": {"uniformity": 0.5}"#, r#"{"in-batch": {"negatives": 1}}"#),
    (r#""ccl": {"margin": 0.4, "negative_weight": 10}"#, UNIFORM),
    (r#""sparsemax": {}"#, UNIFORM),
    (r#""mse": {"positive_weight": 5}"#, UNIFORM),
    (r#""rg2": {}"#, UNIFORM),
    (r#""rgx": {}"#, r#"{"all": {"exclude": "row"}}"#),
    (r#""sog-clr": {"temperature": 0.2, "update_rate": 0.9}"#, UNIFORM),
    (
        r#""sog-softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.0, "quantile_every": 3, "update_rate": 0.9}"#,
        UNIFORM,
    ),
    (r#""adap-tau": {"warm_up": 3}"#, UNIFORM),
    (r#""adv-info-nce": {"temperature": 0.2, "adversary_dim": 4, "adversary_learning_rate": 0.01}"#, UNIFORM),
    (r#""adv-info-nce": {"temperature": 0.2, "adversary_dim": 4, "schedule": {"instead": {"every": 5}}}"#, UNIFORM),
    (r#""llpauc": {"true_positive_rate": 0.7, "false_positive_rate": 0.1}"#, UNIFORM),
    (r#""llpauc": {"true_positive_rate": 0.7, "false_positive_rate": 0.1, "form": "release", "updates": "descent"}"#, UNIFORM),
    (r#""guided-rec": {}"#, r#"{"uniform": {"negatives": 9}}"#),
    (r#""lambda-rank": {}"#, UNIFORM),
    (r#""lambda-loss": {}"#, UNIFORM),
    (r#""lambda-loss-at-k": {"cutoff": 5}"#, UNIFORM),
    (r#""lambda-rank": {"ranks": {"sampled": {}}}"#, UNIFORM),
    (r#""lambda-loss": {"ranks": {"sampled": {}}}"#, UNIFORM),
    (r#""lambda-loss": {"ranks": {"sampled": {"with_positives": true}}}"#, r#"{"dns-mn": {"candidates": 20, "negatives": 10}}"#),
    (r#""lambda-loss-at-k": {"cutoff": 5, "ranks": {"sampled": {}}, "weights": "release"}"#, UNIFORM),
];

/// Each sampler with a loss that it can serve.
const SAMPLERS: &[(&str, &str)] = &[
    (r#""all": {}"#, BPR),
    (r#""all": {"exclude": "row"}"#, r#"{"softmax": {"temperature": 0.2, "include_positive": true}}"#),
    (r#""uniform": {"negatives": 20}"#, BPR),
    (r#""uniform": {"negatives": 20, "replacement": false}"#, BPR),
    (r#""popularity": {"negatives": 20}"#, BPR),
    (r#""in-batch": {}"#, r#"{"cce": {}}"#),
    (r#""in-batch": {"negatives": 10}"#, r#"{"sampled-softmax": {}}"#),
    (r#""ppr": {"negatives": 20, "neighbours": 2}"#, r#"{"sampled-softmax": {}}"#),
    (r#""ppr": {"negatives": 20, "form": {"temperature": {"temperature": 1.0}}}"#, BPR),
    (r#""dns": {"candidates": 8}"#, BPR),
    (r#""dns": {"candidates": 8, "pool": {"in-batch": {}}}"#, BPR),
    (r#""dns-mn": {"candidates": 20, "negatives": 5}"#, BPR),
    (r#""dns-mn": {"negatives": 5, "pool": {"all": {}}}"#, r#"{"softmax": {"temperature": 0.2}}"#),
    (r#""softmax": {"candidates": 20, "temperature": 1.0}"#, r#"{"bce": {}}"#),
    (r#""softmax": {"candidates": 20, "temperature": 1.0, "negatives": 3}"#, r#"{"cce": {}}"#),
    (r#""softmax-v": {"candidates": 20, "divergence": 0.1}"#, BPR),
    (r#""softmax-v": {"candidates": 20, "divergence": 0.1, "pool": {"popularity": {}}}"#, BPR),
    (r#""pris": {"candidates": 20, "pool": {"popularity": {}}}"#, BPR),
    (r#""warp": {"candidates": 20}"#, BPR),
    (r#""aobpr": {"negatives": 5, "scale": 0.2}"#, BPR),
    (r#""aobpr": {"negatives": 20, "scale": 0.5}"#, r#"{"sampled-softmax": {}}"#),
    (r#""kernel": {"negatives": 20}"#, r#"{"sampled-softmax": {}}"#),
    (r#""dns": {"candidates": 8, "pool": {"kernel": {"curvature": 1}}}"#, BPR),
    (r#""ada-sir": {"negatives": 5, "pool_size": 10, "proposals": 30}"#, BPR),
    (r#""ada-sir": {"negatives": 5, "weights": "scores", "pool": {"popularity": {"exponent": 0.5}}}"#, BPR),
    (r#""ada-sir": {"negatives": 5, "weights": "none"}"#, BPR),
    (
        r#""irgan": {"negatives": 5, "generator_dim": 8, "pretraining_epochs": 3, "every": 4, "generator_epochs": 2, "redraw_every": 2}"#,
        BPR,
    ),
    (r#""irgan": {"negatives": 20, "generator_dim": 8, "every": 5, "generator_epochs": 3}"#, r#"{"sampled-softmax": {}}"#),
    (r#""dns-mn": {"candidates": 20, "negatives": 5, "pool": {"irgan": {"generator_dim": 8, "every": 3, "redraw_every": 2}}}"#, BPR),
    (r#""mix-gcf": {"candidates": 8}"#, BPR),
    (r#""mix-gcf": {"candidates": 8, "negatives": 3, "pool": {"popularity": {}}}"#, r#"{"cce": {}}"#),
];

/// Each model; those that learn do so with every loss of [`OF_MODELS`], or of [`OF_NETWORKS`].
const BACKBONES: &[(&str, &str)] = &[
    (r#""random": {}"#, ""),
    (r#""popularity": {}"#, ""),
    (r#""item-knn": {}"#, ""),
    (r#""item-knn": {"neighbours": 5, "shrink": 10}"#, ""),
    (r#""user-knn": {}"#, ""),
    (r#""user-knn": {"neighbours": 5, "shrink": 10}"#, ""),
    (r#""slim": {}"#, ""),
    (r#""slim": {"l1": 0.5, "l2": 2.0, "max_iterations": 100, "tolerance": 1e-4}"#, ""),
    (r#""ease": {"regularization": 10.0}"#, ""),
    (r#""ials": {"dim": 16, "regularization": 0.01}"#, ""),
    (
        r#""ials": {"dim": 16, "regularization": 0.1, "convention": {"rendle": {"unobserved_weight": 0.5, "reg_scaling": 0.5}}, "solver": {"subspace": {"block": 4}}}"#,
        "",
    ),
    (
        r#""ials": {"dim": 8, "regularization": 1, "convention": {"implicit": {"alpha": 10}}, "solver": {"conjugate-gradient": {"steps": 5}}}"#,
        "",
    ),
    (r#""ials": {"dim": 8, "regularization": 1, "convention": {"recstudio": {"alpha": 4, "reg_scaling": 0.5}}, "item_bias": true}"#, ""),
    (r#""wrmf": {"dim": 16, "regularization": 0.1, "alpha": 4}"#, ""),
    (r#""rg2": {"dim": 16, "regularization": 0.1}"#, ""),
    (r#""rg2": {"dim": 16, "regularization": 0.1, "negatives": 100}"#, ""),
    (r#""rgx": {"dim": 16, "regularization": 0.1}"#, ""),
    (r#""enmf": {"dim": 16, "batch_size": 32, "optimizer": {"adam": {"learning_rate": 0.02}}}"#, ""),
    (
        r#""enmf": {"dim": 16, "batch_size": 32, "dropout": 0, "negative_weight": 0.1, "optimizer": {"lazy-adam": {"learning_rate": 0.02}}}"#,
        "",
    ),
    (r#""mult-vae": {"dim": 8, "hidden": 16, "batch_size": 32, "anneal_steps": 10, "optimizer": {"adam": {"learning_rate": 0.02}}}"#, ""),
    (
        r#""mult-vae": {"dim": 4, "hidden": 16, "batch_size": 20, "dropout": 0, "kl_weight": 0, "optimizer": {"adam": {"learning_rate": 0.02}}}"#,
        "",
    ),
    (r#""deep-walk": {"dim": 16, "walk_length": 20, "window": 3, "learning_rate": 0.1}"#, ""),
    (r#""node2vec": {"dim": 16, "walk_length": 20, "window": 3, "learning_rate": 0.1, "p": 2, "q": 0.5}"#, ""),
    (r#""line": {"dim": 16, "learning_rate": 0.2}"#, ""),
    (r#""line": {"dim": 16, "order": "first", "learning_rate": 0.2}"#, ""),
    (r#""line": {"dim": 16, "order": "second", "learning_rate": 0.2, "negatives": 10}"#, ""),
    (r#""mf": {"dim": 16}"#, ""),
    (r#""two-tower": {"dim": 16}"#, ""),
    (r#""two-tower": {"dim": 16, "hidden": []}"#, ""),
    (r#""light-gcn": {"dim": 16, "layers": 2}"#, ""),
    (r#""light-gcn": {"dim": 16, "layers": 3, "user_table": "none"}"#, ""),
    (r#""lr-gccf": {"dim": 16, "layers": 2, "init": {"xavier-normal": {}}}"#, ""),
    (r#""gcn": {"dim": 8, "layers": 2}"#, ""),
    (r#""gcn": {"dim": 8, "layers": 1, "dropout": 0, "pool": "concat", "layer_zero": false}"#, ""),
    (r#""gat": {"dim": 8, "layers": 2, "heads": 2}"#, ""),
    (r#""gcn": {"dim": 8, "layers": 1, "dropout": 0, "user_table": "none"}"#, ""),
    (r#""gat": {"dim": 8, "layers": 1, "attention_dropout": 0, "pool": "mean"}"#, ""),
    (r#""gin": {"dim": 8, "layers": 2}"#, ""),
    (r#""gin": {"dim": 8, "layers": 1, "epsilon": 0.5, "pool": "last"}"#, ""),
    (r#""nia-gcn": {"dim": 8}"#, ""),
    (r#""dgcf": {"dim": 16, "layers": 1}"#, ""),
    (r#""dgcf": {"dim": 16, "layers": 2, "factors": 2, "iterations": 1, "correlation_sample": 10}"#, ""),
    (r#""simplex": {"dim": 16}"#, ""),
    (r#""simplex": {"dim": 16, "history_weight": 1, "dropout": 0}"#, ""),
    (r#""neu-mf": {"dim": 8, "hidden": [16, 8], "init": {"xavier-normal": {}}}"#, ""),
    (r#""neu-mf": {"dim": 8, "form": "gmf", "init": {"xavier-normal": {}}}"#, ""),
    (r#""neu-mf": {"dim": 8, "form": "mlp", "hidden": [16], "dropout": 0, "init": {"xavier-normal": {}}}"#, ""),
    (r#""ncf": {"dim": 8, "init": {"xavier-normal": {}}}"#, ""),
    (r#""ncf": {"dim": 8, "form": "mlp", "init": {"xavier-normal": {}}}"#, ""),
    (r#""ngcf": {"dim": 8, "layers": 2}"#, ""),
    (r#""ngcf": {"dim": 8, "layers": 1, "dropout": 0, "propagate": "normalized"}"#, ""),
    (r#""sgl": {"dim": 16, "layers": 2, "contrast_weight": 0.02}"#, ""),
    (r#""sgl": {"dim": 16, "layers": 1, "edge_dropout": 0.3, "contrast_weight": 0.02, "contrast_against": "batch"}"#, ""),
    (r#""sim-gcl": {"dim": 16, "layers": 2}"#, ""),
    (r#""sim-gcl": {"dim": 16, "layers": 1, "noise": "normal", "contrast_ids": "all"}"#, ""),
    (r#""xsim-gcl": {"dim": 16, "layers": 2}"#, ""),
    (r#""xsim-gcl": {"dim": 16, "layers": 3, "noise": "normal", "contrast_ids": "all", "contrast_layer": 2}"#, ""),
    (r#""sas-rec": {"dim": 16, "hidden": 32, "dropout": 0.1, "init": {"normal": {"std": 0.3}}}"#, ""),
    (
        r#""sas-rec": {"dim": 16, "layers": 1, "heads": 4, "hidden": 16, "activation": "relu", "norm": "pre", "dropout": 0, "max_length": 3}"#,
        "",
    ),
    (r#""gru4rec": {"dim": 16, "hidden": 24}"#, ""),
    (r#""gru4rec": {"dim": 16, "hidden": 16, "layers": 2, "dropout": 0, "max_length": 5}"#, ""),
    (r#""gru4rec": {"dim": 16, "hidden": 16, "max_length": 5, "targets": "last"}"#, ""),
    (r#""external": {"name": "als", "users": "u.npy", "items": "i.npy"}"#, ""),
    (r#""run": {"name": "bm25", "path": "lists.parquet"}"#, ""),
];

/// Optimizers whose rows without gradient stay, are left behind, or move in every step.
const OPTIMIZERS: &[(&str, &str)] = &[
    (r#""adam": {"learning_rate": 0.05, "beta1": 0.5}"#, ""),
    (r#""lazy-adam": {"learning_rate": 0.05}"#, ""),
    (r#""adam-w": {"learning_rate": 0.05}"#, ""),
    (r#""sgd": {"learning_rate": 6.0}"#, ""),
    (r#""sgd": {"learning_rate": 2.0, "momentum": 0.5, "weight_decay": 1e-5, "learning_rate_decay": {"every": 3, "factor": 0.5}}"#, ""),
    (r#""adagrad": {"learning_rate": 0.2}"#, ""),
    (r#""adagrad": {"learning_rate": 0.2, "weight_decay": 1e-5}"#, ""),
];

/// For models whose pairs a network scores: losses of pairs and of lists, and samplers that look at scores.
const OF_NETWORKS: &[(&str, &str)] = &[
    (BPR, UNIFORM),
    (BPR, r#"{"dns-mn": {"candidates": 20, "negatives": 10}}"#),
    (r#"{"cce": {}}"#, r#"{"in-batch": {"negatives": 20}}"#),
    (r#"{"sampled-softmax": {}}"#, r#"{"popularity": {"negatives": 20}}"#),
    (r#"{"smooth-ndcg": {"temperature": 1.0, "similarity": "dot"}}"#, UNIFORM),
];

/// Losses of pairs, with quantiles, of lists, with numbers of their own, and in two phases.
const OF_MODELS: &[(&str, &str)] = &[
    (BPR, UNIFORM),
    (r#"{"bce": {}}"#, r#"{"all": {}}"#),
    (r#"{"softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.0, "quantile_every": 3}}"#, UNIFORM),
    (r#"{"smooth-ndcg": {"temperature": 1.0}}"#, UNIFORM),
    (r#"{"adv-info-nce": {"temperature": 0.2, "adversary_dim": 4, "schedule": {"instead": {"every": 5}}}}"#, UNIFORM),
    (r#"{"sampled-softmax": {}}"#, r#"{"kernel": {"negatives": 20}}"#),
];

/// For models that predict what comes next: losses of pairs, with quantiles, with numbers of their own, of all items and of rows with each other.
const OF_SEQUENCES: &[(&str, &str)] = &[
    (BPR, UNIFORM),
    (r#"{"softmax": {"temperature": 1.0}}"#, r#"{"all": {}}"#),
    (r#"{"cce": {}}"#, r#"{"in-batch": {"negatives": 20}}"#),
    (r#"{"softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.0, "quantile_every": 3}}"#, UNIFORM),
    (r#"{"adv-info-nce": {"temperature": 0.2, "adversary_dim": 4, "schedule": {"instead": {"every": 5}}}}"#, UNIFORM),
];

/// Every model that learns, but for those that losses and samplers are tried on, with each of these.
fn trials_of_models() -> Vec<Trial> {
    let of = |backbone: String| {
        let (pairs, optimizer) = match serde_json::from_str::<Backbone>(&backbone).unwrap() {
            model if model.has_network() => (OF_NETWORKS, SLOWER),
            model if model.reads_order() => (OF_SEQUENCES, SLOWER),
            _ => (OF_MODELS, ADAM),
        };
        pairs.iter().map(move |(loss, sampler)| trial(&backbone, loss, sampler, optimizer))
    };
    let backbones = BACKBONES.iter().map(|(backbone, _)| format!("{{{backbone}}}"));
    let learns = |backbone: &String| !serde_json::from_str::<Backbone>(backbone).unwrap().fits_without_sampling();
    backbones.filter(learns).filter(|backbone| ![MF, LIGHT_GCN].contains(&backbone.as_str())).flat_map(of).collect()
}

/// Every optimizer, with steps that touch few rows, all items, and all rows.
fn trials_of_optimizers() -> Vec<Trial> {
    let few = r#"{"uniform": {"negatives": 1}}"#;
    let ways = [(MF, few), (MF, r#"{"all": {}}"#), (LIGHT_GCN, UNIFORM)];
    let of = |(optimizer, _): &(&str, &str)| ways.map(|(backbone, sampler)| trial(backbone, CCE, sampler, &format!("{{{optimizer}}}")));
    OPTIMIZERS.iter().flat_map(of).collect()
}

/// Every model that fits without sampling, at once or in epochs.
fn without_sampling(in_epochs: bool) -> Vec<Trial> {
    let backbones = BACKBONES.iter().map(|(backbone, _)| serde_json::from_str(&format!("{{{backbone}}}")).unwrap());
    let fits = |backbone: &Backbone| backbone.fits_without_sampling() && backbone.has_epochs() == in_epochs && !backbone.is_pretrained();
    let fit = backbones.filter(fits);
    let text = r#"{"version": 1, "dataset": "tastes", "backbone": {"popularity": {}}, "learning": null, "select_by": "ndcg@10"}"#;
    let trial: Trial = serde_json::from_str(text).unwrap();
    let iterations = in_epochs.then_some(Iterations { epochs: 12, evaluate_every: 2, patience: Some(20), seed: 3 });
    let trials: Vec<Trial> = fit.map(|backbone| Trial { backbone, iterations: iterations.clone(), ..trial.clone() }).collect();
    trials.iter().for_each(|trial| trial.check().unwrap());
    trials
}

/// Whether a model of sequences predicts the last item of each history alone.
fn predicts_last_items(backbone: &Backbone) -> bool {
    matches!(backbone, Backbone::Gru4Rec(model) if model.targets == TargetsOf::Last)
}

/// Every example as a trial on a backbone.
fn trials(backbone: &str) -> Vec<Trial> {
    let object = |inside: &str| format!("{{{inside}}}");
    let losses = LOSSES.iter().map(|(loss, sampler)| trial(backbone, &object(loss), sampler, ADAM));
    losses.chain(SAMPLERS.iter().map(|(sampler, loss)| trial(backbone, loss, &object(sampler), ADAM))).collect()
}

/// A new kind fails here until it has an example.
fn assert_complete<T: DeserializeOwned>(examples: &[(&str, &str)]) {
    let found: BTreeSet<String> = examples.iter().filter_map(|(example, _)| example.split('"').nth(1).map(str::to_owned)).collect();
    assert_eq!(found, kinds::<T>());
}

#[test]
fn every_kind_has_an_example() {
    assert_complete::<Loss>(LOSSES);
    assert_complete::<Sampler>(SAMPLERS);
    assert_complete::<Backbone>(BACKBONES);
    assert_complete::<Optimizer>(OPTIMIZERS);
}

/// Of a loss that has a kernel in some form, some form is held against the CPU, by `ranksweep doctor --check` on a GPU and by the emulator in tests.
#[test]
fn every_loss_with_a_kernel_is_checked_on_devices() {
    let read = |loss: &str| serde_json::from_str::<Loss>(loss).unwrap();
    let examples = LOSSES.iter().map(|(loss, _)| read(&format!("{{{loss}}}")));
    let with_kernel: BTreeSet<String> = examples.filter(|loss| loss.kernel().is_some()).map(|loss| kind(&loss)).collect();
    let checked: BTreeSet<String> = checked_on_devices::LOSSES.iter().map(|(_, loss)| kind(&read(loss))).collect();
    let unchecked: Vec<&String> = with_kernel.difference(&checked).collect();
    assert!(!with_kernel.is_empty() && unchecked.is_empty(), "{unchecked:?} have kernels that no check runs");
}

/// Popularity ranks all three tastes alike.
#[test]
fn every_kind_learns_the_tastes() {
    let text = r#"{"version": 1, "dataset": "tastes", "backbone": {"popularity": {}}, "learning": null, "select_by": "ndcg@10"}"#;
    let run = |name: &str, trial: &Trial| train(trial, &tastes(), &folder(name), &RESOURCES, &mut ()).unwrap().validation.unwrap();
    let floor = run("kinds floor", &serde_json::from_str(text).unwrap());
    // A network takes more than the 24 steps that a loss of lists has here, and a model of sequences more than the 24 of last items.
    let is_enough = |trial: &Trial| match (&trial.backbone, &trial.learning) {
        (Backbone::TwoTower(_), Some(learning)) => learning.loss.list().is_none(),
        (model, Some(learning)) if model.has_network() => learning.loss.list().is_none(),
        (model, _) => !predicts_last_items(model),
    };
    let all = [trials(MF), trials(LIGHT_GCN), trials_of_models(), trials_of_optimizers(), without_sampling(true)].concat();
    for trial in all.into_iter().filter(is_enough) {
        let value = run(&format!("kinds {}", trial.id()), &trial);
        assert!(value > 1.5 * floor, "{:?}, {:?}: {value} is not far above {floor}", trial.backbone, trial.learning);
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    for trial in [trials(MF), trials_of_models(), trials_of_optimizers(), without_sampling(true), without_sampling(false)].concat() {
        let results = [1, 3].map(|threads| {
            let folder = folder(&format!("kinds-{threads}-{}", trial.id()));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| train(&trial, &tastes(), &folder, &RESOURCES, &mut ()).unwrap());
            result(&folder)
        });
        assert!(results[0] == results[1], "{:?}, {:?}", trial.backbone, trial.learning);
    }
}

#[test]
fn a_resumed_training_has_the_bits_of_an_uninterrupted_one() {
    for trial in [trials(MF), trials_of_models(), trials_of_optimizers(), without_sampling(true)].concat() {
        let (whole, killed) = (folder(&format!("kinds-whole-{}", trial.id())), folder(&format!("kinds-killed-{}", trial.id())));
        train(&trial, &tastes(), &whole, &RESOURCES, &mut Snapshot { epoch: 7, from: &whole, to: &killed }).unwrap();
        train(&trial, &tastes(), &killed, &RESOURCES, &mut ()).unwrap();
        assert!(result(&whole) == result(&killed), "{:?}, {:?}", trial.backbone, trial.learning);
    }
}

/// Losses of lists have 2 steps in an epoch, those of pairs 12, or 10 where the first item of a history is none that is predicted, and 2
/// where the last one alone is.
#[test]
fn a_training_that_stops_within_epochs_has_the_bits_of_one_that_does_not() {
    for (at, trial) in [trials(MF), trials(LIGHT_GCN), trials_of_models(), trials_of_optimizers()].concat().into_iter().enumerate() {
        let (whole, stopped) = (folder(&format!("kinds-one-{at}")), folder(&format!("kinds-stops-{at}")));
        train(&trial, &tastes(), &whole, &RESOURCES, &mut ()).unwrap();
        let stops = train_with_stops(&trial, &stopped, &[(1, 1), (4, 2), (5, 0), (7, 7), (8, 1), (9, 12), (12, 2)]);
        let of_pairs = trial.learning.as_ref().unwrap().loss.list().is_none();
        let expected = match (of_pairs, trial.backbone.reads_order()) {
            (true, false) => 7,
            (true, true) if predicts_last_items(&trial.backbone) => 5,
            (true, true) => 6,
            (false, _) => 5,
        };
        assert_eq!(stops, expected, "{:?}", trial.learning);
        assert!(result(&whole) == result(&stopped), "{:?}", trial.learning);
    }
}

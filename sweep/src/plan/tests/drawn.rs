//! Configurations that a random search draws.

use super::*;
use crate::file::AskedDevice;
use std::collections::{HashMap, HashSet};

const RANDOM: &str = "\
name: drawn
datasets:
  - name: d
    source: {format: synthetic}
    split: {kind: random, test: 0.2, validation: 0.1, seed: 1}
grid:
  - backbones: [{kind: mf, dim: [4, 8, 16]}]
    losses: [{kind: bpr}]
    samplers: [{kind: uniform, negatives: 5}]
    optimizer: {kind: adam, learning_rate: [0.1, 0.03, 0.01, 0.003]}
training: {epochs: 3, batch_size: 64, evaluate_every: 1}
search: {kind: random, trials: 5}
";

fn with_seed(seed: u64) -> String {
    RANDOM.replace("trials: 5", &format!("trials: 5, seed: {seed}"))
}

/// Dimension and learning rate of each configuration of a method.
fn drawn(text: &str, method: usize) -> Vec<(u64, f64)> {
    let of = |configuration: &Configuration| {
        let (dim, rate) = (&configuration.parameters["backbone.dim"], &configuration.parameters["optimizer.learning_rate"]);
        (dim.as_u64().unwrap(), rate.as_f64().unwrap())
    };
    plan_of(text).unwrap().methods[method].configurations.iter().map(of).collect()
}

/// Values of an independent program: a change here is a change of every random sweep.
#[test]
fn draws_are_frozen() {
    assert_eq!(drawn(RANDOM, 0), [(4, 0.1), (8, 0.01), (16, 0.1), (16, 0.01), (16, 0.003)]);
    assert_eq!(drawn(&with_seed(2), 0), [(4, 0.03), (4, 0.01), (4, 0.003), (8, 0.1), (16, 0.01)]);
    let ranges = RANDOM
        .replace("dim: [4, 8, 16]", "dim: {integer: [4, 16]}")
        .replace("learning_rate: [0.1, 0.03, 0.01, 0.003]", "learning_rate: {log_uniform: [0.001, 0.1]}")
        .replace("trials: 5", "trials: 4");
    assert_eq!(drawn(&ranges, 0), [(12, 0.09936), (10, 0.01575), (7, 0.007966), (15, 0.02798)]);
}

#[test]
fn more_trials_keep_those_that_there_were() {
    let of = |trials: u32, text: &str| {
        let text = text.replace("trials: 5", &format!("trials: {trials}"));
        plan_of(&text).unwrap().trials().map(|(.., trial)| trial.id.clone()).collect::<HashSet<String>>()
    };
    let ranged = RANDOM.replace("[0.1, 0.03, 0.01, 0.003]", "[0.1, {log_uniform: [0.001, 0.1]}]");
    for text in [RANDOM, &ranged] {
        for trials in 1..12 {
            let (fewer, more) = (of(trials, text), of(trials + 1, text));
            assert!(fewer.len() == trials as usize && fewer.is_subset(&more), "{trials}: {fewer:?}");
        }
    }
}

#[test]
fn other_methods_and_another_spelling_do_not_change_the_draws() {
    let more = RANDOM
        .replace("losses: [{kind: bpr}]", "losses: [{kind: softmax, temperature: [0.1, 0.2]}, {kind: bpr, similarity: dot}]")
        .replace("grid:", "grid:\n  - backbones: [{kind: popularity}, {kind: ease, regularization: [1, 2, 3, 4, 5, 6, 7]}]")
        .replace("0.03, 0.01", "3.0e-2, 0.010");
    assert_eq!(drawn(&more, 3), drawn(RANDOM, 0));
    let plan = plan_of(&more).unwrap();
    assert_eq!(plan.methods.iter().map(|method| method.configurations.len()).collect::<Vec<_>>(), [1, 5, 5, 5]);
}

#[test]
fn methods_keep_their_names_and_trials_their_ids() {
    let grid = plan_of(&RANDOM.replace("search: {kind: random, trials: 5}\n", "")).unwrap();
    let random = plan_of(RANDOM).unwrap();
    assert_eq!(random.methods[0].label, grid.methods[0].label);
    let ids = |plan: &Plan| plan.trials().map(|(.., trial)| trial.id.clone()).collect::<HashSet<_>>();
    assert!(ids(&random).is_subset(&ids(&grid)));
    let values: Vec<&String> = random.methods[0].configurations[0].values.keys().collect();
    assert_eq!(values, ["backbone.dim", "optimizer.learning_rate"]);
    assert_eq!((grid.methods[0].drawn_from, random.methods[0].drawn_from), (None, Some(DrawnFrom::Combinations(12))));
    let all = plan_of(&RANDOM.replace("trials: 5", "trials: 40")).unwrap();
    assert_eq!((all.methods[0].drawn_from, ids(&all)), (None, ids(&grid)));
    let text = |plan: &Plan| show(plan, &[Found::raw(1)], 1, &Resources::default(), AskedDevice::Auto);
    assert!(text(&random).contains("on d: 5 of 12 configurations, 5 trials"), "{}", text(&random));
    assert!(text(&random).starts_with("sweep drawn: select by validation ndcg@20; 5 configurations of each method, drawn with seed 1\n"));
    assert!(text(&all).contains("on d: all 12 configurations that there are, 12 trials"), "{}", text(&all));
}

/// 4,000 seeds draw 5 of 12 each: every configuration is in five twelfths of the draws. The counts of a fixed number of distinct draws have
/// the covariance of a hypergeometric law: their sum of squares over n p (1 - p), times 11 / 12, is chi-square with 11 degrees of freedom.
#[test]
fn every_configuration_is_drawn_as_often() {
    let seeds = 4_000;
    let mut counts: HashMap<(u64, String), f64> = HashMap::new();
    let file = SweepFile::parse(RANDOM, "s.yaml").unwrap();
    let drafts = draft::drafts(&file);
    for seed in 0..seeds {
        for choice in draw::choices(&drafts[0], 5, seed) {
            let parameters = choice.parameters();
            let key = (parameters["backbone.dim"].as_u64().unwrap(), parameters["optimizer.learning_rate"].to_string());
            *counts.entry(key).or_default() += 1.0;
        }
    }
    let (share, seeds) = (5.0 / 12.0, seeds as f64);
    let squares: f64 = counts.values().map(|count| (count - seeds * share).powi(2)).sum();
    let statistic = squares / (seeds * share * (1.0 - share)) * 11.0 / 12.0;
    assert_eq!(counts.len(), 12);
    assert!(statistic < 31.26, "{statistic}: {counts:?}"); // 0.999 of chi-square with 11 degrees of freedom
}

#[test]
fn a_range_with_few_values_ends_when_all_are_drawn() {
    let few = RANDOM
        .replace("dim: [4, 8, 16]", "dim: {integer: [4, 6]}")
        .replace("[0.1, 0.03, 0.01, 0.003]", "0.1")
        .replace("trials: 5", "trials: 9");
    let mut dims: Vec<u64> = drawn(&few, 0).into_iter().map(|(dim, _)| dim).collect();
    dims.sort_unstable();
    assert_eq!(dims, [4, 5, 6]);
    let plan = plan_of(&few).unwrap();
    assert_eq!(plan.methods[0].drawn_from, Some(DrawnFrom::Ranges));
    assert!(
        show(&plan, &[Found::raw(1)], 1, &Resources::default(), AskedDevice::Auto)
            .contains("on d: 3 configurations drawn from ranges, 3 trials")
    );
    assert_eq!(plan.methods[0].label, "mf / bpr / uniform-5");
}

#[test]
fn a_grid_too_large_to_be_spread_out_can_be_drawn_from() {
    let many: Vec<String> = (1..=9000).map(|value| format!("{value}e-4")).collect();
    let large = RANDOM.replace("[0.1, 0.03, 0.01, 0.003]", &format!("[{}]", many.join(", "))).replace("[4, 8, 16]", "{integer: [4, 6000]}");
    assert_eq!(drawn(&large, 0).len(), 5);
}

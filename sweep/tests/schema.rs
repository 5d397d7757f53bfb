//! The JSON Schema that `ranksweep schema` prints: what it accepts and what it refuses. `bad_input` holds it against all bad sweep files.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

#[path = "support/json_schema.rs"]
mod json_schema;
#[path = "support/mod.rs"]
mod support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use support::{SWEEP, Sandbox, changed};

/// The schema as the program prints it.
fn printed() -> Value {
    let out = Sandbox::new(SWEEP).command(&["schema"]).output().unwrap();
    serde_json::from_slice(&out.stdout).unwrap()
}

fn accepts(schema: &Value, sweep: &str) -> bool {
    json_schema::accepts(schema, &serde_yaml::from_str(sweep).unwrap())
}

fn sweep_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| match path.is_dir() {
        true => sweep_files(&path),
        false => Vec::from_iter(Some(path).filter(|path| path.extension().is_some_and(|suffix| suffix == "yaml"))),
    };
    entries.flat_map(of).collect()
}

#[test]
fn every_sweep_file_of_the_repository_is_accepted() {
    let schema = printed();
    let files = sweep_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../configs")));
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        assert!(accepts(&schema, &std::fs::read_to_string(&file).unwrap()), "{}", file.display());
    }
}

/// Each of these is a file that `ranksweep plan` takes too: lists to tune, ranges, several seeds of a split, variables, numbers for texts.
#[test]
fn what_a_file_may_write_in_several_ways_is_accepted() {
    let schema = printed();
    for (from, to) in [
        ("temperature: 0.2", "temperature: [0.1, {log_uniform: [0.1, 0.5]}]"),
        ("training: {epochs: 2, batch_size: 64, evaluate_every: 1, select_by: ndcg@5}", "training:\n  epochs: ${EPOCHS}"),
        ("dim: 4", "dim: {integer: [4, 8]}"),
        ("dim: 4", "dim: 4, init: {kind: normal, std: [0.1, 1.0]}"),
        ("seed: 7", "seed: [1, 2, 3]"),
        ("name: tiny", "name: 2024"),
        ("user: user,", "user: 0,"),
        ("    split:", "    noise: 0.1\n    split:"),
        ("    split:", "    k_core: {users: 5, items: 2}\n    split:"),
        ("training:", "search: {kind: random, trials: 3}\ndevice: cpu\ntraining:"),
    ] {
        assert!(accepts(&schema, &changed(from, to)), "{to}");
    }
}

#[test]
fn near_misses_are_refused() {
    let schema = printed();
    for (from, to) in [
        ("kind: softmax,", "kind: sofmax,"),
        ("temperature: 0.2", "temprature: 0.2"),
        ("{kind: bpr}", "bpr"),
        ("{kind: bpr}", "{kind: bpr, temperature: 0.1}"),
        ("{kind: softmax, temperature: 0.2}", "{kind: softmax}"),
        ("dim: 4", "dim: {uniform: [4, 8]}"),
        ("temperature: 0.2", "temperature: [0.2, 0.2]"),
        ("temperature: 0.2", "temperature: []"),
        ("format: delimited", "kind: delimited"),
        ("select_by: ndcg@5", "select_by: ndcg"),
        ("training:", "trainings:"),
        ("training:", "device: gpu\ntraining:"),
        ("    samplers: [{kind: uniform, negatives: 5}]\n", ""),
    ] {
        assert!(!accepts(&schema, &changed(from, to)), "{to}");
    }
}

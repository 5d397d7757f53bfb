//! `ranksweep theory` from outside: its files, with and without a model, and what it refuses.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use std::{collections::BTreeMap, fs, path::Path};
use support::{SWEEP, Sandbox};

/// The files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

/// Small enough for every test.
const QUICK: [&[&str]; 5] = [
    &["bounds"],
    &["dro", "--negatives", "400"],
    &["opauc", "--permutations", "2500", "--positives", "10", "--negatives", "50", "--cutoffs", "5,10"],
    &["quantiles", "--items", "500", "--negatives", "50,100"],
    &["rg"],
];

fn write(sandbox: &Sandbox, threads: &str, out: &str) -> BTreeMap<String, Vec<u8>> {
    for question in QUICK {
        let ended = sandbox.ended(&mut sandbox.command(&[&["theory"], question, &["--out", out, "--threads", threads]].concat()));
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.error);
        assert!(ended.out.contains("holds in"), "{}", ended.out);
    }
    files(&sandbox.path(out))
}

#[test]
fn every_question_has_tables_and_a_picture_and_any_number_of_threads_writes_the_same_bytes() {
    let sandbox = Sandbox::new(SWEEP);
    let one = write(&sandbox, "1", "one");
    let names: Vec<&str> = one.keys().map(String::as_str).collect();
    let expected = [
        "bounds.parquet",
        "bounds.svg",
        "bounds_statements.parquet",
        "dro.parquet",
        "dro.svg",
        "dro_distributions.parquet",
        "dro_statements.parquet",
        "opauc.parquet",
        "opauc.svg",
        "opauc_brackets.parquet",
        "opauc_statements.parquet",
        "quantiles.parquet",
        "quantiles.svg",
        "quantiles_statements.parquet",
        "rg.parquet",
        "rg.svg",
        "rg_losses.parquet",
        "rg_statements.parquet",
    ];
    assert_eq!(names, expected);
    assert!(one == write(&sandbox, "3", "three"));
}

#[test]
fn a_trained_model_is_looked_at() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let ended = sandbox.ended(&mut sandbox.command(&["theory", "quantiles", "s.yaml", "--cutoff", "5", "--negatives", "3,30"]));
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.error);
    // 30 negatives are more than there are: the whole catalogue is taken, and every estimate is exact.
    let exact = ended.out.lines().find(|line| line.contains("positives-and-negatives") && line.contains(" 30 ")).unwrap();
    assert!(exact.contains("+0.0000") && exact.contains("1.0000"), "{exact}");
    let ended = sandbox.ended(&mut sandbox.command(&["theory", "opauc", "s.yaml", "--permutations", "2000", "--cutoffs", "2,5"]));
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.error);
    assert!(ended.out.contains("recall@5, the model's users"), "{}", ended.out);
}

#[test]
fn what_is_out_of_range_is_named() {
    let sandbox = Sandbox::new(SWEEP);
    let refused = |arguments: &[&str]| {
        let ended = sandbox.ended(&mut sandbox.command(&[&["theory"], arguments].concat()));
        ended.complaint(2).to_owned()
    };
    assert_eq!(refused(&["bounds", "--negatives", "2000"]), "--negatives 2000: expected 1 to 1000, the population");
    assert_eq!(refused(&["bounds", "--ranks", "0"]), "--ranks 0: expected 1 to 1001, the population and the positive");
    assert!(refused(&["opauc", "--permutations", "0"]).starts_with("--permutations 0: expected 2 to"));
    assert_eq!(refused(&["quantiles", "--cutoff", "8360"]), "--cutoff 8360: expected 1 to 8359, one less than there are items");
    assert_eq!(refused(&["quantiles", "--error=-1"]), "--error -1: expected a number above 0");
    assert_eq!(refused(&["rg", "--items", "1"]), "--items 1: expected 2 to 10000");
    assert!(!sandbox.path("theory").exists(), "nothing was done");
}

#[test]
fn a_model_that_is_not_there_is_named() {
    let sandbox = Sandbox::new(SWEEP);
    let theory = |arguments: &[&str]| sandbox.ended(&mut sandbox.command(&[&["theory", "quantiles", "s.yaml"], arguments].concat()));
    assert!(theory(&[]).complaint(1).contains("run `ranksweep run` first"));
    assert!(theory(&["--dataset", "other"]).complaint(2).contains("the sweep has no dataset `other`; it has small"));
    sandbox.run_well();
    assert!(theory(&["--trial", "none"]).complaint(2).contains("has the id `none`"));
}

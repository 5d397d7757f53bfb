//! `ranksweep compare` from outside: one sweep over several datasets, several sweeps as one, and what it refuses.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use std::{collections::BTreeMap, fs};
use support::{Ended, Sandbox};

const SWEEP: &str = "\
name: tiny
datasets:
  - {name: one, source: {format: synthetic, users: 80, items: 40, interactions: 1200, seed: 1}, split: &split {kind: random, test: 0.2, validation: 0.1, seed: 7}}
  - {name: two, source: {format: synthetic, users: 60, items: 50, interactions: 1000, seed: 2}, split: *split}
  - {name: three, source: {format: synthetic, users: 90, items: 30, interactions: 1300, seed: 3}, split: *split}
grid:
  - backbones: [{kind: mf, dim: 4}]
    losses: [{kind: bpr}]
    samplers: [{kind: uniform, negatives: 5}]
    optimizer: {kind: adam, learning_rate: 0.05}
  - backbones: [{kind: popularity}, {kind: ease, regularization: 10}]
training: {epochs: 2, batch_size: 64, evaluate_every: 1, select_by: ndcg@5}
seeds: [1, 2]
evaluation: {metrics: [ndcg, recall], cutoffs: [5], significance: {tests: [paired-t], resamples: 1000, bootstrap_resamples: 1000}}
";

/// The sweep with one text replaced by another.
fn changed(from: &str, to: &str) -> String {
    assert!(SWEEP.contains(from), "`{from}` does not stand in the sweep");
    SWEEP.replace(from, to)
}

/// The sweep in parts: without the block that learns, and with nothing else.
fn halves() -> (String, String) {
    let start = SWEEP.find("  - backbones: [{kind: mf").unwrap();
    let middle = SWEEP.find("  - backbones: [{kind: popularity}").unwrap();
    let end = SWEEP.find("training:").unwrap();
    let without = format!("{}{}{}", &SWEEP[..start], &SWEEP[middle..end], &SWEEP[end..].replace("seeds: [1, 2]\n", ""));
    let only = format!("{}{}", &SWEEP[..middle], &SWEEP[end..]);
    (without, only.replace("name: tiny", "name: learned"))
}

/// A sandbox where these sweeps have run.
fn ran(sweeps: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new(SWEEP);
    for (file, sweep) in sweeps {
        sandbox.write(file, sweep);
        let ended = sandbox.ended(&mut sandbox.command(&["run", file]));
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.error);
    }
    sandbox
}

fn compare(sandbox: &Sandbox, arguments: &[&str]) -> Ended {
    sandbox.ended(&mut sandbox.command(&[&["compare"], arguments].concat()))
}

fn compared(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let ended = compare(sandbox, arguments);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.error);
    ended.out.replace('\n', " ")
}

fn files(sandbox: &Sandbox, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(sandbox.path(folder)).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

#[test]
fn a_sweep_over_datasets_is_compared_in_its_report_and_by_the_command() {
    let sandbox = ran(&[("s.yaml", SWEEP)]);
    let page = fs::read_to_string(sandbox.path("runs/sweeps/tiny/report.html")).unwrap();
    assert!(page.find("All datasets together").unwrap() < page.find("id=\"dataset-1\"").unwrap());
    let out = compared(&sandbox, &["s.yaml", "--threads", "1", "--against", "popularity"]);
    for part in ["All 3 datasets: one, two, three", "average rank", "ease", "Friedman's test", "Against popularity alone", "compare.html"] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let one = files(&sandbox, "runs/sweeps/tiny/compare");
    let names: Vec<&str> = one.keys().map(String::as_str).collect();
    let expected = ["average_ranks.parquet", "compare.html", "critical_difference.svg", "dataset_pairs.parquet", "friedman.parquet"];
    assert_eq!(names, expected);
    compared(&sandbox, &["s.yaml", "--threads", "3", "--against", "popularity", "--out", "elsewhere"]);
    assert!(one == files(&sandbox, "elsewhere"));
    let recall = compared(&sandbox, &["s.yaml", "--metric", "recall@5", "--out", "recall"]);
    assert!(recall.contains("(recall@5, "), "{recall}");
}

#[test]
fn methods_of_several_sweeps_are_joined_and_what_stands_in_both_counts_once() {
    let (without, only) = halves();
    let sandbox = ran(&[("s.yaml", SWEEP), ("without.yaml", &without.replace("name: tiny", "name: simple")), ("only.yaml", &only)]);
    compared(&sandbox, &["s.yaml", "--out", "whole"]);
    compared(&sandbox, &["only.yaml", "without.yaml", "--out", "parts"]);
    compared(&sandbox, &["s.yaml", "without.yaml", "--out", "overlapping"]);
    let (whole, parts, overlapping) = (files(&sandbox, "whole"), files(&sandbox, "parts"), files(&sandbox, "overlapping"));
    for table in ["average_ranks.parquet", "dataset_pairs.parquet", "friedman.parquet"] {
        assert!(whole[table] == parts[table], "{table} of the parts");
        assert!(whole[table] == overlapping[table], "{table} of sweeps that share methods");
    }
    let fewer = without.replace("name: tiny", "name: fewer").replace(", {kind: ease, regularization: 10}", "");
    let fewer = fewer.lines().filter(|line| !line.contains("name: two")).collect::<Vec<_>>().join("\n") + "\n";
    sandbox.write("fewer.yaml", fewer);
    assert_eq!(sandbox.ended(&mut sandbox.command(&["run", "fewer.yaml"])).code, Some(0));
    assert!(compare(&sandbox, &["fewer.yaml"]).complaint(2).ends_with("on all of one, three: 1, at least 2 are needed"));
    let out = compared(&sandbox, &["only.yaml", "fewer.yaml", "without.yaml"]);
    assert!(out.contains("All 3 datasets"), "{out}");
}

#[test]
fn sweeps_that_do_not_go_together_are_refused() {
    let (without, _) = halves();
    let with_name = |name: &str, sweep: String| sweep.replace("name: tiny", &format!("name: {name}"));
    let sandbox = ran(&[
        ("s.yaml", SWEEP),
        ("seeds.yaml", &with_name("seeds", changed("seeds: [1, 2]", "seeds: [3]"))),
        ("data.yaml", &with_name("data", without.replace("users: 60", "users: 61"))),
        ("twice.yaml", &with_name("twice", without.replace("name: two", "name: zwei"))),
        ("rules.yaml", &with_name("rules", without.replace("cutoffs: [5],", "cutoffs: [5], ties: optimistic,"))),
        (
            "single.yaml",
            &with_name(
                "single",
                without.lines().filter(|line| !line.contains("name: t") || line.starts_with("name")).collect::<Vec<_>>().join("\n"),
            ),
        ),
    ]);
    let said = |code: i32, arguments: &[&str], words: &str| {
        let ended = compare(&sandbox, arguments);
        let complaint = ended.complaint(code);
        assert!(complaint.contains(words), "{words}\n{complaint}");
    };
    said(2, &["single.yaml"], "methods are compared over 2 datasets or more, here is 1 dataset (one)");
    said(
        2,
        &["s.yaml", "--metric", "map@5"],
        "s.yaml: the sweep has no map@5; --metric takes one that all sweeps have, of ndcg@5, recall@5",
    );
    said(2, &["s.yaml", "--against", "nobody"], "--against: no method with a result on all datasets is called `nobody`; there are ");
    said(2, &["s.yaml", "seeds.yaml"], "stands in s.yaml and in seeds.yaml, trained differently on `one`");
    said(2, &["s.yaml", "data.yaml"], "dataset `two` is not the same in s.yaml and data.yaml");
    said(2, &["s.yaml", "twice.yaml"], "dataset `two` of s.yaml and dataset `zwei` of twice.yaml are the same data");
    said(2, &["s.yaml", "rules.yaml"], "s.yaml and rules.yaml have a different `evaluation.ties`");
    sandbox.write("new.yaml", with_name("new", SWEEP.to_owned()));
    said(1, &["new.yaml"], "new.yaml: the sweep has no tables yet; run `ranksweep run` first");
    said(2, &["s.yaml", "absent.yaml"], "absent.yaml");
}

/// The sweep with some of its datasets, under a name of its own.
fn with_datasets(name: &str, kept: &[&str]) -> String {
    let is_left_out = |line: &str| line.starts_with("  - {name: ") && !kept.iter().any(|kept| line.contains(&format!("{{name: {kept},")));
    let text: Vec<&str> = SWEEP.lines().filter(|line| !is_left_out(line)).collect();
    let split = "{kind: random, test: 0.2, validation: 0.1, seed: 7}";
    text.join("\n").replace("name: tiny", &format!("name: {name}")).replace(&format!("&split {split}"), split).replace("*split", split)
        + "\n"
}

/// A verdict is by the first sweep's level and test, whatever the others had.
#[test]
fn sweeps_that_decide_otherwise_are_tested_anew() {
    let second = with_datasets("second", &["three"]);
    let strict =
        second.replace("name: second", "name: strict").replace("tests: [paired-t]", "tests: [wilcoxon], over: users, alpha: 0.000001");
    let sandbox = ran(&[("first.yaml", &with_datasets("first", &["one", "two"])), ("second.yaml", &second), ("strict.yaml", &strict)]);
    let found = ["second.yaml", "strict.yaml"].map(|other| {
        compared(&sandbox, &["first.yaml", other, "--out", other.trim_end_matches(".yaml")]);
        let mut tables = files(&sandbox, other.trim_end_matches(".yaml"));
        tables.retain(|name, _| name.ends_with(".parquet"));
        tables
    });
    assert!(found[0].len() == 3 && found[0] == found[1]);
}

/// One of two seeds is trained, on three datasets.
#[test]
fn a_comparison_goes_with_its_tables_and_counts_what_was_not_trained() {
    let sandbox = ran(&[("s.yaml", &changed("seeds: [1, 2]", "seeds: [1]"))]);
    sandbox.write("s.yaml", SWEEP);
    assert_eq!(sandbox.ended(&mut sandbox.command(&["evaluate", "s.yaml", "--partial"])).code, Some(0));
    assert!(
        compared(&sandbox, &["s.yaml"]).contains("Note. When the tables of tiny were made, 3 trials of its plan had not been trained.")
    );
    let page = sandbox.path("runs/sweeps/tiny/compare/compare.html");
    assert!(page.exists());
    assert_eq!(sandbox.ended(&mut sandbox.command(&["run", "s.yaml"])).code, Some(0));
    assert!(!page.exists());
    assert!(!compared(&sandbox, &["s.yaml"]).contains("had not been trained"));
}

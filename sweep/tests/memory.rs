//! The memory that `ranksweep plan` foretells, against what the program then held.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use std::fmt::Write as _;
use support::{Ended, Sandbox};
use sweep::plan::PROGRAM;

/// Large enough that the program itself is a small part.
const SWEEP: &str = "\
name: memory
datasets:
  - name: large
    source: {format: synthetic, users: 100000, items: 60000, interactions: 300000}
    split: {kind: temporal, test: 0.01, validation: 0.01}
grid:
  - backbones: [BACKBONE]
    losses: [{kind: softmax, temperature: 0.2}]
    samplers: [{kind: uniform, negatives: NEGATIVES}]
    optimizer: {kind: adam, learning_rate: 0.01}
training: {epochs: 1, batch_size: 4096, evaluate_every: 1, select_by: ndcg@5}
evaluation: {metrics: [ndcg], cutoffs: [5], significance: {resamples: 1000}}
";

/// A sweep that is only prepared.
const PREPARED: &str = "\
name: memory
datasets:
  - name: large
    source: SOURCE
    split: SPLIT
grid:
  - backbones: [{kind: popularity}]
evaluation: {metrics: [ndcg], cutoffs: [5], significance: {resamples: 1000}}
";
const FILE: &str = "{format: delimited, path: large.csv, columns: {user: user, item: item, timestamp: time}}";
const SPLITS: [&str; 2] = ["{kind: random, test: 0.5, validation: 0.1}", "{kind: temporal, test: 0.5, validation: 0.1}"];

/// The mebibytes between two texts.
fn mebibytes(text: &str, before: &str, after: &str) -> f64 {
    let from = text.find(before).unwrap_or_else(|| panic!("`{before}` does not stand in {text}")) + before.len();
    text[from..].split_once(after).unwrap().0.trim().strip_suffix(" MiB").unwrap().parse().unwrap()
}

/// Runs a command on the sweep, which must end well.
fn said(sandbox: &Sandbox, command: &str) -> Ended {
    let ended = sandbox.ended(&mut sandbox.command(&[command, "s.yaml", "--threads", "2"]));
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.error);
    ended
}

/// The most that the process held, in mebibytes.
fn peak(ended: &Ended) -> f64 {
    mebibytes(&ended.error, "peak=\"", "\"")
}

/// The plan's part for the program itself, in mebibytes.
fn program() -> f64 {
    PROGRAM as f64 / f64::from(1 << 20)
}

/// The memory, in mebibytes, that the plan foretells for training and for ranking beside the program itself, and what they held beside it.
/// The code alone of an unoptimised program is larger than the plan says, so that it is measured by a command that does little.
fn planned_and_held(sandbox: &Sandbox, backbone: &str, negatives: u32) -> [(f64, f64); 2] {
    sandbox.write("s.yaml", SWEEP.replace("BACKBONE", backbone).replace("NEGATIVES", &negatives.to_string()));
    planned_and_held_by(sandbox)
}

/// As [`planned_and_held`], of the sweep that stands in the sandbox.
fn planned_and_held_by(sandbox: &Sandbox) -> [(f64, f64); 2] {
    said(sandbox, "prepare");
    let plan = said(sandbox, "plan");
    let held = |command: &str| peak(&said(sandbox, command)) - peak(&plan);
    let training = (mebibytes(&plan.out, "\nlarge: ", " of memory to train") - program(), held("train"));
    [training, (mebibytes(&plan.out, "largest trial, ", " to rank it") - program(), held("evaluate"))]
}

/// The memory that the plan foretells for preparing a source, and what that held, in mebibytes.
fn planned_and_held_to_prepare(source: &str, split: &str, file: &str) -> (f64, f64) {
    let sandbox = Sandbox::new(&PREPARED.replace("SOURCE", source).replace("SPLIT", split));
    sandbox.write("large.csv", file);
    let planned = mebibytes(&said(&sandbox, "plan").out, "\nlarge: ", " of memory to prepare");
    (planned, peak(&said(&sandbox, "prepare")))
}

/// `large.csv`, with the ids of a user and an item for each row.
fn file(rows: u32, ids: impl Fn(u32) -> (String, String)) -> String {
    let mut text = "user,item,time\n".to_owned();
    for row in 0..rows {
        let (user, item) = ids(row.wrapping_mul(2_654_435_769) >> 7);
        writeln!(text, "{user},{item},{}", 1_600_000_000 + row).unwrap();
    }
    text
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the peak is read from /proc")]
fn the_program_stays_within_what_the_plan_says() {
    let sandbox = Sandbox::new("");
    for (backbone, negatives) in [
        ("{kind: mf, dim: 64}", 1),
        ("{kind: mf, dim: 64}", 200),
        ("{kind: light-gcn, dim: 64, layers: 2}", 1),
        ("{kind: sas-rec, dim: 64}", 1),
    ] {
        for (planned, held) in planned_and_held(&sandbox, backbone, negatives) {
            assert!(held < 1.2 * planned && planned < 1.5 * held, "{backbone} with {negatives}: planned {planned} MiB, held {held} MiB");
        }
    }
}

/// Where a split holds users out, the dataset that training sees stands beside the whole. Popularity holds little else; users of a graph model are attached to a second graph.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the peak is read from /proc")]
fn users_who_are_held_out_are_within_what_the_plan_says() {
    let sandbox = Sandbox::new("");
    let users = "{kind: users, test: 0.3, validation: 0.3, seed: 1}";
    let source = "{format: synthetic, users: 200000, items: 60000, interactions: 6000000}";
    let popularity = PREPARED.replace("SOURCE", source).replace("SPLIT", users);
    let graph = SWEEP.replace("BACKBONE", "{kind: light-gcn, dim: 64, layers: 2}").replace("NEGATIVES", "1");
    let graph = graph.replace("{kind: temporal, test: 0.01, validation: 0.01}", users);
    for (name, text) in [("popularity", popularity), ("light-gcn", graph)] {
        sandbox.write("s.yaml", text);
        for (planned, held) in planned_and_held_by(&sandbox) {
            assert!(held < 1.2 * planned && planned < 1.5 * held, "{name}: planned {planned} MiB, held {held} MiB");
        }
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the peak is read from /proc")]
fn preparing_stays_within_what_the_plan_says() {
    let few = file(2_000_000, |draw| ((draw % 2_003).to_string(), (draw % 3_001).to_string()));
    let long = file(800_000, |draw| (format!("user-{:040x}", draw % 150_001), format!("item-{:030x}", draw % 100_003)));
    let sparse = file(400_000, |draw| ((draw % 150_001).to_string(), (draw % 99_991).to_string()));
    let synthetic = |users: u32, items: u32, interactions: u32| {
        format!("{{format: synthetic, users: {users}, items: {items}, interactions: {interactions}}}")
    };
    let (_, program_held) = planned_and_held_to_prepare(&synthetic(20, 20, 100), SPLITS[0], "");
    for (name, source, split, file) in [
        ("few", FILE, SPLITS[1], &*few),
        ("long", FILE, SPLITS[0], &*long),
        ("sparse", FILE, SPLITS[1], &*sparse),
        ("synthetic", &synthetic(100_000, 60_000, 3_000_000), SPLITS[0], ""),
    ] {
        let (planned, held) = planned_and_held_to_prepare(source, split, file);
        let (planned, held) = (planned - program(), held - program_held);
        assert!(held < 1.2 * planned && planned < 2.0 * held, "{name}: planned {planned} MiB, held {held} MiB");
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the peak is read from /proc")]
fn relations_stay_within_what_the_plan_says() {
    let sandbox = Sandbox::new(&PREPARED.replace("SOURCE", FILE).replace("SPLIT", SPLITS[1]));
    sandbox.write("large.csv", file(1_500_000, |draw| ((draw % 150_001).to_string(), (draw % 60_013).to_string())));
    let command = |command: &str| sandbox.ended(&mut sandbox.command(&[command, "s.yaml", "--threads", "2", "--memory", "32MiB"]));
    let (plan, prepared) = (command("plan"), command("prepare"));
    let planned = mebibytes(&plan.out, "\nlarge: ", " of memory to prepare by DataFusion, which spills to disk");
    let (held, program_held) = (peak(&prepared), peak(&plan));
    assert!(
        held - program_held < planned - program(),
        "planned {planned} MiB, held {held} MiB, of which {program_held} MiB by the program"
    );
}

//! What `ranksweep plan` says that memory will be, against what the program then held.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use support::Sandbox;
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

/// The mebibytes between two texts.
fn mebibytes(text: &str, before: &str, after: &str) -> f64 {
    let from = text.find(before).unwrap_or_else(|| panic!("`{before}` does not stand in {text}")) + before.len();
    text[from..].split_once(after).unwrap().0.trim().strip_suffix(" MiB").unwrap().parse().unwrap()
}

/// What the plan says of training and of ranking beside the program itself, and what they held beside it. Of an unoptimised program the
/// code alone is larger than the plan says, so that it is measured by a command that does little.
fn planned_and_held(sandbox: &Sandbox, backbone: &str, negatives: u32) -> [(f64, f64); 2] {
    sandbox.write("s.yaml", SWEEP.replace("BACKBONE", backbone).replace("NEGATIVES", &negatives.to_string()));
    let said = |command: &str| {
        let ended = sandbox.ended(&mut sandbox.command(&[command, "s.yaml", "--threads", "2"]));
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.error);
        ended
    };
    said("prepare");
    let (plan, program) = (said("plan"), PROGRAM as f64 / f64::from(1 << 20));
    let peak = |log: &str| mebibytes(log, "peak=\"", "\"");
    let held = |command: &str| peak(&said(command).error) - peak(&plan.error);
    let training = (mebibytes(&plan.out, "\nlarge: ", " of memory to train") - program, held("train"));
    [training, (mebibytes(&plan.out, "largest trial, ", " to rank it") - program, held("evaluate"))]
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the peak is read from /proc")]
fn the_program_stays_within_what_the_plan_says() {
    let sandbox = Sandbox::new("");
    for (backbone, negatives) in [("{kind: mf, dim: 64}", 1), ("{kind: mf, dim: 64}", 200), ("{kind: light-gcn, dim: 64, layers: 2}", 1)] {
        for (planned, held) in planned_and_held(&sandbox, backbone, negatives) {
            assert!(held < 1.2 * planned && planned < 1.5 * held, "{backbone} with {negatives}: planned {planned} MiB, held {held} MiB");
        }
    }
}

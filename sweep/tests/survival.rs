//! The work that survives an interrupt and a limit of time, and the exit codes that tell a controller.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use support::{SWEEP, Sandbox, changed, signal, work_until};
use sweep::tables::Status;

/// A limit that is over before the first step.
fn without_time() -> String {
    changed("training: {", "training: {time_limit_minutes: 1.0e-9, ")
}

fn train(sandbox: &Sandbox, index: &str) -> support::Ended {
    sandbox.ended(&mut sandbox.command(&["train", "s.yaml", "--index", index]))
}

#[test]
fn a_trial_without_time_ends_with_124_and_a_larger_limit_goes_on() {
    let (whole, sandbox) = (Sandbox::new(SWEEP), Sandbox::new(&without_time()));
    whole.run_well();
    sandbox.prepare();
    for _ in 0..2 {
        let ended = train(&sandbox, "0");
        let complaint = ended.complaint(124);
        assert!(complaint.starts_with("the trial is not done: the time limit of ") && complaint.contains("larger limit"), "{complaint}");
    }
    assert!(sandbox.stored("done.json").is_empty());
    sandbox.write("s.yaml", SWEEP);
    sandbox.run_well();
    assert!(sandbox.results() == whole.results() && sandbox.timeless_rows() == whole.timeless_rows());
}

#[test]
fn trials_without_time_do_not_take_the_sweep_down() {
    let sandbox = Sandbox::new(&without_time());
    let ended = sandbox.run();
    assert_eq!(ended.complaint(1), "2 trials did not end; everything else was done");
    let (rows, _) = sandbox.timeless_rows();
    let status: Vec<(Status, bool)> = rows.iter().map(|row| (row.status, row.error.is_some())).collect();
    assert_eq!(status, [(Status::Missing, true), (Status::Missing, true), (Status::Done, false)]);
    assert!(ended.out.contains("the time limit of") && ended.out.contains("popularity"), "{}", ended.out);
    let status = sandbox.ended(&mut sandbox.command(&["status", "s.yaml"]));
    assert!(status.out.contains("1 done, 0 running, 0 waiting, 2 failed"), "{}", status.out);
}

#[test]
fn a_sweep_whose_time_is_over_has_ended_for_whoever_watches_it() {
    let sandbox = Sandbox::new(&endless().replace("training: {", "training: {time_limit_minutes: 0.01, "));
    assert_eq!(sandbox.run().complaint(1), "2 trials did not end; everything else was done");
    let watch = |flags: &[&str]| {
        let mut command = sandbox.command(&["status", "s.yaml", "--watch"]);
        command.args(flags).env("HOME", sandbox.path("home")).env_remove("KUBECONFIG").env_remove("KUBERNETES_SERVICE_HOST");
        sandbox.ended(&mut command)
    };
    let watched = watch(&[]);
    assert_eq!(watched.code, Some(1), "{}", watched.error);
    let json: serde_json::Value = serde_json::from_str(watch(&["--json"]).out.trim()).unwrap();
    assert_eq!(json["counts"], serde_json::json!({"done": 1, "failed": 2}));
    assert!(!watched.out.contains("note:"), "no cluster is missed where none is named: {}", watched.out);
    assert!(watched.out.contains("1 done, 0 running, 0 waiting, 2 failed"), "{}", watched.out);
    assert!(watched.out.contains("a larger limit goes on from it"), "{}", watched.out);
}

#[test]
fn a_part_of_a_sweep_can_be_evaluated_and_reported() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.prepare();
    assert_eq!(train(&sandbox, "1").code, Some(0));
    let refused = sandbox.ended(&mut sandbox.command(&["evaluate", "s.yaml"]));
    assert!(refused.complaint(1).starts_with("2 of 3 trials are not trained"), "{}", refused.error);
    let ended = sandbox.ended(&mut sandbox.command(&["evaluate", "s.yaml", "--partial", "--report"]));
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    let remark = "2 trials of the plan were not trained when these tables were made.";
    assert!(ended.out.contains("softmax") && ended.out.contains(remark), "{}", ended.out);
    let status: Vec<Status> = sandbox.timeless_rows().0.iter().map(|row| row.status).collect();
    assert_eq!(status, [Status::Missing, Status::Done, Status::Missing]);
    for name in ["leaderboard.parquet", "report.html", "metrics.parquet", "plan.json"] {
        assert_eq!(sandbox.stored(name).len(), 1, "{name}");
    }
    // What was missing is trained later, and the whole is as if it had been so from the start.
    let whole = Sandbox::new(SWEEP);
    whole.run_well();
    sandbox.run_well();
    assert!(sandbox.results() == whole.results());
}

/// Far more epochs than this test waits for.
fn endless() -> String {
    changed("epochs: 2,", "epochs: 10000000, checkpoint_minutes: 1000,").replace("evaluate_every: 1,", "evaluate_every: 10,")
}

#[test]
fn a_signal_has_training_leave_its_state_and_end_with_75() {
    for (signals, arguments) in [
        (&["TERM"][..], &["train", "s.yaml", "--index", "0"][..]),
        (&["INT"], &["run", "s.yaml"]),
        (&["INT", "INT"], &["run", "s.yaml", "--log-format", "json"]),
    ] {
        let sandbox = Sandbox::new(&endless());
        sandbox.prepare();
        let (mut child, lines) = work_until(&mut sandbox.command(arguments), "evaluated");
        signals.iter().for_each(|name| signal(&child, name));
        let last = lines.last().unwrap_or_default();
        assert_eq!(child.wait().unwrap().code(), Some(75), "{last}");
        assert!(last.contains("interrupted") && last.contains("again to go on"), "{last}");
        assert!(sandbox.stored("done.json").is_empty() && sandbox.stored("resume/state.safetensors").len() == 1);
    }
}

/// A terminal that closes is an interrupt, but for a program that is to outlive it.
#[test]
fn a_closed_terminal_is_an_interrupt_without_nohup() {
    let sandbox = Sandbox::new(&endless());
    sandbox.prepare();
    let train = ["train", "s.yaml", "--index", "0"];
    let direct = sandbox.command(&train);
    let mut spared = std::process::Command::new("nohup");
    spared.arg(direct.get_program()).args(direct.get_args()).current_dir(sandbox.path(".")).stdin(std::process::Stdio::null());
    let (mut child, mut lines) = work_until(&mut spared, "evaluated");
    signal(&child, "HUP");
    assert!(lines.any(|line| line.contains("evaluated")), "it goes on");
    signal(&child, "TERM");
    drop(lines.last());
    assert_eq!(child.wait().unwrap().code(), Some(75));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored =
        status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    if ignored & 1 == 0 {
        let (mut child, lines) = work_until(&mut sandbox.command(&train), "evaluated");
        signal(&child, "HUP");
        assert!(lines.last().unwrap_or_default().contains("interrupted"));
        assert_eq!(child.wait().unwrap().code(), Some(75));
    }
}

#[test]
fn a_later_evaluation_says_of_a_trial_without_time_what_its_training_said() {
    let sandbox = Sandbox::new(&endless());
    sandbox.prepare();
    let (mut child, lines) = work_until(&mut sandbox.command(&["train", "s.yaml", "--index", "0"]), "evaluated");
    signal(&child, "TERM");
    drop(lines.last());
    assert_eq!(child.wait().unwrap().code(), Some(75));
    sandbox.write("s.yaml", endless().replace("training: {", "training: {time_limit_minutes: 1.0e-9, "));
    let ended = train(&sandbox, "0");
    let error = ended.complaint(124).strip_prefix("the trial is not done: ").unwrap();
    assert_eq!(train(&sandbox, "2").code, Some(0));
    let refused = sandbox.ended(&mut sandbox.command(&["evaluate", "s.yaml"]));
    assert!(refused.complaint(1).starts_with("2 of 3 trials are not trained"), "{}", refused.error);
    let partial = sandbox.ended(&mut sandbox.command(&["evaluate", "s.yaml", "--partial"]));
    assert_eq!(partial.code, Some(0), "{}", partial.error);
    let rows: Vec<_> = sandbox.timeless_rows().0.into_iter().map(|row| (row.status, row.selected, row.error)).collect();
    let expected = [(Status::Missing, false, Some(error.to_owned())), (Status::Missing, false, None), (Status::Done, true, None)];
    assert_eq!(rows, expected);
}

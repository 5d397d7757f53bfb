//! Processes that train one sweep together.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, SystemTime},
};
use support::{Sandbox, changed};

/// Twelve learned trials and popularity.
fn sweep() -> String {
    changed("learning_rate: 0.05", "learning_rate: [0.05, 0.02]").replace("evaluation:", "seeds: [1, 2, 3]\nevaluation:")
}

fn start(sandbox: &Sandbox, share: &str) -> Child {
    let mut command = sandbox.command(&["train", "s.yaml", share, "--threads", "1", "--log-format", "json"]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for the end, adds how often each trial was trained, and gives the log.
fn finish(child: Child, trained: &mut BTreeMap<String, usize>) -> String {
    let output = child.wait_with_output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    for line in log.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        if event["fields"]["message"] == "trained" {
            *trained.entry(event["fields"]["trial"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    log
}

fn alone() -> Sandbox {
    let alone = Sandbox::new(&sweep());
    alone.run_well();
    alone
}

fn prepared() -> Sandbox {
    let sandbox = Sandbox::new(&sweep());
    assert_eq!(sandbox.ended(&mut sandbox.command(&["prepare", "s.yaml"])).code, Some(0));
    sandbox
}

#[test]
fn two_processes_train_each_trial_once_and_end_with_the_bytes_of_one() {
    let shared = prepared();
    let (first, second) = (start(&shared, "--share"), start(&shared, "--share"));
    let mut trained = BTreeMap::new();
    finish(first, &mut trained);
    finish(second, &mut trained);
    assert_eq!(trained.len(), 13);
    assert!(trained.values().all(|count| *count == 1), "{trained:?}");
    assert_eq!(shared.stored("/claims/000001.json").len(), 0);
    shared.run_well();
    assert!(shared.results() == alone().results());
}

/// Where no file can be written, the store's conditions are not what is wrong.
#[test]
fn a_storage_that_takes_no_claim_is_told_by_its_own_words() {
    let shared = prepared();
    std::fs::write(shared.path("runs/claims"), "a file where a folder is expected").unwrap();
    let refused = shared.ended(&mut shared.command(&["train", "s.yaml", "--share"]));
    let complaint = refused.complaint(1);
    assert!(complaint.contains("Not a directory") && !complaint.contains("honours"), "{complaint}");
}

#[test]
fn the_trial_of_a_killed_process_is_taken_over() {
    let shared = prepared();
    let mut killed = start(&shared, "--share=0.005");
    let mut log = BufReader::new(killed.stderr.take().unwrap()).lines();
    assert!(log.any(|line| line.unwrap().contains("\"training\"")));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let mut trained = BTreeMap::new();
    let log = finish(start(&shared, "--share=0.005"), &mut trained);
    let waiting = log.lines().find(|line| line.contains("waiting for trials that others hold; who is silent for 300ms loses them"));
    assert!(waiting.is_some_and(|line| line.contains(&format!("(process {})", killed.id()))), "{log}");
    shared.run_and_sweep();
    assert!(shared.results() == alone().results());
    assert!(shared.stored(".json").iter().all(|file| !file.to_str().unwrap().contains("/claims/")));
}

/// Three trials of many short epochs, each of which is evaluated.
fn long() -> String {
    changed("epochs: 2,", "epochs: 40,")
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap().success());
}

/// A claim counts for as long as it may go unrenewed by the default, three minutes, by the time at which its file was written.
#[test]
fn status_says_which_trial_a_process_trains() {
    let sandbox = Sandbox::new(&long());
    sandbox.prepare();
    let mut process = start(&sandbox, "--share");
    let mut log = BufReader::new(process.stderr.take().unwrap()).lines();
    assert!(log.any(|line| line.unwrap().contains("evaluated")));
    process.kill().unwrap();
    process.wait().unwrap();
    let status = || sandbox.ended(&mut sandbox.command(&["status", "s.yaml"])).out;
    let owner = format!("(process {})", process.id());
    assert!(status().contains("1 running") && status().contains(&owner), "{}", status());
    let [claim] = &sandbox.stored("/claims/000001.json")[..] else { panic!("one trial is claimed") };
    let file = std::fs::File::options().write(true).open(claim).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(181)).unwrap();
    assert!(status().contains("0 running") && status().contains("not ended, and can go on"), "{}", status());
}

/// Has a process train until it has said so many lines of a kind; then it is stopped, and others finish the sweep. It goes on, and is killed
/// after some more lines, or ends.
fn overtaken(whole: &Sandbox, arguments: &[&str], before: usize, after: Option<usize>) {
    let sandbox = Sandbox::new(&long());
    sandbox.prepare();
    let mut first = sandbox.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(first.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert_eq!(lines.by_ref().filter(|line| line.contains("evaluated")).take(before).count(), before);
    signal(&first, "STOP");
    let second = sandbox.ended(&mut sandbox.command(arguments));
    assert_eq!(second.code, Some(0), "{}", second.error);
    signal(&first, "CONT");
    match after {
        Some(after) => {
            let seen = lines.by_ref().take(after).count();
            first.kill().unwrap();
            assert!(seen <= after);
            first.wait().unwrap();
        }
        None => {
            let said: Vec<String> = lines.collect();
            assert_eq!(first.wait().unwrap().code(), Some(0), "{said:?}");
        }
    }
    sandbox.run_and_sweep();
    assert!(sandbox.results() == whole.results(), "{arguments:?}, stopped after {before}, killed after {after:?}");
    assert!(sandbox.timeless_rows() == whole.timeless_rows(), "{arguments:?}, stopped after {before}, killed after {after:?}");
}

#[test]
fn who_was_stopped_and_overtaken_harms_nothing_wherever_it_is_killed() {
    let whole = Sandbox::new(&long());
    whole.run_well();
    for arguments in [&["train", "s.yaml", "--share=0.004", "--threads", "1"][..], &["train", "s.yaml", "--threads", "1"]] {
        for (before, after) in [(1, Some(0)), (33, Some(9)), (5, None)] {
            overtaken(&whole, arguments, before, after);
        }
    }
}

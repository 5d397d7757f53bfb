//! What `ranksweep gc` removes, and what it never touches.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use std::{collections::BTreeSet, path::Path};
use support::{SWEEP, Sandbox, changed};

impl Sandbox {
    fn gc(&self, flags: &[&str]) -> String {
        let ended = self.ended(self.command(&["gc", "s.yaml"]).args(flags));
        assert_eq!(ended.code, Some(0), "{}", ended.error);
        ended.out
    }

    fn put(&self, path: &str, content: &str) {
        let file = self.path(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }

    /// The folder of the storage below `under`, which has one whose name begins like this.
    fn folder(&self, under: &str, start: &str) -> String {
        let names = self.path("runs").join(under).read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(start)).collect();
        names.sort();
        format!("runs/{under}/{}", names[0])
    }
}

fn files(sandbox: &Sandbox) -> BTreeSet<String> {
    let root = sandbox.path("");
    sandbox.stored("").iter().map(|file| file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()).collect()
}

/// A claim as its owner left it.
const CLAIM: &str = r#"{"owner":"pod-7 (process 1)","nonce":"n","renewals":4,"renewed_every":0.05,"released":false}"#;

#[test]
fn leftovers_go_and_results_stay() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    assert_eq!(sandbox.gc(&[]), "0 files removed, 0 B\n");
    let whole = files(&sandbox);
    let (trial, dataset) = (sandbox.folder("trials", ""), sandbox.folder("datasets", "small-"));
    let left = [
        (format!("{trial}/resume/state.safetensors"), "state of a training that has ended"),
        (format!("{trial}/claims/000001.json"), "claim on a trial that has ended"),
        (format!("{trial}/checkpoint/scorer.json#1"), "never finished writing"),
        (format!("{dataset}/train.parquet#12"), "never finished writing"),
        ("runs/datasets/other-0000/train.parquet".to_owned(), "of a dataset that was not finished"),
        ("runs/claims/probe-1".to_owned(), "a test of the storage"),
        ("runs/sweeps/tiny/per_user/ffff.parquet".to_owned(), "of no plan of this sweep"),
    ];
    left.iter().for_each(|(path, _)| sandbox.put(path, CLAIM));
    // Trials that have not ended, of this sweep or another, keep what they go on from.
    sandbox.put("runs/trials/unfinished/resume/state.safetensors", "state");
    sandbox.put("runs/sweeps/other/per_user/ffff.parquet", "table");
    let full = files(&sandbox);
    let told = sandbox.gc(&["--dry-run"]);
    assert_eq!(files(&sandbox), full);
    for (path, reason) in &left {
        let line = told.lines().find(|line| line.starts_with(path.trim_start_matches("runs/"))).unwrap_or_else(|| panic!("{path}: {told}"));
        assert!(line.ends_with(reason), "{line}");
    }
    assert!(told.ends_with(&format!("7 files would be removed, {} B\n", 7 * CLAIM.len())), "{told}");
    assert_eq!(sandbox.gc(&[]).lines().count(), 8);
    let kept = ["runs/trials/unfinished/resume/state.safetensors", "runs/sweeps/other/per_user/ffff.parquet"].map(str::to_owned);
    assert_eq!(files(&sandbox), whole.union(&BTreeSet::from(kept)).cloned().collect());
}

#[test]
fn tables_without_a_plan_go() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let whole = sandbox.results();
    std::fs::remove_file(sandbox.path("runs/sweeps/tiny/plan.json")).unwrap();
    sandbox.gc(&[]);
    assert!(!files(&sandbox).iter().any(|file| file.starts_with("runs/sweeps/")));
    sandbox.run_well();
    assert!(sandbox.results() == whole);
}

#[test]
fn what_no_sweep_holds_goes_when_asked() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let first = files(&sandbox);
    sandbox.write("s.yaml", changed("name: tiny", "name: second").replace("learning_rate: 0.05", "learning_rate: 0.01"));
    sandbox.run_well();
    let both = files(&sandbox);
    assert_eq!(sandbox.gc(&["--unreferenced"]), "0 files removed, 0 B\n");
    assert_eq!(files(&sandbox), both);
    std::fs::remove_dir_all(sandbox.path("runs/sweeps/tiny")).unwrap();
    let told = sandbox.gc(&["--unreferenced"]);
    assert!(told.contains("of a trial that no sweep holds"), "{told}");
    let second = files(&sandbox);
    assert!(second.is_subset(&both) && second.len() < both.len());
    // Popularity has no learning rate: both sweeps hold that trial, and the dataset.
    let trials = |files: &BTreeSet<String>| files.iter().filter(|file| file.ends_with("/done.json")).count();
    assert_eq!((trials(&first), trials(&both), trials(&second)), (3, 5, 3));
    sandbox.put("runs/sweeps/broken/plan.json", "{}");
    let refused = sandbox.ended(&mut sandbox.command(&["gc", "s.yaml", "--unreferenced"]));
    assert!(refused.complaint(1).contains("sweeps/broken/plan.json is not a plan that this build reads; nothing was removed"));
}

#[test]
fn a_living_claim_is_respected_and_a_dead_one_is_not() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let claim = "runs/trials/unfinished/claims/000001.json";
    sandbox.put(claim, CLAIM);
    sandbox.gc(&[]);
    assert!(Path::new(&sandbox.path(claim)).exists());
    let long = CLAIM.replace("0.05", "3600");
    sandbox.put(claim, &long);
    let mut refused = sandbox.command(&["gc", "s.yaml"]);
    let child = refused.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    // Its owner renews it again and again, as long as it takes.
    let ended = std::thread::scope(|threads| {
        let waiting = threads.spawn(|| child.wait_with_output().unwrap());
        let mut renewals = 5;
        while !waiting.is_finished() {
            let at = sandbox.location(claim);
            at.write(long.replace("\"renewals\":4", &format!("\"renewals\":{renewals}"))).unwrap();
            renewals += 1;
            std::thread::yield_now();
        }
        waiting.join().unwrap()
    });
    assert_eq!(ended.status.code(), Some(1));
    let error = String::from_utf8(ended.stderr).unwrap();
    assert!(error.contains("a trial is being worked on by pod-7 (process 1); wait for its end or stop it"), "{error}");
}

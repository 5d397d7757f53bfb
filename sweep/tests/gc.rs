//! The files that `ranksweep gc` removes, and those that it never touches.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use std::{collections::BTreeSet, os::unix::fs::symlink, path::Path};
use support::{SWEEP, Sandbox, changed};

impl Sandbox {
    fn gc(&self, flags: &[&str]) -> String {
        let yes = if flags.contains(&"--dry-run") { None } else { Some("--yes") };
        let ended = self.ended(self.command(&["gc", "s.yaml", "--min-age", "0"]).args(flags).args(yes));
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
    let table = std::fs::read(sandbox.path(&format!("{dataset}/train.parquet"))).unwrap();
    let left = [
        (format!("{trial}/resume/state.safetensors"), "state of a training that has ended"),
        (format!("{trial}/claims/000001.json"), "claim on a trial that has ended"),
        (format!("{trial}/checkpoint/0123456789abcdef/scorer.json"), "of an attempt at a trial that does not count"),
        (format!("{trial}/curve/0123456789abcdef.parquet"), "of an attempt at a trial that does not count"),
        (format!("{trial}/checkpoint/0123456789abcdef/scorer.json#1"), "never finished writing"),
        (format!("{dataset}/train.parquet#12"), "never finished writing"),
        ("runs/sweeps/tiny/plan.json#3".to_owned(), "never finished writing"),
        ("runs/claims/probe-0123456789abcdef0123456789abcdef".to_owned(), "a test of the storage"),
        ("runs/sweeps/tiny/per_user/ffffffffffffffff.parquet".to_owned(), "of no plan of this sweep"),
    ];
    left.iter().for_each(|(path, _)| sandbox.put(path, if path.contains("/probe-") { "first" } else { CLAIM }));
    let unfinished = "runs/datasets/other-0123456789abcdef/train.parquet";
    sandbox.put(unfinished, "");
    std::fs::write(sandbox.path(unfinished), table).unwrap();
    // Trials that have not ended, of this sweep or another, keep what they go on from.
    let kept = ["runs/trials/fedcba9876543210/resume/state.safetensors", "runs/sweeps/other/per_user/ffffffffffffffff.parquet"];
    kept.iter().for_each(|path| sandbox.put(path, "state"));
    let full = files(&sandbox);
    let told = sandbox.gc(&["--dry-run"]);
    assert_eq!(files(&sandbox), full);
    for (path, reason) in
        left.iter().map(|(path, reason)| (path.as_str(), *reason)).chain([(unfinished, "of a dataset that was not finished")])
    {
        let line = told.lines().find(|line| line.starts_with(path.trim_start_matches("runs/"))).unwrap_or_else(|| panic!("{path}: {told}"));
        assert!(line.ends_with(reason), "{line}");
    }
    assert!(told.contains("\n10 files would be removed, "), "{told}");
    assert_eq!(sandbox.gc(&[]).lines().count(), 11);
    assert_eq!(files(&sandbox), whole.union(&BTreeSet::from(kept.map(str::to_owned))).cloned().collect());
}

/// Results of another plan than the one that the sweep file now has are results all the same.
#[test]
fn results_of_the_file_before_it_was_edited_stay() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let whole = files(&sandbox);
    sandbox.write("s.yaml", changed("learning_rate: 0.05", "learning_rate: 0.02"));
    assert_eq!(sandbox.gc(&[]), "0 files removed, 0 B\n");
    assert_eq!(files(&sandbox), whole);
    sandbox.run_well();
    sandbox.write("s.yaml", SWEEP);
    sandbox.run_well();
}

/// Files of users among those of ranksweep: each stands where an earlier version deleted it.
const OWN: [&str; 12] = [
    "claims/insurance.csv",
    "claims/probe-0123456789abcdef0123456789abcdef",
    "datasets/ml-100k/u.data",
    "datasets/ml-100k/train.parquet",
    "datasets/raw-0123456789abcdef/train.parquet",
    "datasets/raw-0123456789abcdef/notes.txt",
    "exports/chapter#1",
    "trials/phase#3",
    "trials/0123456789abcdef/resume/state.safetensors",
    "trials/0123456789abcdef/done.json",
    "trials/phase-3/resume/state.safetensors",
    "sweeps/tiny/own.parquet",
];

#[test]
fn what_users_store_beside_it_stays() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    OWN.iter().for_each(|path| sandbox.put(&format!("runs/{path}"), "their own"));
    let trial = sandbox.folder("trials", "");
    for own in ["notes#2", "checkpoint/best/scorer.json", "resume/notes.txt", "per_user.csv"] {
        sandbox.put(&format!("{trial}/{own}"), "their own");
    }
    let all = files(&sandbox);
    for flags in [&[][..], &["--unreferenced"]] {
        assert_eq!(sandbox.gc(flags), "0 files removed, 0 B\n");
        assert_eq!(files(&sandbox), all);
    }
}

/// What another process may be writing: parts of a dataset, a trial or tables whose marker comes last, in folders that something was written into of late.
#[test]
fn what_was_written_of_late_is_left_alone() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let (dataset, trial) = (sandbox.folder("datasets", ""), sandbox.folder("trials", ""));
    for file in ["manifest.json", "users.parquet"] {
        std::fs::remove_file(sandbox.path(&format!("{dataset}/{file}"))).unwrap();
    }
    sandbox.put(&format!("{trial}/resume/state.safetensors"), "state");
    sandbox.put("runs/sweeps/tiny/leaderboard.parquet#1", "half");
    let all = files(&sandbox);
    let by_default = sandbox.ended(&mut sandbox.command(&["gc", "s.yaml", "--yes"]));
    assert_eq!(by_default.code, Some(0), "{}", by_default.error);
    assert!(
        by_default.out.starts_with("0 files removed, 0 B\n") && by_default.out.contains("left alone: something was written beside them")
    );
    assert_eq!(files(&sandbox), all);
    // An old file stays as long as another of its folder is young.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    let age = |path: &str| std::fs::File::options().append(true).open(sandbox.path(path)).unwrap().set_modified(old).unwrap();
    let below: Vec<String> = all.iter().filter(|file| file.starts_with(&dataset)).cloned().collect();
    below.iter().skip(1).for_each(|file| age(file));
    let after = |what: &str| {
        let ended = sandbox.ended(&mut sandbox.command(&["gc", "s.yaml", "--yes"]));
        assert_eq!(ended.code, Some(0), "{what}: {}", ended.error);
        files(&sandbox)
    };
    assert_eq!(after("one is young"), all);
    age(&below[0]);
    let left = after("all are old");
    assert!(left.len() < all.len() && all.difference(&left).all(|file| file.starts_with(&dataset)), "{left:?}");
    assert!(sandbox.path(&format!("{trial}/resume/state.safetensors")).exists(), "its trial was written of late");
}

#[test]
fn a_storage_without_the_mark_is_refused() {
    let sandbox = Sandbox::new(SWEEP);
    OWN.iter().for_each(|path| sandbox.put(&format!("runs/{path}"), "their own"));
    let all = files(&sandbox);
    for flag in ["--yes", "--dry-run", "--unreferenced"] {
        let refused = sandbox.ended(&mut sandbox.command(&["gc", "s.yaml", "--min-age", "0", flag]));
        let complaint = refused.complaint(1);
        assert!(complaint.starts_with("FOLDER/runs has no mark of ranksweep (ranksweep.json)"), "{complaint}");
    }
    assert_eq!(files(&sandbox), all);
    sandbox.run_well();
    sandbox.gc(&[]);
    assert!(OWN.iter().all(|path| sandbox.path(&format!("runs/{path}")).exists()));
}

#[test]
fn nothing_behind_a_link_is_touched() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let trial = sandbox.folder("trials", "");
    let state = "elsewhere/state.safetensors";
    sandbox.put(state, CLAIM);
    let _ = std::fs::remove_dir(sandbox.path(&format!("{trial}/resume")));
    symlink(sandbox.path("elsewhere"), sandbox.path(&format!("{trial}/resume"))).unwrap();
    sandbox.put("elsewhere/scorer.json#1", "half");
    std::fs::create_dir_all(sandbox.path(&format!("{trial}/claims"))).unwrap();
    symlink(sandbox.path(state), sandbox.path(&format!("{trial}/claims/000001.json"))).unwrap();
    assert_eq!(sandbox.gc(&[]), "0 files removed, 0 B\n");
    assert!(sandbox.path(state).exists() && sandbox.path(&format!("{trial}/claims/000001.json")).is_symlink());
}

#[test]
fn where_nobody_can_be_asked_yes_is_needed() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let state = format!("{}/resume/state.safetensors", sandbox.folder("trials", ""));
    sandbox.put(&state, "state");
    let refused = sandbox.ended(&mut sandbox.command(&["gc", "s.yaml", "--min-age", "0"]));
    assert_eq!(refused.complaint(2), "1 file would be removed, and nobody can be asked here: pass --yes, or --dry-run to look");
    assert!(refused.out.contains("state of a training that has ended") && sandbox.path(&state).exists(), "{}", refused.out);
    sandbox.gc(&[]);
    assert!(!sandbox.path(&state).exists());
    let nothing = sandbox.ended(&mut sandbox.command(&["gc", "s.yaml", "--min-age", "0"]));
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(0), "0 files removed, 0 B\n"));
}

/// A terminal, as a program under test sees it: what is typed there, and what is shown.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
mod terminal {
    use std::{
        fs::File,
        io::{Read, Write},
        os::fd::{FromRawFd, OwnedFd},
        process::Command,
    };

    /// Runs the program in a terminal; once it shows the question, the answer is typed. Gives its exit code and all that was shown.
    pub(crate) fn answered(command: &mut Command, question: &str, answer: &str) -> (Option<i32>, String) {
        let (mut own, mut its) = (0, 0);
        // SAFETY: both places are valid for a descriptor each, and none of the other settings is given.
        let opened = unsafe { libc::openpty(&mut own, &mut its, std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut()) };
        assert_eq!(opened, 0, "the system gives no terminal");
        // SAFETY: `openpty` opened both, and nothing else owns them.
        let (mut own, its) = unsafe { (File::from_raw_fd(own), OwnedFd::from_raw_fd(its)) };
        let another = || its.try_clone().unwrap();
        let mut child = command.stdin(another()).stdout(another()).stderr(another()).spawn().unwrap();
        drop(its);
        // The command holds the terminal until it is given other streams.
        command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let (mut shown, mut block, mut is_answered) = (Vec::new(), [0; 4096], false);
        // When the last of its side is closed, reading fails.
        while let Ok(length @ 1..) = own.read(&mut block) {
            shown.extend_from_slice(&block[..length]);
            if !is_answered && String::from_utf8_lossy(&shown).contains(question) {
                is_answered = true;
                writeln!(own, "{answer}").unwrap();
            }
        }
        (child.wait().unwrap().code(), String::from_utf8(shown).unwrap())
    }
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_files_go_only_when_somebody_says_so() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let state = format!("{}/resume/state.safetensors", sandbox.folder("trials", ""));
    for (answer, goes) in [("", false), ("n", false), ("of course not", false), ("y", true), ("yes", true)] {
        sandbox.put(&state, "state");
        let (code, shown) = terminal::answered(&mut sandbox.command(&["gc", "s.yaml", "--min-age", "0"]), "remove 1 file? [y/N] ", answer);
        let (listed, asked) = (shown.find("state of a training that has ended").unwrap(), shown.find("remove 1 file? [y/N] ").unwrap());
        assert!(code == Some(0) && listed < asked, "{shown}");
        assert!(shown.contains(if goes { "1 file removed, 5 B" } else { "1 file would be removed, 5 B" }), "{shown}");
        assert_eq!(sandbox.path(&state).exists(), !goes, "{answer}");
    }
}

#[test]
fn tables_without_a_marker_go() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let whole = sandbox.results();
    std::fs::remove_file(sandbox.path("runs/sweeps/tiny/tables.json")).unwrap();
    sandbox.gc(&[]);
    let left: Vec<String> = files(&sandbox).into_iter().filter(|file| file.starts_with("runs/sweeps/")).collect();
    assert_eq!(left, ["runs/sweeps/tiny/plan.json"]);
    sandbox.run_well();
    assert!(sandbox.results() == whole);
}

#[test]
fn the_state_of_a_training_that_goes_on_for_a_damaged_marker_stays() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let markers = sandbox.stored("done.json");
    let states: Vec<_> = markers[..2].iter().map(|marker| marker.with_file_name("resume").join("state.safetensors")).collect();
    for state in &states {
        std::fs::create_dir_all(state.parent().unwrap()).unwrap();
        std::fs::write(state, "state").unwrap();
    }
    std::fs::write(&markers[0], "{").unwrap();
    sandbox.gc(&[]);
    assert_eq!([states[0].exists(), states[1].exists()], [true, false], "of what is trained again, and of what has ended");
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
    let refused = sandbox.ended(&mut sandbox.command(&["gc", "s.yaml", "--min-age", "0", "--unreferenced", "--yes"]));
    assert!(refused.complaint(1).contains("sweeps/broken/plan.json is not a plan that this build reads; nothing was removed"));
}

#[test]
fn a_living_claim_is_respected_and_a_dead_one_is_not() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.run_well();
    let claim = "runs/trials/fedcba9876543210/claims/000001.json";
    sandbox.put(claim, CLAIM);
    sandbox.gc(&[]);
    assert!(Path::new(&sandbox.path(claim)).exists());
    let long = CLAIM.replace("0.05", "3600");
    sandbox.put(claim, &long);
    let mut refused = sandbox.command(&["gc", "s.yaml", "--min-age", "0", "--yes"]);
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

//! Every file of a finished and of an interrupted sweep, damaged: each command gives what it gave before, or names the file, and `run` mends.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use support::{Ended, SWEEP, Sandbox, changed};

/// The damage that can befall a file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Flipped,
    Cut,
    Emptied,
    /// Exchanged with a file of the same kind.
    Swapped,
    Deleted,
}

const DAMAGES: [Damage; 5] = [Damage::Flipped, Damage::Cut, Damage::Emptied, Damage::Swapped, Damage::Deleted];

/// The commands that read what is stored.
const READERS: [&[&str]; 7] = [
    &["status", "s.yaml", "--json"],
    &["plan", "s.yaml"],
    &["report", "s.yaml"],
    &["list", "--storage", "runs"],
    &["groups", "s.yaml", "--users", "users.csv", "--column", "side"],
    &["recommend", "s.yaml", "--out", "lists.parquet"],
    &["evaluate", "s.yaml", "--report"],
];

type Files = BTreeMap<PathBuf, Vec<u8>>;

fn storage(sandbox: &Sandbox) -> Files {
    let read = |path: PathBuf| (path.strip_prefix(sandbox.path("runs")).unwrap().to_owned(), std::fs::read(&path).unwrap());
    sandbox.stored("").into_iter().map(read).collect()
}

fn restore(sandbox: &Sandbox, files: &Files) {
    std::fs::remove_dir_all(sandbox.path("runs")).unwrap();
    for (path, content) in files {
        let at = sandbox.path("runs").join(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, content).unwrap();
    }
}

/// A file of the same kind as another: of its name elsewhere, or of its ending beside it.
fn like<'a>(files: &'a Files, path: &Path) -> Option<&'a PathBuf> {
    let others = || files.keys().filter(|other| *other != path && files[*other] != files[path]);
    let named = others().find(|other| other.file_name() == path.file_name());
    named.or_else(|| others().find(|other| other.parent() == path.parent() && other.extension() == path.extension()))
}

/// Damages a file of the storage; gives the files that differ, none where the damage cannot befall it.
fn damage<'a>(sandbox: &Sandbox, files: &'a Files, path: &'a Path, damage: Damage) -> Vec<&'a Path> {
    let (at, content) = (sandbox.path("runs").join(path), &files[path]);
    match damage {
        Damage::Flipped => {
            let mut content = content.clone();
            let middle = content.len() / 2;
            content[middle] ^= 1;
            std::fs::write(at, content).unwrap();
        }
        Damage::Cut => std::fs::write(at, &content[..content.len() / 2]).unwrap(),
        Damage::Emptied => std::fs::write(at, "").unwrap(),
        Damage::Deleted => std::fs::remove_file(at).unwrap(),
        Damage::Swapped => {
            let Some(other) = like(files, path) else { return Vec::new() };
            std::fs::write(&at, &files[other]).unwrap();
            std::fs::write(sandbox.path("runs").join(other), content).unwrap();
            return vec![path, other];
        }
    }
    vec![path]
}

/// Whether what is damaged is unfinished from then on: without its marker.
fn is_undone(path: &Path, way: Damage) -> bool {
    matches!(way, Damage::Deleted) && ["manifest.json", "done.json", "tables.json"].iter().any(|marker| path.ends_with(marker))
}

fn names(ended: &Ended, files: &[&Path]) -> bool {
    let said = format!("{}{}", ended.out, ended.error);
    files.iter().any(|path| said.contains(path.to_str().unwrap()))
}

/// Whether a command ended without a word of the damage, and without a panic.
fn look(sandbox: &Sandbox, arguments: &[&str]) -> Ended {
    let ended = sandbox.ended(&mut sandbox.command(arguments));
    assert!(matches!(ended.code, Some(0 | 1)) && !ended.error.contains("panicked"), "{arguments:?}: {}", ended.error);
    ended
}

/// Damages each file in the ways that `ways` gives for its place, and looks at it with every command.
fn judge(ways: impl Fn(usize) -> Vec<Damage>) {
    let sandbox = Sandbox::new(SWEEP);
    let sides: String = (0..12).map(|user| format!("u{user},{}\n", ["left", "right"][user % 2])).collect();
    sandbox.write("users.csv", format!("user_id,side\n{sides}"));
    sandbox.run_well();
    let (files, results) = (storage(&sandbox), sandbox.results());
    let told: Vec<String> = READERS.iter().map(|arguments| look(&sandbox, arguments).out).collect();
    for (place, path) in files.keys().enumerate() {
        for way in ways(place) {
            let readers = if is_undone(path, way) { &[][..] } else { &READERS[..] };
            for (arguments, told) in readers.iter().zip(&told) {
                restore(&sandbox, &files);
                let damaged = damage(&sandbox, &files, path, way);
                if damaged.is_empty() {
                    continue;
                }
                let ended = look(&sandbox, arguments);
                let is_same = ended.code == Some(0) && ended.out == *told;
                assert!(is_same || names(&ended, &damaged), "{way:?} {path:?}: {arguments:?} gave\n{}\n{}", ended.out, ended.error);
            }
            restore(&sandbox, &files);
            damage(&sandbox, &files, path, way);
            mends(&sandbox);
            assert!(sandbox.results() == results, "{way:?} {path:?}");
        }
    }
}

/// `run` makes again what is damaged: by the second start where it is noticed last, or after what it advises.
fn mends(sandbox: &Sandbox) {
    for _ in 0..3 {
        let ended = look(sandbox, &["run", "s.yaml"]);
        if ended.code == Some(0) {
            return;
        }
        if ended.error.contains("delete the folder and prepare again") {
            std::fs::remove_dir_all(sandbox.stored("/items.parquet").first().unwrap().parent().unwrap()).unwrap();
        }
    }
    panic!("three starts did not mend the storage");
}

#[test]
fn what_is_damaged_is_never_believed() {
    judge(|place| vec![DAMAGES[place % DAMAGES.len()]]);
}

#[test]
#[ignore = "takes minutes: every damage of every file"]
fn no_damage_of_any_file_is_ever_believed() {
    judge(|_| DAMAGES.to_vec());
}

#[test]
fn an_interrupted_sweep_goes_on_from_nothing_that_is_damaged() {
    let long = changed("epochs: 2,", "epochs: 60,");
    let (whole, sandbox) = (Sandbox::new(&long), Sandbox::new(&long));
    whole.run_well();
    sandbox.prepare();
    let mut child = sandbox.command(&["train", "s.yaml", "--index", "0"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("evaluated")));
    assert!(Command::new("sh").args(["-c", &format!("kill -TERM {}", child.id())]).status().unwrap().success());
    drop(lines.last());
    assert_eq!(child.wait().unwrap().code(), Some(75));
    let files = storage(&sandbox);
    let of_trial = |path: &&PathBuf| path.starts_with("trials");
    assert_eq!(files.keys().filter(of_trial).count(), 5, "{:?}", files.keys());
    for (place, path) in files.keys().filter(of_trial).enumerate() {
        for way in [DAMAGES[place], DAMAGES[(place + 2) % DAMAGES.len()]] {
            restore(&sandbox, &files);
            if damage(&sandbox, &files, path, way).is_empty() {
                continue;
            }
            look(&sandbox, &["status", "s.yaml"]);
            sandbox.run_well();
            assert!(sandbox.results() == whole.results() && sandbox.timeless_rows() == whole.timeless_rows(), "{way:?} {path:?}");
        }
    }
}

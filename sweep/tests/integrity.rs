//! Every file of a finished and of an interrupted sweep, damaged: each command gives what it gave before, or names the file, and `run` mends.
//!
//! In every test run each file has one of the damages, and of the large sweep each is looked at by some of the commands. All of it, every damage of every
//! file before every command, takes some minutes: `cargo test --workspace --release --test integrity -- --ignored`.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use support::{Ended, SWEEP, Sandbox, changed, files_below};

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

/// Those of a sweep with two datasets, rungs, a refit and a history.
const ALL_READERS: [&[&str]; 15] = [
    &["status", "s.yaml", "--json"],
    &["plan", "s.yaml"],
    &["report", "s.yaml"],
    &["list", "--storage", "runs"],
    &["groups", "s.yaml", "--users", "users.csv", "--column", "side"],
    &["recommend", "s.yaml", "--dataset", "held-out", "--out", "lists.parquet"],
    &["recommend", "s.yaml", "--dataset", "small", "--refit", "--out", "lists.parquet"],
    &["evaluate", "s.yaml", "--report"],
    &["export", "s.yaml", "--format", "csv", "--out", "splits"],
    &["export", "s.yaml", "--dataset", "small", "--format", "npy", "--out", "vectors"],
    &["compare", "s.yaml", "--out", "compared"],
    &["diff", "s.yaml", "--out", "differences.parquet"],
    &["refit", "s.yaml", "--dataset", "small"],
    &["theory", "opauc", "s.yaml", "--dataset", "small", "--permutations", "2500", "--cutoffs", "5"],
    &["theory", "quantiles", "s.yaml", "--dataset", "small", "--cutoff", "5"],
];

/// Rungs, a pool that is kept with its dataset, and users whom no training saw.
const LARGE: &str = "\
name: tiny
datasets:
  - name: small
    source: {format: delimited, path: ratings.csv, columns: {user: user, item: item, rating: rating, timestamp: time}}
    split: {kind: random, test: 0.2, validation: 0.1, seed: 7}
  - name: held-out
    source: {format: delimited, path: ratings.csv, columns: {user: user, item: item, rating: rating, timestamp: time}}
    split: {kind: users, test: 0.25, validation: 0.25, seed: 3}
grid:
  - backbones: [{kind: mf, dim: 4}]
    losses: [{kind: bpr}]
    samplers: [{kind: ppr, negatives: 5}]
    optimizer: {kind: adam, learning_rate: [0.05, 0.2]}
  - backbones: [{kind: mf, dim: 2}]
    losses: [{kind: bpr}]
    samplers: [{kind: uniform, negatives: 5}]
    optimizer: {kind: adam, learning_rate: 0.05}
training: {epochs: 3, batch_size: 64, evaluate_every: 1, select_by: ndcg@5}
search: {kind: successive-halving, epochs: 1}
evaluation: {metrics: [ndcg, recall], cutoffs: [5], significance: {resamples: 1000}}
";

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
    let is_marker = ["manifest.json", "done.json", "tables.json"].iter().any(|marker| path.ends_with(marker));
    matches!(way, Damage::Deleted) && (is_marker || path.parent().is_some_and(|folder| folder.ends_with("rungs")))
}

/// Whether a file is named; of the marker of tables that belong to another plan it may be the plan beside it, which is not the one that it vouches for.
fn names(ended: &Ended, files: &[&Path]) -> bool {
    let said = format!("{}{}", ended.out, ended.error);
    let is_said = |path: &Path| said.contains(path.to_str().unwrap());
    files.iter().any(|path| is_said(path) || (path.ends_with("tables.json") && is_said(&path.with_file_name("plan.json"))))
}

/// How a command ended, without a panic, and the files that it wrote beside the storage.
fn look(sandbox: &Sandbox, arguments: &[&str]) -> (Ended, Files) {
    for entry in sandbox.path("").read_dir().unwrap().map(|entry| entry.unwrap()).filter(|entry| !is_input(&entry.path())) {
        let path = entry.path();
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
    }
    let ended = sandbox.ended(&mut sandbox.command(arguments));
    assert!(matches!(ended.code, Some(0 | 1)) && !ended.error.contains("panicked"), "{arguments:?}: {}", ended.error);
    let entries = sandbox.path("").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let written = entries.filter(|path| !is_input(path)).flat_map(|path| files_below(&path)).map(|path| {
        let content = std::fs::read(&path).unwrap();
        (path, content)
    });
    (ended, written.collect())
}

/// The storage, and what every command is given.
fn is_input(path: &Path) -> bool {
    ["runs", "s.yaml", "ratings.csv", "users.csv"].iter().any(|name| path.ends_with(name))
}

/// A finished sweep, and the commands that look at it.
struct Judged {
    sandbox: Sandbox,
    readers: &'static [&'static [&'static str]],
    /// What `run` leaves to others to mend.
    mender: Option<&'static [&'static str]>,
}

impl Judged {
    fn new(sweep: &str, readers: &'static [&'static [&'static str]]) -> Self {
        let sandbox = Sandbox::new(sweep);
        let sides: String = (0..12).map(|user| format!("u{user},{}\n", ["left", "right"][user % 2])).collect();
        sandbox.write("users.csv", format!("user_id,side\n{sides}"));
        sandbox.run_well();
        Self { sandbox, readers, mender: None }
    }

    fn small() -> Self {
        Self::new(SWEEP, &READERS)
    }

    /// The sweep that ran before had other values.
    fn large() -> Self {
        let mut judged = Self::new(&LARGE.replace("[0.05, 0.2]", "[0.05, 0.1]"), &ALL_READERS);
        judged.sandbox.write("s.yaml", LARGE);
        judged.sandbox.run_well();
        let refit = &["refit", "s.yaml", "--dataset", "small"];
        assert_eq!(look(&judged.sandbox, refit).0.code, Some(0));
        judged.mender = Some(refit);
        judged
    }

    /// Damages each file in the ways that `ways` gives for its place, and looks at it with the commands that `looks` picks by theirs.
    fn judge(&self, ways: impl Fn(usize) -> Vec<Damage>, looks: impl Fn(usize, usize) -> bool) {
        let sandbox = &self.sandbox;
        let picked: Vec<String> = sandbox.timeless_rows().0.into_iter().filter(|trial| trial.selected).map(|trial| trial.trial).collect();
        // What a pool took long to prepare, and models of trials that were not picked, nobody asks for in a finished sweep.
        let is_needed = |path: &Path| {
            let text = path.to_str().unwrap();
            !text.contains("/samplers/") && (!text.contains("/trials/") || picked.iter().any(|id| text.contains(id)))
        };
        let results = || sandbox.results().into_iter().filter(|(path, _)| is_needed(path)).collect::<Files>();
        let (files, expected) = (storage(sandbox), results());
        let told: Vec<(Ended, Files)> = self.readers.iter().map(|arguments| look(sandbox, arguments)).collect();
        for (arguments, (ended, _)) in self.readers.iter().zip(&told) {
            assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.error);
        }
        for (place, path) in files.keys().enumerate() {
            for way in ways(place) {
                let commands = self.readers.iter().zip(&told).enumerate();
                for (_, (arguments, told)) in commands.filter(|(at, _)| looks(place, *at) && !is_undone(path, way)) {
                    restore(sandbox, &files);
                    let damaged = damage(sandbox, &files, path, way);
                    if damaged.is_empty() {
                        continue;
                    }
                    let (ended, written) = look(sandbox, arguments);
                    let is_same = ended.code == Some(0) && ended.out == told.0.out && written == told.1;
                    assert!(is_same || names(&ended, &damaged), "{way:?} {path:?}: {arguments:?} gave\n{}\n{}", ended.out, ended.error);
                }
                restore(sandbox, &files);
                damage(sandbox, &files, path, way);
                self.mends();
                assert!(results() == expected, "{way:?} {path:?}");
            }
        }
    }

    /// `run` makes again what is damaged: by the second start where it is noticed last, or after what it advises.
    fn mends(&self) {
        let well = |arguments: &[&str]| {
            (0..3).any(|_| {
                let (ended, _) = look(&self.sandbox, arguments);
                if ended.code != Some(0) && ended.error.contains("delete the folder and prepare again") {
                    let folders = self.sandbox.stored("/items.parquet");
                    folders.iter().for_each(|table| std::fs::remove_dir_all(table.parent().unwrap()).unwrap());
                }
                ended.code == Some(0)
            })
        };
        assert!(well(&["run", "s.yaml"]), "three starts did not mend the storage");
        assert!(self.mender.is_none_or(well), "three starts did not mend the refit");
    }
}

#[test]
fn what_is_damaged_is_never_believed() {
    Judged::small().judge(|place| vec![DAMAGES[place % DAMAGES.len()]], |_, _| true);
}

#[test]
fn what_is_damaged_of_rungs_refits_and_histories_is_never_believed() {
    Judged::large().judge(|place| vec![DAMAGES[place % DAMAGES.len()]], |place, command| (place + command) % 4 == 0);
}

#[test]
#[ignore = "takes minutes: every damage of every file"]
fn no_damage_of_any_file_is_ever_believed() {
    Judged::small().judge(|_| DAMAGES.to_vec(), |_, _| true);
    Judged::large().judge(|_| DAMAGES.to_vec(), |_, _| true);
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

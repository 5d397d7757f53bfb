//! A small sweep in a folder of its own, and the binary on it.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]
#![allow(dead_code, reason = "each test file uses a part")]

use dataset::Location;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use sweep::tables::{CurveRow, TrialRow, curves, trials};
use tempfile::TempDir;

/// Three methods on 12 users and 20 items of `ratings.csv`.
pub(crate) const SWEEP: &str = "\
name: tiny
datasets:
  - name: small
    source: {format: delimited, path: ratings.csv, columns: {user: user, item: item, rating: rating, timestamp: time}}
    split: {kind: random, test: 0.2, validation: 0.1, seed: 7}
grid:
  - backbones: [{kind: mf, dim: 4}]
    losses:
      - {kind: bpr}
      - {kind: softmax, temperature: 0.2}
    samplers: [{kind: uniform, negatives: 5}]
    optimizer: {kind: adam, learning_rate: 0.05}
  - backbones: [{kind: popularity}]
training: {epochs: 2, batch_size: 64, evaluate_every: 1, select_by: ndcg@5}
evaluation: {metrics: [ndcg, recall], cutoffs: [5], significance: {resamples: 1000}}
";

/// The sweep with one text replaced by another.
pub(crate) fn changed(from: &str, to: &str) -> String {
    assert!(SWEEP.contains(from), "`{from}` does not stand in the sweep");
    SWEEP.replace(from, to)
}

/// `ratings.csv`: a header and 120 rows; every user has 10 items.
pub(crate) fn ratings() -> String {
    let mut text = "user,item,rating,time\n".to_owned();
    for (user, item) in (0..12).flat_map(|user| (0..10).map(move |place| (user, (3 * user + place * (1 + user % 2)) % 20))) {
        writeln!(text, "u{user},i{item},{},{}", 1 + (user + item) % 5, 1_000 + 31 * user + 17 * item).unwrap();
    }
    text
}

/// How the program ended and what it said; the sandbox's folder is written as `FOLDER`.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) error: String,
}

impl Ended {
    /// The one complaint: the last line of standard error, and the only one that is no event of the log.
    pub(crate) fn complaint(&self, code: i32) -> &str {
        let Self { out, error, .. } = self;
        assert_eq!(self.code, Some(code), "{out}\n{error}");
        for word in ["panicked", "backtrace", "RUST_BACKTRACE", "src/"] {
            assert!(!error.contains(word), "{word}: {error}");
        }
        let is_event = |line: &&str| line.contains(" INFO ") || line.contains(" WARN ");
        let complaints: Vec<&str> = error.lines().filter(|line| !is_event(line)).collect();
        assert_eq!(complaints.len(), 1, "{error}");
        assert_eq!(error.lines().last(), complaints.first().copied());
        complaints[0].strip_prefix("error: ").unwrap()
    }
}

/// Sends a signal to the program: `TERM`, `INT`, `STOP`.
pub(crate) fn signal(child: &Child, name: &str) {
    assert!(Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status().unwrap().success());
}

/// Starts the program, and lets it work until a line of its log holds the word.
pub(crate) fn work_until(command: &mut Command, word: &str) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains(word)), "no line with `{word}`");
    (child, lines)
}

/// A folder with `s.yaml` and `ratings.csv`; the storage is `runs` in it.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new(sweep: &str) -> Self {
        let sandbox = Self { folder: tempfile::tempdir().unwrap() };
        sandbox.write("s.yaml", sweep);
        sandbox.write("ratings.csv", ratings());
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn location(&self, name: &str) -> Location {
        Location::parse(self.path(name).to_str().unwrap()).unwrap()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ranksweep"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env_remove("RUST_LOG").env_remove("TMPDIR").env("RUST_BACKTRACE", "1");
        command
    }

    pub(crate) fn ended(&self, command: &mut Command) -> Ended {
        let output = command.output().unwrap();
        Ended { code: output.status.code(), out: self.shown(&output.stdout), error: self.shown(&output.stderr) }
    }

    /// What the program said, with the sandbox's folder as `FOLDER`.
    pub(crate) fn shown(&self, bytes: &[u8]) -> String {
        std::str::from_utf8(bytes).unwrap().replace(self.folder.path().to_str().unwrap(), "FOLDER")
    }

    /// Runs the whole sweep.
    pub(crate) fn run(&self) -> Ended {
        self.ended(&mut self.command(&["run", "s.yaml"]))
    }

    /// Runs the whole sweep, which must end well.
    pub(crate) fn run_well(&self) -> Ended {
        let ended = self.run();
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.error);
        ended
    }

    /// Runs the whole sweep and kills the program when it has said so many lines.
    pub(crate) fn kill_after(&self, lines: usize) {
        let mut command = self.command(&["run", "s.yaml", "--log-format", "json"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap()).lines().take(lines).filter(Result::is_ok).count();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(said <= lines);
    }

    /// Runs the whole sweep after kills, which must end well, and removes what they left behind: files that were never put in place, and models
    /// that a later one replaced.
    pub(crate) fn run_and_sweep(&self) {
        self.run_well();
        let swept = self.ended(&mut self.command(&["gc", "s.yaml", "--min-age", "0", "--yes"]));
        assert_eq!(swept.code, Some(0), "{}", swept.error);
    }

    /// Prepares the datasets.
    pub(crate) fn prepare(&self) {
        let ended = self.ended(&mut self.command(&["prepare", "s.yaml"]));
        assert_eq!(ended.code, Some(0), "{}", ended.error);
    }

    /// The names of all files of the storage; a curve, which holds times, has another name in each run.
    pub(crate) fn files(&self) -> BTreeSet<PathBuf> {
        let name = |path: &PathBuf| path.strip_prefix(self.folder.path()).unwrap().to_owned();
        let timeless = |path: PathBuf| match path.parent() {
            Some(folder) if folder.ends_with("curve") => folder.join("curve.parquet"),
            _ => path,
        };
        files_below(&self.path("runs")).iter().map(name).map(timeless).collect()
    }

    /// The rows of the trials and their curves, without times.
    pub(crate) fn timeless_rows(&self) -> (Vec<TrialRow>, Vec<CurveRow>) {
        let at = |name: &str| self.location(&format!("runs/sweeps/tiny/{name}.parquet"));
        let trials = trials::read(&at("trials")).unwrap().into_iter().map(|row| TrialRow { seconds: None, ..row });
        let curves = curves::read(&at("curves")).unwrap().into_iter().map(|row| CurveRow { seconds: 0.0, ..row });
        (trials.collect(), curves.collect())
    }

    /// All files below a folder of the storage whose path ends like this.
    pub(crate) fn stored(&self, ending: &str) -> Vec<PathBuf> {
        files_below(&self.path("runs")).into_iter().filter(|path| path.to_str().unwrap().ends_with(ending)).collect()
    }

    /// The files that must not depend on how the sweep came to its end: datasets, models, and tables without times.
    pub(crate) fn results(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let timeless = |path: &Path| {
            let text = path.to_str().unwrap();
            let tables = ["metrics.parquet", "significance.parquet", "leaderboard.parquet", "tuning.parquet", "plan.json"];
            text.contains("/datasets/")
                || text.contains("/checkpoint/")
                || text.contains("/per_user/")
                || tables.iter().any(|name| text.ends_with(name))
        };
        // The history is of how the sweep came to be.
        let files =
            files_below(&self.path("runs")).into_iter().filter(|path| timeless(path) && !path.to_str().unwrap().contains("/history/"));
        files.map(|path| (path.strip_prefix(self.folder.path()).unwrap().to_owned(), std::fs::read(&path).unwrap())).collect()
    }

    /// The markers that make a later run trust what stands beside them.
    pub(crate) fn markers(&self) -> Vec<PathBuf> {
        ["manifest.json", "done.json", "tables.json"].iter().flat_map(|name| self.stored(name)).collect()
    }
}

/// All files below a folder; the path itself, where it is one.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    if folder.is_file() {
        return vec![folder.to_owned()];
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Holds pairs of a p-value and its adjusted one against Holm's steps: the k-th smallest of m times m - k + 1, never below the one before, at most 1.
#[track_caller]
pub(crate) fn assert_holm(mut pairs: Vec<(f64, f64)>) {
    pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (count, mut last) = (pairs.len(), 0.0_f64);
    for (place, (alone, adjusted)) in pairs.into_iter().enumerate() {
        last = last.max(alone * (count - place) as f64).min(1.0);
        assert!((adjusted - last).abs() < 1e-12, "{place}: {adjusted} {last}");
    }
}

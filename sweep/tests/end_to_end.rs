//! The binary on a small synthetic sweep: what it leaves behind, what it says, and what survives kills and thread counts.

#![allow(clippy::unwrap_used)] // a test file outside of `cfg(test)`

use arrow::array::{Array, BooleanArray, StringArray};
use dataset::{Location, table};
use evaluator::tables::{MetricRow, read_metrics};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

const SWEEP: &str = "\
name: tiny
datasets:
  - name: small
    source: {format: synthetic, users: 150, items: 90, interactions: 3000}
    k_core: 2
    split: {kind: random, test: 0.2, validation: 0.1, seed: 7}
grid:
  - backbones:
      - {kind: mf, dim: 8}
      - {kind: light-gcn, dim: 8, layers: 2}
    losses:
      - {kind: bpr}
      - {kind: softmax-at-k, cutoff: 5, temperature: [0.2, 0.5], weight_temperature: 1, quantile_every: 2}
    samplers: [{kind: uniform, negatives: 10}]
    optimizer: {kind: adam, learning_rate: 0.05}
  - backbones: [{kind: popularity}, {kind: ease, regularization: [10, 100]}]
training: {epochs: 6, batch_size: 256, evaluate_every: 2, patience: 2, select_by: ndcg@5}
seeds: [1, 2]
evaluation:
  metrics: [ndcg, recall, auc, coverage, novelty, diversity]
  cutoffs: [5, 10]
  significance: {resamples: 1000}
";

/// The tables that hold no times.
const TIMELESS: [&str; 7] = [
    "metrics.parquet",
    "groups.parquet",
    "significance.parquet",
    "variance_components.parquet",
    "leaderboard.parquet",
    "tuning.parquet",
    "plan.json",
];

/// A folder with a sweep file in it.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new(sweep: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("s.yaml"), sweep).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ranksweep"));
        command.args(arguments).current_dir(self.folder.path()).env_remove("RUST_LOG").stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs, expects an exit code, and gives standard output and standard error.
    fn expect(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let output = self.run(arguments);
        let (out, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}\n{error}");
        (out, error)
    }

    /// The last line of standard error of a run that fails.
    fn complaint(&self, code: i32, arguments: &[&str]) -> String {
        self.expect(code, arguments).1.lines().last().unwrap_or_default().to_owned()
    }

    /// Starts and kills the program when it has said so many lines.
    fn kill_after(&self, lines: usize) {
        let mut child =
            self.command(&["run", "s.yaml", "--log-format", "json"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap()).lines().take(lines).filter(Result::is_ok).count();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(said <= lines);
    }

    /// The bytes of everything that must not depend on times, threads or kills.
    fn results(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let runs = self.path("runs");
        let tables = runs.join("sweeps/tiny");
        let mut files: BTreeMap<PathBuf, Vec<u8>> = files_below(&runs.join("datasets"));
        files.extend(files_below(&tables.join("per_user")));
        files.extend(TIMELESS.map(|name| (tables.join(name), std::fs::read(tables.join(name)).unwrap())));
        let kept = |path: &Path| path.components().any(|step| step.as_os_str() == "checkpoint");
        files.extend(files_below(&runs.join("trials")).into_iter().filter(|(path, _)| kept(path)));
        files.into_iter().map(|(path, bytes)| (path.strip_prefix(&runs).unwrap().to_owned(), bytes)).collect()
    }
}

fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            files.insert(path, bytes);
        }
    }
    files
}

fn assert_same(found: &BTreeMap<PathBuf, Vec<u8>>, expected: &BTreeMap<PathBuf, Vec<u8>>, what: &str) {
    assert!(found.keys().eq(expected.keys()), "{what}: {:?} and {:?}", found.keys(), expected.keys());
    for (path, bytes) in expected {
        assert!(found[path] == *bytes, "{what}: {} differs", path.display());
    }
}

#[test]
fn a_run_leaves_tables_and_a_second_one_changes_nothing() {
    let bench = Bench::new(SWEEP);
    let (out, error) = bench.expect(0, &["run", "s.yaml"]);
    assert!(out.contains("popularity") && out.contains("ndcg@5"), "{out}");
    assert!(error.contains("trained"), "{error}");
    let tables = bench.path("runs/sweeps/tiny");
    for name in ["sweep.yaml", "trials.parquet", "curves.parquet", "report.html"] {
        assert!(tables.join(name).exists(), "{name}");
    }
    // Four methods with two seeds, popularity and ease.
    assert_eq!(std::fs::read_dir(tables.join("per_user")).unwrap().count(), 10);
    let first = bench.results();
    let all = files_below(&bench.path("runs"));
    let written = |folder: &str| modified(&bench.path(folder));
    let (trials, datasets) = (written("runs/trials"), written("runs/datasets"));
    bench.expect(0, &["run", "s.yaml"]);
    assert_same(&bench.results(), &first, "the second run");
    assert_same(&files_below(&bench.path("runs")), &all, "the second run");
    assert_eq!((written("runs/trials"), written("runs/datasets")), (trials, datasets));
}

fn modified(folder: &Path) -> Vec<(PathBuf, std::time::SystemTime)> {
    files_below(folder).into_keys().map(|path| (path.clone(), std::fs::metadata(&path).unwrap().modified().unwrap())).collect()
}

#[test]
fn kills_and_thread_counts_change_no_byte() {
    let whole = Bench::new(SWEEP);
    whole.expect(0, &["run", "s.yaml", "--threads", "1"]);
    let killed = Bench::new(SWEEP);
    for lines in [1, 3, 6, 8, 11, 12, 17, 2, 25, 31, 60, 27, 26, 25] {
        killed.kill_after(lines);
    }
    killed.expect(0, &["run", "s.yaml", "--threads", "2"]);
    killed.expect(0, &["gc", "s.yaml", "--min-age", "0", "--yes"]); // what a process was writing when it was killed
    assert_same(&killed.results(), &whole.results(), "a killed run with two threads");
}

#[test]
fn two_runs_at_once_write_the_same_as_one() {
    let whole = Bench::new(SWEEP);
    whole.expect(0, &["run", "s.yaml"]);
    let shared = Bench::new(SWEEP);
    let start = || shared.command(&["run", "s.yaml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (mut first, mut second) = (start(), start());
    assert!(first.wait().unwrap().success() && second.wait().unwrap().success());
    assert_same(&shared.results(), &whole.results(), "two runs at once");
}

#[test]
fn stages_one_by_one_equal_a_run() {
    let whole = Bench::new(SWEEP);
    whole.expect(0, &["run", "s.yaml"]);
    let staged = Bench::new(SWEEP);
    assert!(staged.complaint(1, &["train", "s.yaml"]).contains("dataset `small` is not prepared"));
    staged.expect(0, &["prepare", "s.yaml", "--engine", "datafusion"]);
    assert!(staged.complaint(1, &["evaluate", "s.yaml"]).contains("15 of 15 trials are not trained"));
    staged.expect(0, &["train", "s.yaml", "--index", "3"]);
    assert!(staged.complaint(1, &["evaluate", "s.yaml"]).contains("14 of 15 trials are not trained"));
    assert!(staged.complaint(2, &["train", "s.yaml", "--index", "15"]).contains("there is no trial 15: the plan has 15"));
    assert!(staged.complaint(1, &["report", "s.yaml"]).contains("no tables yet"));
    staged.expect(0, &["train", "s.yaml"]);
    staged.expect(0, &["evaluate", "s.yaml"]);
    let (out, _) = staged.expect(0, &["report", "s.yaml"]);
    assert!(out.contains("ndcg@5"), "{out}");
    assert_same(&staged.results(), &whole.results(), "stage by stage");
    let dataset = std::fs::read_dir(staged.path("runs/datasets")).unwrap().next().unwrap().unwrap().path();
    let stored = ["evaluate", "--checkpoints", "runs/trials", "--dataset", dataset.to_str().unwrap(), "--out", "again"];
    assert!(staged.expect(0, &stored).0.contains("ndcg@20"));
    assert!(staged.path("again/metrics.parquet").exists());
    let mistyped = [&stored[..2], &["runs/trialz"], &stored[3..]].concat();
    assert!(staged.expect(2, &mistyped).1.contains("runs/trialz does not exist, or is empty"));
    assert!(staged.expect(2, &["evaluate"]).1.contains("SWEEP"));
    assert!(staged.expect(2, &["evaluate", "--checkpoints", "runs/trials"]).1.contains("--dataset"));
    let (out, _) = staged.expect(0, &["recommend", "s.yaml", "-k", "3"]);
    assert!(out.contains("lists of up to 3 items"), "{out}");
    assert!(staged.path("recommendations.parquet").exists());
    assert!(staged.complaint(2, &["recommend", "s.yaml", "--trial", "none"]).contains("has the id `none`"));
    std::fs::write(staged.path("s.yaml"), SWEEP.replace(", {kind: ease, regularization: [10, 100]}", "")).unwrap();
    assert!(staged.complaint(1, &["recommend", "s.yaml"]).contains("are of another plan"));
}

#[test]
fn all_trials_are_ranked_when_asked_for_and_nothing_else_changes() {
    let bench = Bench::new(SWEEP);
    bench.expect(0, &["run", "s.yaml"]);
    let tables = bench.path("runs/sweeps/tiny");
    let before = files_below(&tables);
    bench.expect(0, &["evaluate", "s.yaml", "--all", "--report"]);
    let path = tables.join("all_trials.parquet");
    let mut after = files_below(&tables);
    assert!(after.remove(&path).is_some());
    assert_same(&after, &before, "with all trials");
    check_all_trials(&bench, &path);
    bench.expect(0, &["evaluate", "s.yaml"]);
    assert!(!path.exists(), "without --all it may be of other trials than the tables beside it");
    assert!(bench.expect(2, &["evaluate", "--checkpoints", "runs/trials", "--all"]).1.contains("--all"));
}

fn location(path: &Path) -> Location {
    Location::parse(path.to_str().unwrap()).unwrap()
}

/// The picked trials stand there as in `metrics.parquet`, the others are marked, and all are as the evaluator alone ranks the checkpoints.
fn check_all_trials(bench: &Bench, path: &Path) {
    let rows = read_metrics(&location(path)).unwrap();
    assert_eq!(rows.len(), 15 * 11, "every trial by every metric");
    let batch = table::read(&location(path)).unwrap();
    let selected: &BooleanArray = table::column(&batch, "selected", &location(path)).unwrap();
    let text = |name| table::column::<StringArray>(&batch, name, &location(path)).unwrap();
    assert!(text("parameters").iter().flatten().any(|values| values.contains(r#""loss.temperature":0.5"#)));
    assert!(text("note").iter().flatten().all(|note| note == "not for selecting") && text("note").null_count() == 10 * 11);
    assert!((0..rows.len()).all(|row| text("note").is_null(row) == selected.value(row)));
    let picked: Vec<_> = rows.iter().enumerate().filter(|(row, _)| selected.value(*row)).map(|(_, row)| row.clone()).collect();
    assert_eq!(picked, read_metrics(&location(&bench.path("runs/sweeps/tiny/metrics.parquet"))).unwrap());

    let dataset = std::fs::read_dir(bench.path("runs/datasets")).unwrap().next().unwrap().unwrap().path();
    let flags = [
        "--dataset",
        dataset.to_str().unwrap(),
        "--metrics",
        "ndcg,recall,auc,coverage,novelty,diversity",
        "--cutoffs",
        "5,10",
        "--out",
        "again",
    ];
    bench.expect(0, &[&["evaluate", "--checkpoints", "runs/trials"], &flags[..]].concat());
    let alone = read_metrics(&location(&bench.path("again/metrics.parquet"))).unwrap();
    let values = |rows: &[MetricRow]| -> BTreeMap<(String, String), f64> {
        rows.iter().map(|row| ((row.trial.clone(), row.metric.to_string()), row.value)).collect()
    };
    assert_eq!(values(&rows), values(&alone));
}

#[test]
fn a_plan_prints_and_writes_nothing() {
    let bench = Bench::new(SWEEP);
    let (out, _) = bench.expect(0, &["plan", "s.yaml"]);
    assert!(out.contains("softmax-at-k(5) on mf-8 on small: 2 configurations, 4 trials"), "{out}");
    assert!(out.contains("6 methods, 15 trials") && out.contains("known after prepare"), "{out}");
    assert!(
        out.ends_with(
            "small: no sweep on this storage has measured how far users and seeds spread here, between two methods with several seeds\n"
        ),
        "{out}"
    );
    assert!(!bench.path("runs").exists());
    let (json, _) = bench.expect(0, &["plan", "s.yaml", "--json"]);
    bench.expect(0, &["prepare", "s.yaml"]);
    assert_eq!(bench.expect(0, &["plan", "s.yaml", "--json"]).0, json);
    let (prepared, _) = bench.expect(0, &["plan", "s.yaml"]);
    assert!(prepared.contains("150 users") && prepared.contains(" in all\n") && json.ends_with("}\n"), "{prepared}");
}

#[test]
fn a_failed_trial_is_reported_and_the_sweep_goes_on() {
    let bench = Bench::new(
        &SWEEP.replace("losses:\n      - {kind: bpr}", "losses:\n      - {kind: bpr}\n      - {kind: softmax, temperature: 1.0e-300}"),
    );
    let (out, error) = bench.expect(1, &["run", "s.yaml"]);
    assert!(out.contains("failed"), "{out}");
    assert!(out.contains("not finite"), "{out}");
    assert!(error.contains("4 trials failed; everything else was done"), "{error}");
    // What failed for a reason that stays is not tried again, and still counts.
    let (again, error) = bench.expect(1, &["run", "s.yaml"]);
    assert_eq!(again, out);
    assert!(!error.contains("evaluated"), "{error}");
}

#[test]
fn bad_sweep_files_end_with_2_and_one_line() {
    let slip = Bench::new(&SWEEP.replace("temperature: [0.2", "tempratur: [0.2"));
    let message = slip.complaint(2, &["run", "s.yaml"]);
    assert!(
        message.starts_with("error: s.yaml:13:41: grid[0].losses[1].tempratur: unknown key `tempratur`: did you mean `temperature`?"),
        "{message}"
    );
    assert!(!slip.path("runs").exists());
    assert!(slip.complaint(2, &["run", "other.yaml"]).starts_with("error: cannot read the sweep file `other.yaml`"));
    let scheme = Bench::new(&format!("storage: ftp://host/x\n{SWEEP}"));
    assert!(scheme.complaint(2, &["run", "s.yaml"]).starts_with("error: s.yaml:1:10: storage: `ftp://host/x` is not a usable location"));
    assert!(slip.complaint(2, &["plan", "s.yaml", "--memory", "much"]).contains("--help"));
}

#[test]
fn bad_data_and_bad_storage_end_with_1_and_one_line() {
    let source = "source: {format: synthetic, users: 150, items: 90, interactions: 3000}";
    let missing = Bench::new(&SWEEP.replace(source, "source: {format: movielens, path: ratings.dat}"));
    let message = missing.complaint(1, &["run", "s.yaml"]);
    assert!(message.starts_with("error: s.yaml:4:39: dataset `small`: "), "{message}");
    assert!(message.contains("ratings.dat does not exist; correct `source.path`"), "{message}");
    let blocked = Bench::new(SWEEP);
    std::fs::write(blocked.path("runs"), "a file, not a folder").unwrap();
    let (_, error) = blocked.expect(1, &["run", "s.yaml"]);
    assert!(error.lines().last().unwrap().contains("runs") && !error.contains("panicked"), "{error}");
    let empty = Bench::new(&SWEEP.replace("k_core: 2", "k_core: 1000"));
    let message = empty.complaint(1, &["run", "s.yaml"]);
    assert!(message.contains("dataset `small`") && message.contains("no interaction is left"), "{message}");
}

#[test]
fn an_edited_sweep_reuses_what_it_shares_and_drops_what_it_lost() {
    let bench = Bench::new(SWEEP);
    bench.expect(0, &["run", "s.yaml"]);
    let trials = modified(&bench.path("runs/trials"));
    std::fs::write(bench.path("s.yaml"), SWEEP.replace("      - {kind: bpr}\n", "")).unwrap();
    assert!(bench.complaint(1, &["report", "s.yaml"]).contains("of another plan"));
    bench.expect(0, &["run", "s.yaml"]);
    assert_eq!(modified(&bench.path("runs/trials")), trials);
    assert_eq!(std::fs::read_dir(bench.path("runs/sweeps/tiny/per_user")).unwrap().count(), 6);
}

//! A scheduler and executors as processes: what is prepared by them has the bytes of the other engines, whoever dies meanwhile, and what cannot be is told by
//! one message before work starts.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod processes;

use ballista_core::{
    BALLISTA_PROTOCOL_VERSION,
    serde::protobuf::{ExecutorRegistration, RegisterExecutorParams, scheduler_grpc_client::SchedulerGrpcClient},
};
use dataset::block_on;
use processes::{Cluster, Machine, Process, free_port, pod, preparing};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Output,
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The longest that a test waits for something.
const PATIENCE: Duration = Duration::from_secs(120);

/// A sweep file, and storages for what is prepared of it.
struct Sweep {
    folder: TempDir,
    file: PathBuf,
}

impl Sweep {
    fn of(folder: TempDir, datasets: &[Value]) -> Self {
        let file = folder.path().join("sweep.yaml");
        let sweep = json!({"name": "s", "datasets": datasets, "grid": [{"backbones": [{"kind": "popularity"}]}]});
        fs::write(&file, sweep.to_string()).unwrap();
        Self { folder, file }
    }

    fn storage(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What an engine makes of it.
    fn prepared(&self, storage: &str, flags: &[&str]) -> BTreeMap<String, Vec<u8>> {
        let output = self.preparing(storage, flags).output();
        assert!(output.status.success(), "{}", text(&output));
        files(&self.storage(storage))
    }

    fn preparing(&self, storage: &str, flags: &[&str]) -> Process {
        preparing(&self.file, self.storage(storage).to_str().unwrap(), &Machine::default(), flags)
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The paths of the datasets' files, of which some may go at any time.
fn paths(storage: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![storage.join("datasets")]);
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { &mut folders } else { &mut found }.push(path);
        }
    }
    found
}

/// All files of the datasets, by their paths.
fn files(storage: &Path) -> BTreeMap<String, Vec<u8>> {
    let below = |path: &Path| path.strip_prefix(storage).unwrap().display().to_string();
    paths(storage).iter().map(|path| (below(path), fs::read(path).unwrap())).collect()
}

/// Interactions of users that are numbers, or also words, some of them twice.
fn rows(path: &Path, count: u64, words: bool) {
    let text: String = (0..count)
        .map(|n| {
            let draw = n.wrapping_mul(6_364_136_223_846_793_005).rotate_left(29).wrapping_mul(1_442_695_040_888_963_407);
            let (user, item) = ((draw >> 8) % (count / 12), (draw >> 33) % (1 + (draw >> 50) % (count / 20)));
            let word = if words && user % 5 == 0 { "ü" } else { "" };
            format!("{word}{user},{item},{},{}\n", 1 + (draw >> 60) % 5, n / 3)
        })
        .collect();
    fs::write(path, text).unwrap();
}

fn dataset(name: &str, path: &Path, more: Value) -> Value {
    let columns = json!({"user": 0, "item": 1, "rating": 2, "timestamp": 3});
    let mut dataset = json!({"name": name, "source": {"format": "delimited", "path": path, "header": false, "columns": columns}});
    dataset.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    dataset
}

#[test]
fn a_cluster_writes_the_bytes_of_the_other_engines() {
    let folder = tempfile::tempdir().unwrap();
    let [numbers, words, train, test] = ["numbers.csv", "words.csv", "train.tsv", "test.tsv"].map(|name| folder.path().join(name));
    rows(&numbers, 1500, false);
    rows(&words, 1500, true);
    fs::write(&train, "2\t5\n2\t6\n10\t5\n2\t6\n1\t9\n").unwrap();
    fs::write(&test, "2\t7\n10\t9\n").unwrap();
    let given = json!({"name": "given", "source": {"format": "splits", "train": train, "test": test}, "split": {"kind": "given"}});
    let sweep = Sweep::of(
        folder,
        &[
            dataset("random", &numbers, json!({"min_rating": 2, "k_core": 4, "split": {"kind": "random", "test": 0.2, "validation": 0.1}})),
            dataset(
                "temporal",
                &words,
                json!({"k_core": {"users": 3, "items": 2}, "split": {"kind": "temporal", "test": 0.2, "validation": 0.1}}),
            ),
            dataset("leave-last", &words, json!({"split": {"kind": "leave-last"}, "noise": 0.3})),
            dataset("leave-n", &numbers, json!({"split": {"kind": "leave-n", "test": 2, "validation": 1}, "train_share": {"share": 0.5}})),
            dataset("users", &numbers, json!({"k_core": 2, "split": {"kind": "users", "test": 0.2, "validation": 0.2}})),
            dataset("cold-start", &words, json!({"split": {"kind": "cold-start", "items": 1, "test": 0.25}})),
            dataset("folds", &numbers, json!({"split": {"kind": "cross-validation", "folds": 3, "fold": 2, "validation": 0.25}})),
            given,
        ],
    );
    let expected = sweep.prepared("memory", &["--engine", "memory"]);
    assert!(expected.len() > 8 * 5, "{:?}", expected.keys());
    // Nothing fits, so that the k-core is peeled by relations.
    let datafusion = sweep.prepared("datafusion", &["--engine", "datafusion", "--memory", "1KiB"]);
    assert!(datafusion == expected, "{:?}", datafusion.keys());
    let cluster = Cluster::start(3);
    let found = sweep.prepared("cluster", &[&cluster.flags("60")[..], &["--memory", "1KiB"]].concat());
    assert!(found == expected, "{:?}\n{}", found.keys(), cluster.logs());
}

/// Their published sizes: users, items and interactions.
#[test]
fn real_data_have_their_sizes_and_the_same_bytes_by_every_engine() {
    let files = ["ml-1m/ratings.dat.gz", "slatk-gowalla/train.tsv.gz", "slatk-gowalla/test.tsv.gz"].map(testing::real_data);
    let [Some(ratings), Some(train), Some(test)] = files else { return };
    let ml_1m = json!({"name": "ml-1m", "source": {"format": "movielens", "path": ratings}, "min_rating": 3, "k_core": 10, "split": {"kind": "leave-last"}});
    let split = json!({"kind": "given", "validation": 0.1, "seed": 2024});
    let gowalla = json!({"name": "gowalla", "source": {"format": "splits", "train": train, "test": test}, "split": split});
    let sweep = Sweep::of(tempfile::tempdir().unwrap(), &[ml_1m, gowalla]);
    let expected = sweep.prepared("memory", &["--engine", "memory"]);
    let manifests = expected.iter().filter(|(path, _)| path.ends_with("/manifest.json"));
    let sizes = manifests.map(|(path, content)| {
        let manifest: Value = serde_json::from_slice(content).unwrap();
        let of = |key: &str| manifest[key].as_u64().unwrap();
        (path.contains("/ml-1m-"), of("users"), of("items"), of("train") + of("validation") + of("test"))
    });
    assert_eq!(sizes.collect::<Vec<_>>(), [(false, 29_858, 40_988, 1_027_464), (true, 6_033, 3_123, 834_449)]);
    assert!(sweep.prepared("datafusion", &["--engine", "datafusion", "--memory", "64MiB"]) == expected);
    let cluster = Cluster::start(2);
    assert!(sweep.prepared("cluster", &cluster.flags("60")) == expected, "{}", cluster.logs());
}

/// A sweep whose dataset takes the cluster some seconds, and what memory makes of it.
fn some_seconds() -> (Sweep, BTreeMap<String, Vec<u8>>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    rows(&path, 60_000, true);
    let sweep = Sweep::of(folder, &[dataset("d", &path, json!({"k_core": 5, "split": {"kind": "random", "test": 0.2}}))]);
    let expected = sweep.prepared("memory", &["--engine", "memory"]);
    (sweep, expected)
}

/// The sweep's preparation by a cluster, which has stored the relation of a name.
fn under_way(sweep: &Sweep, cluster: &Cluster, relation: &str) -> Process {
    let mut preparing = sweep.preparing("cluster", &[&cluster.flags("20")[..], &["--memory", "1KiB"]].concat());
    let start = Instant::now();
    let begun = |path: &PathBuf| path.to_str().unwrap().contains(&format!("/{relation}-"));
    while !paths(&sweep.storage("cluster")).iter().any(begun) {
        assert!(preparing.runs() && start.elapsed() < PATIENCE, "{}\n{}", text(&preparing.output()), cluster.logs());
        thread::sleep(Duration::from_millis(20));
    }
    preparing
}

/// That a preparation ends with one message, and leaves nothing behind.
fn ends_clearly(sweep: &Sweep, output: &Output) {
    let message = text(output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.lines().last().unwrap().contains("cluster df://127.0.0.1"), "{message}");
    assert_eq!(files(&sweep.storage("cluster")).into_keys().collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn an_executor_that_dies_changes_no_byte() {
    let (sweep, expected) = some_seconds();
    for relation in ["ids-user", "pairs-0", "pairs-1"] {
        let mut cluster = Cluster::start(3);
        let preparing = under_way(&sweep, &cluster, relation);
        cluster.executors[0].kill();
        let output = preparing.output();
        assert!(output.status.success(), "{relation}: {}\n{}", text(&output), cluster.logs());
        assert!(files(&sweep.storage("cluster")) == expected, "{relation}: {}", cluster.logs());
        fs::remove_dir_all(sweep.storage("cluster")).unwrap();
    }
}

/// What is on its way from an executor is lost with it.
#[test]
fn an_executor_that_dies_while_it_is_read_costs_a_new_beginning_at_most() {
    let (sweep, expected) = some_seconds();
    let mut cluster = Cluster::start(3);
    let preparing = under_way(&sweep, &cluster, "places-user");
    cluster.executors[0].kill();
    let output = preparing.output();
    if !output.status.success() {
        ends_clearly(&sweep, &output);
    }
    assert!(sweep.prepared("cluster", &cluster.flags("60")) == expected, "{}", cluster.logs());
}

#[test]
fn without_executors_a_preparation_ends() {
    let (sweep, _) = some_seconds();
    let mut cluster = Cluster::start(2);
    let preparing = under_way(&sweep, &cluster, "ids-user");
    cluster.executors.iter_mut().for_each(Process::kill);
    ends_clearly(&sweep, &preparing.output());
}

#[test]
fn executors_whose_disks_are_full_end_a_preparation() {
    let (sweep, _) = some_seconds();
    let cluster = Cluster::start_on(Machine { blocks: Some(100), ..Machine::default() }, 2);
    let output = sweep.preparing("cluster", &[&cluster.flags("60")[..], &["--memory", "1KiB"]].concat()).output();
    ends_clearly(&sweep, &output);
    assert!(text(&output).lines().last().unwrap().contains("File too large"), "{}\n{}", text(&output), cluster.logs());
}

#[test]
fn a_scheduler_that_is_restarted_costs_a_new_beginning_at_most() {
    let (sweep, expected) = some_seconds();
    let mut cluster = Cluster::start(2);
    let preparing = under_way(&sweep, &cluster, "ids-user");
    cluster.restart_scheduler();
    let output = preparing.output();
    if !output.status.success() {
        ends_clearly(&sweep, &output);
    }
    assert!(sweep.prepared("cluster", &cluster.flags("60")) == expected, "{}", cluster.logs());
}

#[test]
fn the_pods_of_a_preparation_find_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    rows(&path, 1200, false);
    let sweep = Sweep::of(folder, &[dataset("d", &path, json!({"k_core": 2, "split": {"kind": "random", "test": 0.2}}))]);
    let expected = sweep.prepared("memory", &["--engine", "memory"]);
    let (storage, port) = (sweep.storage("pods"), free_port());
    let [first, mut executor] = [0, 1].map(|index| pod(index, port, &sweep.file, storage.to_str().unwrap()));
    let output = first.output();
    let runs = executor.runs();
    executor.kill();
    let log = text(&executor.output());
    assert!(output.status.success(), "{}\n--- executor\n{log}", text(&output));
    assert!(files(&storage) == expected);
    assert!(runs, "it ends with its Job, or without its scheduler\n{log}");
}

/// What an executor that was built with another version of Ballista's protocol says of itself.
fn register(cluster: &Cluster, ballista_protocol_version: u32) -> Result<(), String> {
    let metadata = ExecutorRegistration {
        id: format!("of version {ballista_protocol_version}"),
        host: Some("127.0.0.1".to_owned()),
        port: 1,
        grpc_port: 2,
        ballista_protocol_version,
        ..ExecutorRegistration::default()
    };
    let end = Instant::now() + PATIENCE;
    let mut scheduler = loop {
        match block_on(SchedulerGrpcClient::connect(cluster.address())) {
            Ok(scheduler) => break scheduler,
            Err(error) => assert!(Instant::now() < end, "{error}\n{}", cluster.logs()),
        }
        thread::sleep(Duration::from_millis(100));
    };
    let registered = block_on(scheduler.register_executor(RegisterExecutorParams { metadata: Some(metadata) }));
    registered.map(drop).map_err(|status| status.message().to_owned())
}

#[test]
fn an_executor_of_another_version_is_no_executor() {
    let (sweep, _) = some_seconds();
    let cluster = Cluster::start(0);
    for version in [0, BALLISTA_PROTOCOL_VERSION + 1] {
        let expected = format!("protocol version mismatch: scheduler={BALLISTA_PROTOCOL_VERSION}, executor={version}");
        assert_eq!(register(&cluster, version), Err(expected));
    }
    let output = sweep.preparing("cluster", &cluster.flags("2")).output();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).lines().last().unwrap().contains("has no executors"), "{}", text(&output));
    assert!(!files(&sweep.storage("cluster")).keys().any(|path| path.ends_with("manifest.json")));
}

#[test]
fn what_cannot_be_prepared_is_told_before_work_starts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    rows(&path, 600, false);
    let sweep = Sweep::of(folder, &[dataset("d", &path, json!({"split": {"kind": "random", "test": 0.2}}))]);
    let refused = |engine: &str, storage: &str, patience: &str| {
        let output = preparing(&sweep.file, storage, &Machine::default(), &["--engine", engine, "--storage-patience", patience]).output();
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        text(&output).lines().last().unwrap().to_owned()
    };
    let storage = sweep.storage("cluster");
    let storage = storage.to_str().unwrap();
    let message = refused(&format!("df://127.0.0.1:{}", free_port()), storage, "1");
    assert!(message.contains("no scheduler answers at 127.0.0.1") && message.contains("`ranksweep-engine scheduler`"), "{message}");
    let message = refused(Cluster::start(0).flags("3")[1], storage, "3");
    assert!(message.contains("has no executors") && message.contains("`ranksweep-engine executor --scheduler df://127.0.0.1"), "{message}");
    let message = refused(Cluster::start(1).flags("60")[1], "memory:///seen-by-one-process", "60");
    assert!(message.contains("do not see the files of memory:///seen-by-one-process/datasets/d-"), "{message}");
    let message = refused("df://127.0.0.1?tls=1", storage, "1");
    assert!(message.contains("it says `tls=1`"), "{message}");
    assert!(!files(&sweep.storage("cluster")).keys().any(|path| path.ends_with("manifest.json")));
}

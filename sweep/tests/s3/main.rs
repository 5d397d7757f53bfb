//! The quickstart on a real S3 server. Skipped unless `RANKSWEEP_S3` names one that takes any credentials, as `./check` starts it:
//!
//!     moto_server -H 127.0.0.1 -p 5555 & RANKSWEEP_S3=http://127.0.0.1:5555 cargo test -p sweep --test s3

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod bucket;
mod hard;
mod proxy;
#[path = "../support/mod.rs"]
mod support;

use bucket::Bucket;
use proxy::{FAULTS, Faults, NONE, Proxy};
use std::{collections::BTreeMap, path::Path, sync::OnceLock};
use support::{SWEEP, Sandbox};

/// Tables and files that hold no times.
fn is_timeless(path: &str) -> bool {
    let tables = ["metrics.parquet", "significance.parquet", "leaderboard.parquet", "plan.json", "sweep.yaml"];
    ["datasets/", "/checkpoint/", "/per_user/"].iter().any(|folder| path.contains(folder))
        || path.ends_with("/per_user.parquet")
        || path.ends_with("/trial.json")
        || tables.iter().any(|name| path.ends_with(name))
}

/// The files of a storage that must not depend on where it is, by their paths.
type Files = BTreeMap<String, Vec<u8>>;

fn timeless(files: Files) -> Files {
    files.into_iter().filter(|(path, _)| is_timeless(path)).collect()
}

fn quickstart() -> Sandbox {
    let sweep = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/quickstart.yaml")).unwrap();
    Sandbox::new(&sweep)
}

/// The quickstart's files after a run on this machine, once for all tests.
fn local() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let sandbox = quickstart();
        sandbox.run_well();
        timeless(files_below(&sandbox.path("runs"), &sandbox.path("runs")))
    })
}

fn files_below(folder: &Path, root: &Path) -> Files {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = |path: std::path::PathBuf| match path.is_dir() {
        true => files_below(&path, root),
        false => Files::from([(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap())]),
    };
    entries.flat_map(files).collect()
}

fn assert_same(found: &Files, expected: &Files) {
    assert!(found.keys().eq(expected.keys()), "{:?}\n{:?}", found.keys(), expected.keys());
    for (path, content) in expected {
        assert!(found[path] == *content, "{path} differs");
    }
}

/// The whole quickstart through a proxy; gives the bucket and the proxy.
fn run(name: &str, faults: Faults) -> Option<(Bucket, Proxy)> {
    let bucket = Bucket::create(name)?;
    let proxy = Proxy::new(&bucket.server, faults);
    let sandbox = quickstart();
    let url = format!("s3://{}/runs", bucket.name);
    let ended = sandbox.ended(bucket::credentials(&mut sandbox.command(&["run", "s.yaml", "--storage", &url]), &proxy.endpoint()));
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.error);
    assert!(ended.out.contains("ndcg@20"), "{}", ended.out);
    Some((bucket, proxy))
}

#[test]
#[expect(clippy::print_stderr, reason = "the counts are a result")]
fn the_quickstart_leaves_the_bytes_of_a_local_run() {
    let Some((bucket, proxy)) = run("quickstart", NONE) else { return };
    let counts = proxy.counts();
    eprintln!("requests of the quickstart: {} in all, {counts:?}", counts.values().sum::<u64>());
    assert_same(&timeless(bucket.files("runs/")), local());
    ranks_again(&bucket);
}

/// From another folder, with other cutoffs and tests: the stored checkpoints are all that is needed.
fn ranks_again(bucket: &Bucket) {
    let (files, at) = (bucket.files("runs/"), format!("s3://{}", bucket.name));
    let dataset = files.keys().find_map(|path| path.strip_suffix("/manifest.json")).unwrap();
    let dataset = format!("{at}/runs/{dataset}");
    let elsewhere = Sandbox::new(SWEEP);
    let trials = format!("{at}/runs/trials");
    let mut command = elsewhere.command(&["evaluate", "--checkpoints", &trials, "--dataset", &dataset, "--out", &format!("{at}/again")]);
    command.args(["--metrics", "ndcg,auc", "--cutoffs", "5,100", "--tests", "wilcoxon"]);
    let ended = elsewhere.ended(bucket::credentials(&mut command, &bucket.server));
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    assert!(ended.out.contains("ndcg@100") && ended.out.contains("comparisons are significant"), "{}", ended.out);
    let again = bucket.files("again/");
    let names: Vec<&str> = again.keys().filter(|path| !path.starts_with("per_user/")).map(String::as_str).collect();
    assert_eq!(names, ["checkpoints.parquet", "groups.parquet", "metrics.parquet", "significance.parquet", "variance_components.parquet"]);
}

#[test]
#[expect(clippy::print_stderr, reason = "the counts are a result")]
fn faults_change_no_byte_and_lose_no_trial() {
    let faults = Faults { per_thousand: 50, seed: 8, ..NONE };
    let Some((bucket, proxy)) = run("faulty", faults) else { return };
    let fates = proxy.fates();
    eprintln!("fates of the faulty quickstart's requests: {fates:?}");
    assert!(FAULTS.iter().all(|fate| fates.contains_key(fate)), "not all of {FAULTS:?} among {fates:?}");
    assert_same(&timeless(bucket.files("runs/")), local());
}

#[test]
fn a_bucket_that_is_missing_is_named() {
    let Some(bucket) = Bucket::create("present") else { return };
    let sandbox = Sandbox::new(SWEEP);
    let mut command = sandbox.command(&["run", "s.yaml", "--storage", "s3://absent/runs"]);
    let ended = sandbox.ended(bucket::credentials(&mut command, &bucket.server));
    assert_eq!(ended.complaint(1), "cannot reach s3://absent/runs: there is no such bucket; create it, or correct the URL");
}

#[test]
fn a_sweep_is_shared_and_a_bucket_without_conditions_refused() {
    let Some(bucket) = Bucket::create("shared") else { return };
    let (sandbox, storage) = (Sandbox::new(SWEEP), format!("s3://{}/runs", bucket.name));
    let ended = |arguments: &[&str], endpoint: &str| {
        let mut command = sandbox.command(arguments);
        sandbox.ended(bucket::credentials(command.args(["--storage", &storage]), endpoint))
    };
    assert_eq!(ended(&["prepare", "s.yaml"], &bucket.server).code, Some(0));
    let lax = Proxy::new(&bucket.server, Faults { drops_conditions: true, ..NONE });
    let refused = ended(&["train", "s.yaml", "--share"], &lax.endpoint());
    let expected = "ignores conditions on writes, so that two processes could take the same trial; use a storage that honours";
    assert!(refused.complaint(1).starts_with(&format!("{storage} {expected}")), "{}", refused.error);
    let shared = ended(&["train", "s.yaml", "--share"], &bucket.server);
    assert_eq!(shared.code, Some(0), "{}", shared.error);
    assert_eq!(bucket.files("runs/").keys().filter(|path| path.contains("claims/")).count(), 0);
}

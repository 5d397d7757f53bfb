//! A cluster whose relations stand in a bucket. Skipped unless `RANKSWEEP_S3` names an S3 server that takes any credentials, as `./check` starts it.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

#[allow(dead_code, reason = "a part of it is used")]
#[path = "../../sweep/tests/s3/bucket.rs"]
mod bucket;
#[allow(dead_code, reason = "a part of it is used")]
#[path = "cluster/processes.rs"]
mod processes;

use bucket::Bucket;
use processes::{Cluster, preparing};
use std::{collections::BTreeMap, fs};

/// The files of a storage, by their paths.
type Files = BTreeMap<String, Vec<u8>>;

#[test]
fn relations_stand_in_a_bucket_meanwhile() {
    let Some(bucket) = Bucket::create("engine") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sweep.yaml");
    let source = "{format: synthetic, users: 200, items: 150, interactions: 5000}";
    let datasets = format!("[{{name: d, source: {source}, k_core: 5, split: {{kind: random, test: 0.2}}}}]");
    fs::write(&file, format!("name: s\ndatasets: {datasets}\ngrid: [{{backbones: [{{kind: popularity}}]}}]\n")).unwrap();
    let cluster = Cluster::start(2);
    let prepared = |place: &str, flags: &[&str]| {
        let storage = format!("s3://{}/{place}", bucket.name);
        let output = preparing(&file, &storage, &[flags, &["--memory", "1MiB"]].concat()).output();
        assert!(output.status.success(), "{}\n{}", String::from_utf8_lossy(&output.stderr), cluster.logs());
        bucket.files(place)
    };
    let expected = prepared("datafusion/", &["--engine", "datafusion"]);
    let found = prepared("cluster/", &cluster.flags("60"));
    assert!(expected.keys().any(|path| path.ends_with("/manifest.json")), "{:?}", expected.keys());
    assert!(found == expected, "{:?}\n{:?}", found.keys(), expected.keys());
}

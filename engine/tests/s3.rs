//! A cluster whose relations stand in a bucket. Skipped unless `RANKSWEEP_S3` names an S3 server that takes any credentials, as `./check` starts it.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

#[allow(dead_code, reason = "a part of it is used")]
#[path = "../../sweep/tests/s3/bucket.rs"]
mod bucket;
#[allow(dead_code, reason = "a part of it is used")]
#[path = "cluster/processes.rs"]
mod processes;
#[allow(dead_code, reason = "a part of it is used")]
#[path = "../../sweep/tests/s3/proxy.rs"]
mod proxy;

use bucket::Bucket;
use processes::{Cluster, Machine, preparing};
use proxy::{Fate, Faults, NONE, Proxy};
use std::{collections::BTreeMap, fs};

/// The files of a storage, by their paths.
type Files = BTreeMap<String, Vec<u8>>;

/// What DataFusion makes of a dataset on a server, and what a cluster whose every request goes through a proxy does.
fn assert_same_bytes(bucket: &Bucket, proxy: &Proxy) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sweep.yaml");
    let source = "{format: synthetic, users: 200, items: 150, interactions: 5000}";
    let datasets = format!("[{{name: d, source: {source}, k_core: 5, split: {{kind: random, test: 0.2}}}}]");
    fs::write(&file, format!("name: s\ndatasets: {datasets}\ngrid: [{{backbones: [{{kind: popularity}}]}}]\n")).unwrap();
    let machine = |store| Machine { store: Some(store), ..Machine::default() };
    let cluster = Cluster::start_on(machine(proxy.endpoint()), 2);
    let prepared = |place: &str, store: String, flags: &[&str]| {
        let storage = format!("s3://{}/{place}", bucket.name);
        let output = preparing(&file, &storage, &machine(store), &[flags, &["--memory", "1MiB"]].concat()).output();
        assert!(output.status.success(), "{}\n{}", String::from_utf8_lossy(&output.stderr), cluster.logs());
        bucket.files(place)
    };
    let expected = prepared("datafusion/", bucket.server.clone(), &["--engine", "datafusion"]);
    let found = prepared("cluster/", proxy.endpoint(), &cluster.flags("60"));
    assert!(expected.keys().any(|path| path.ends_with("/manifest.json")), "{:?}", expected.keys());
    assert!(found == expected, "{:?}\n{:?}", found.keys(), expected.keys());
}

#[test]
fn relations_stand_in_a_bucket_meanwhile() {
    let Some(bucket) = Bucket::create("engine") else { return };
    assert_same_bytes(&bucket, &Proxy::new(&bucket.server, NONE));
}

#[test]
#[expect(clippy::print_stderr, reason = "the counts are a result")]
fn a_store_that_spoils_one_of_twenty_requests_changes_no_byte() {
    let Some(bucket) = Bucket::create("engine-faulty") else { return };
    let proxy = Proxy::new(&bucket.server, Faults { per_thousand: 50, seed: 2, ..NONE });
    assert_same_bytes(&bucket, &proxy);
    let fates = proxy.fates();
    eprintln!("fates of the cluster's requests: {fates:?}");
    let kinds = fates.keys().filter(|&&fate| fate != Fate::Relayed).count();
    assert!(kinds > 3, "a few kinds of faults: {fates:?}");
}

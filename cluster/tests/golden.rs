//! The objects of sweeps of every shape, as they were once read through by eye.
//!
//! `RANKSWEEP_GOLDEN=renew cargo test -p cluster --test golden` writes the files anew; the difference is then to be read.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use cluster::to_yaml;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{ConfigMap, Service},
    networking::v1::NetworkPolicy,
};
use serde::de::DeserializeOwned;
use std::{fs, path::PathBuf};
use support::{SHAPES, rendered};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.yaml"))
}

#[test]
fn objects_are_those_that_were_read_through() {
    for (name, ..) in SHAPES {
        let found = to_yaml(&rendered(name));
        if std::env::var_os("RANKSWEEP_GOLDEN").is_some() {
            fs::write(file(name), &found).unwrap();
        }
        let expected = fs::read_to_string(file(name)).unwrap_or_default();
        assert!(found == expected, "tests/golden/{name}.yaml is not what is rendered; RANKSWEEP_GOLDEN=renew writes it anew:\n{found}");
    }
}

#[test]
fn no_object_has_a_field_that_kubernetes_does_not_know() {
    for (name, ..) in SHAPES {
        let documents: Vec<serde_json::Value> = serde_yaml::from_multiple(&to_yaml(&rendered(name))).unwrap();
        assert!(documents.len() > 4, "{name}");
        for document in documents {
            let kind = document["kind"].as_str().unwrap().to_owned();
            let unknown = match kind.as_str() {
                "Job" => unknown::<Job>(document),
                "ConfigMap" => unknown::<ConfigMap>(document),
                "NetworkPolicy" => unknown::<NetworkPolicy>(document),
                "Service" => unknown::<Service>(document),
                other => panic!("{name}: {other} is no kind that is rendered"),
            };
            assert_eq!(unknown, Vec::<String>::new(), "{name}: {kind}");
        }
    }
}

/// The paths of fields that a type does not have; a wrong type fails.
fn unknown<T: DeserializeOwned>(document: serde_json::Value) -> Vec<String> {
    let mut unknown = Vec::new();
    serde_ignored::deserialize::<_, _, T>(document, |path| unknown.push(path.to_string())).unwrap();
    unknown
}

#[test]
fn an_unknown_field_would_be_seen() {
    let document = serde_json::json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "spec": {"paralelism": 1, "template": {}}});
    assert_eq!(unknown::<Job>(document), ["spec.?.paralelism"]);
}

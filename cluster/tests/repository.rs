//! The files beside the crate agree with it: the base that a cluster needs, and the page for its users.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use cluster::{
    Object, Resources,
    client::{
        Call,
        call::{DRIVER, USER},
    },
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

fn read(path: &str) -> String {
    fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

fn documents(path: &str) -> Vec<Value> {
    serde_yaml::from_multiple(&read(path)).unwrap()
}

#[test]
fn the_base_has_what_the_driver_runs_as() {
    let documents = documents("k8s/base/driver.yaml");
    let of_kind = |kind: &str| documents.iter().find(|document| document["kind"] == kind).unwrap();
    let names = ["ServiceAccount", "Role", "RoleBinding"].map(|kind| of_kind(kind)["metadata"]["name"].as_str().unwrap());
    assert_eq!(names, [cluster::objects::ACCOUNT; 3]);
    let binding = of_kind("RoleBinding");
    assert_eq!((&binding["roleRef"]["name"], &binding["subjects"][0]["name"]), (&names[0].into(), &names[0].into()));
    assert_eq!(granted(of_kind("Role")), asked(&DRIVER), "no more and no less than it asks for");
}

/// The calls that a Role allows.
fn granted(role: &Value) -> BTreeSet<String> {
    let words = |rule: &Value, key: &str| -> Vec<String> { serde_json::from_value(rule[key].clone()).unwrap() };
    let of_rule = |rule: &Value| {
        let resources = words(rule, "resources");
        let of = |verb: String| resources.iter().map(|resource| format!("{verb} {resource}")).collect::<Vec<_>>();
        words(rule, "verbs").into_iter().flat_map(of).collect::<Vec<_>>()
    };
    role["rules"].as_array().unwrap().iter().flat_map(of_rule).collect()
}

fn asked(calls: &[Call]) -> BTreeSet<String> {
    calls.iter().map(ToString::to_string).collect()
}

#[test]
fn the_base_has_what_a_user_may() {
    let role = &documents("k8s/base/user.yaml")[0];
    assert_eq!(granted(role), asked(&USER), "no more and no less than the commands ask for");
    let groups: BTreeMap<&str, &str> = role["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| (rule["resources"][0].as_str().unwrap(), rule["apiGroups"][0].as_str().unwrap()))
        .collect();
    assert_eq!(
        (groups["jobs"], groups["pods"], groups["networkpolicies"], groups["workloads"]),
        ("batch", "", "networking.k8s.io", "kueue.x-k8s.io")
    );
}

#[test]
fn nobody_reaches_a_pod_that_no_policy_lets_be_reached() {
    let policy = &documents("k8s/base/network-policy.yaml")[0];
    let chosen: BTreeMap<String, String> = serde_json::from_value(policy["spec"]["podSelector"]["matchLabels"].clone()).unwrap();
    assert_eq!((&policy["spec"]["policyTypes"], &policy["spec"]["ingress"]), (&serde_json::json!(["Ingress"]), &Value::Null));
    for (name, ..) in support::SHAPES {
        for object in support::rendered(name) {
            let Object::Job(job) = object else { continue };
            let labels = job.spec.unwrap().template.metadata.unwrap().labels.unwrap();
            assert!(chosen.iter().all(|(key, value)| labels.get(key) == Some(value)), "{name}");
        }
    }
}

#[test]
fn kustomizations_name_files_that_are_there() {
    for folder in ["k8s/base", "k8s/examples/minio", "k8s/examples/kueue", "k8s/examples/prometheus"] {
        let kustomization = &documents(&format!("{folder}/kustomization.yaml"))[0];
        for resource in kustomization["resources"].as_array().unwrap() {
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).join(resource.as_str().unwrap());
            assert!(path.exists(), "{}", path.display());
        }
    }
}

#[test]
fn the_page_names_every_key_of_resources_with_its_default() {
    let page = read("docs/cluster.md");
    let default = serde_json::to_value(Resources::default()).unwrap();
    for (key, value) in default.as_object().unwrap() {
        let shown = match value {
            Value::String(text) => format!("`{key}` [{text}]"),
            Value::Number(number) => format!("`{key}` [{number}]"),
            _ => format!("`{key}`"),
        };
        assert!(page.contains(&shown), "docs/cluster.md lacks {shown}");
    }
}

//! What stands beside the crate agrees with it: the base that a cluster needs, and the page for its users.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

use cluster::{Resources, client::call::DRIVER};
use serde_json::Value;
use std::{fs, path::PathBuf};

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
    let rules = of_kind("Role")["rules"].as_array().unwrap();
    let words = |rule: &Value, key: &str| -> Vec<String> { serde_json::from_value(rule[key].clone()).unwrap() };
    let granted = rules.iter().flat_map(|rule| {
        let of = move |verb: String| words(rule, "resources").into_iter().map(move |resource| format!("{verb} {resource}"));
        words(rule, "verbs").into_iter().flat_map(of)
    });
    assert_eq!(granted.collect::<Vec<_>>(), DRIVER.map(|call| call.to_string()), "no more and no less than it asks for");
}

#[test]
fn kustomizations_name_files_that_are_there() {
    for folder in ["k8s/base", "k8s/examples/minio"] {
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

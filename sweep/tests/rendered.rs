//! The command lines of a cluster's pods, run by hand one after the other, give the bytes of a run on one machine.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use clap::Parser;
use serde_json::Value;
use std::path::Path;
use support::{Sandbox, changed};
use sweep::cli::Cli;

/// A sweep whose storage and source are below the sandbox's folder, as on a volume.
fn on_a_volume(more: &str) -> Sandbox {
    let sandbox = Sandbox::new("");
    let folder = sandbox.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let sweep =
        changed("path: ratings.csv", &format!("path: {folder}/ratings.csv")).replace("temperature: 0.2", "temperature: [0.1, 0.2, 0.4]");
    let resources = format!("resources: {{image: 'example.com/ranksweep:1', volume: {{claim: runs, path: {folder}}}}}\n");
    sandbox.write("s.yaml", sweep + &resources + more);
    sandbox
}

/// The rendered Jobs.
fn jobs(sandbox: &Sandbox, more: &[&str]) -> Vec<Value> {
    let rendered = sandbox.ended(&mut sandbox.command(&[&["render", "s.yaml", "--out", "objects"], more].concat()));
    assert_eq!(rendered.code, Some(0), "{}", rendered.error);
    let text = std::fs::read_to_string(sandbox.path("objects/tiny.yaml")).unwrap();
    let documents: Vec<Value> = serde_yaml::from_multiple(&text).unwrap();
    documents.into_iter().filter(|document| document["kind"] == "Job").collect()
}

/// The words of a pod's command line; in a pod the index is put in by Kubernetes.
fn words(job: &Value, index: u64) -> Vec<String> {
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    let words: Vec<String> = serde_json::from_value(container["args"].clone()).unwrap();
    let file = |word: String| if word == "/sweep/sweep.yaml" { "s.yaml".to_owned() } else { word };
    words.into_iter().map(|word| file(word.replace("$(JOB_COMPLETION_INDEX)", &index.to_string()))).collect()
}

/// Stores the plan, as `submit` does before it creates anything.
fn store_plan(sandbox: &Sandbox, words: &[String]) {
    let at = words.iter().position(|word| word == "--plan").unwrap() + 1;
    let plan = sandbox.ended(&mut sandbox.command(&["plan", "s.yaml", "--json"]));
    std::fs::create_dir_all(Path::new(&words[at]).parent().unwrap()).unwrap();
    std::fs::write(&words[at], plan.out.replace("FOLDER", sandbox.path("").to_str().unwrap().trim_end_matches('/'))).unwrap();
}

#[track_caller]
fn gives_the_bytes_of_one_machine(more: &str, stages: usize, offline: bool) {
    let sandbox = on_a_volume(more);
    sandbox.run_well();
    let expected = sandbox.results();
    std::fs::remove_dir_all(sandbox.path("runs")).unwrap();
    let jobs = match offline {
        true => rendered_offline(&sandbox),
        false => jobs(&sandbox, &[]),
    };
    assert_eq!(jobs.len(), 1 + stages);
    if !offline {
        store_plan(&sandbox, &words(&jobs[1], 0));
    }
    for job in &jobs[1..] {
        // Backwards: no trial waits for another.
        for index in (0..job["spec"]["completions"].as_u64().unwrap_or(1)).rev() {
            let words = words(job, index);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let ended = sandbox.ended(&mut sandbox.command(&words));
            assert_eq!(ended.code, Some(0), "{words:?}\n{}", ended.error);
        }
    }
    let found = sandbox.results();
    let differ: Vec<_> = expected.iter().filter(|(path, bytes)| found.get(*path) != Some(*bytes)).map(|(path, _)| path).collect();
    assert!(differ.is_empty() && expected.len() > 10, "{differ:?}");
    assert_eq!(sandbox.stored("report.html").len(), 1);
}

/// Where neither the source nor the storage is there.
fn rendered_offline(sandbox: &Sandbox) -> Vec<Value> {
    std::fs::rename(sandbox.path("ratings.csv"), sandbox.path("away.csv")).unwrap();
    let refused = sandbox.ended(&mut sandbox.command(&["render", "s.yaml"]));
    assert_ne!(refused.code, Some(0), "the source is needed");
    let jobs = jobs(sandbox, &["--offline"]);
    std::fs::rename(sandbox.path("away.csv"), sandbox.path("ratings.csv")).unwrap();
    jobs
}

/// What these pods do is `engine/tests/cluster`'s.
#[test]
fn executors_are_pods_of_the_preparation() {
    let sandbox = on_a_volume("preparation: {executors: 2}\n");
    let prepare = &jobs(&sandbox, &[])[1];
    let command = &prepare["spec"]["template"]["spec"]["containers"][0]["command"];
    assert_eq!((prepare["spec"]["completions"].as_u64(), command), (Some(3), &serde_json::json!(["ranksweep-engine"])));
    let words = words(prepare, 2);
    assert_eq!(
        (&words[..4], &words[5..8]),
        (&["gang", "--index", "2", "--scheduler"].map(str::to_owned)[..], &["--", "prepare", "s.yaml"].map(str::to_owned)[..])
    );
    assert!(words[4].starts_with("df://tiny-") && words[4].ends_with("-prepare:50050?partitions=16"), "{}", words[4]);
}

/// Variables of the file stand in plain text in what is rendered; one whose name says that it is a secret is refused, and its value shown nowhere.
#[test]
fn a_variable_that_holds_a_secret_is_not_rendered() {
    let sandbox = on_a_volume("# data by ${OWNER}\n");
    let text = std::fs::read_to_string(sandbox.path("s.yaml")).unwrap();
    let folder = sandbox.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let rendered = |name: &str| {
        let path = [format!("path: {folder}/ratings.csv"), format!("path: \"{folder}/${{{name}}}.csv\"")];
        sandbox.write("s.yaml", text.replace(&path[0], &path[1]));
        sandbox.ended(sandbox.command(&["render", "s.yaml", "--out", "objects"]).env(name, "ratings").env("OWNER", "me"))
    };
    let known = "is a secret, and what a sweep file means is stored and shown";
    let named = "its name says that it holds a secret, which would stand readable in every Job";
    for (name, words) in [("AWS_SECRET_ACCESS_KEY", known), ("DATA_TOKEN", named), ("data_password", named), ("RAW_API_KEY", named)] {
        let ended = rendered(name);
        let complaint = ended.complaint(2);
        assert!(complaint.contains(name) && complaint.contains(words), "{complaint}");
        assert!(!ended.error.contains("ratings") && ended.out.is_empty() && !sandbox.path("objects").exists(), "{}", ended.error);
    }
    let ended = rendered("DATA_FOLDER");
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    assert!(std::fs::read_to_string(sandbox.path("objects/tiny.yaml")).unwrap().contains("DATA_FOLDER"));
}

#[test]
fn what_is_rendered_offline_gives_the_same_bytes() {
    gives_the_bytes_of_one_machine("", 3, true);
    gives_the_bytes_of_one_machine("search: {kind: successive-halving, epochs: 1}\n", 4, true);
}

#[test]
fn a_plan_that_was_rendered_offline_is_of_its_file() {
    let sandbox = on_a_volume("");
    let words = words(&jobs(&sandbox, &["--offline"])[1], 0);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert!(words[5].contains("/plans/offline-"), "{words:?}");
    let text = std::fs::read_to_string(sandbox.path("s.yaml")).unwrap();
    sandbox.write("s.yaml", text.replace("[0.1, 0.2, 0.4]", "[0.1, 0.2]"));
    let ended = sandbox.ended(&mut sandbox.command(&words));
    assert!(ended.complaint(2).ends_with(".json is the plan of another sweep file; render the sweep again"), "{}", ended.error);
}

#[test]
fn the_pods_of_a_grid_do_what_one_machine_does() {
    gives_the_bytes_of_one_machine("", 3, false);
}

#[test]
fn the_pods_of_rungs_do_what_one_machine_does() {
    gives_the_bytes_of_one_machine("search: {kind: successive-halving, epochs: 1}\n", 4, false);
}

#[test]
fn the_pods_of_seeds_that_pick_and_of_those_that_repeat_do_what_one_machine_does() {
    gives_the_bytes_of_one_machine("seeds: [1, 2]\nsearch: {kind: grid, tuning_seeds: 1}\n", 4, false);
}

#[test]
fn the_driver_is_told_what_this_program_understands() {
    let sandbox = on_a_volume("");
    let driver = words(&jobs(&sandbox, &[])[0], 0);
    assert_eq!(driver[..2], ["drive", "tiny"]);
    let parsed = Cli::try_parse_from(["ranksweep".to_owned()].into_iter().chain(driver));
    assert!(parsed.is_ok(), "{}", parsed.unwrap_err());
}

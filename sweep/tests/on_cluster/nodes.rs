//! A trial over several nodes has a Job of its own, whose indexes are ranks.

use crate::{fake::Act, setting::Setting};
use serde_json::json;

#[test]
fn the_status_and_the_log_of_a_trial_are_those_of_its_first_rank() {
    let setting = Setting::new();
    let text = std::fs::read_to_string(setting.sandbox.path("s.yaml")).unwrap();
    setting.sandbox.write("s.yaml", text.replace("resources: {", "resources: {gpus: 1, nodes: 2, secret: bucket, "));
    setting.well("submit s.yaml --namespace team");
    let (hash, name) = (setting.hash(), |job: &serde_json::Value| job["metadata"]["name"].as_str().unwrap().to_owned());
    setting.fake.with(|world| {
        world.pods(|_| Act::Run);
        for job in world.list("jobs").iter().map(name).filter(|name| name.ends_with("-train-1") || name.ends_with("-train-2")) {
            world.change("jobs", &job, &json!({"spec": {"suspend": false}}));
        }
        (0..5).for_each(|_| world.tick());
    });
    let status = setting.json("status s.yaml --namespace team --json");
    let states: Vec<_> = status["trials"].as_array().unwrap().iter().map(|trial| trial["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["waiting", "running", "running"]);
    let pod = format!("tiny-{hash}-train-1-0-0");
    assert_eq!(setting.well("logs s.yaml --namespace team --index 1"), format!("==> {pod} <==\nhello from {pod}\n"));
    let other = format!("tiny-{hash}-train-1-1-0");
    assert_eq!(setting.well("logs s.yaml --namespace team --stage train-1 --index 1"), format!("==> {other} <==\nhello from {other}\n"));
}

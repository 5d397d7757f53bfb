//! From the file to the tables.

use crate::setting::Setting;
use cluster::stages::Outcome;

#[test]
fn a_sweep_on_a_cluster_has_the_bytes_of_one_on_this_machine() {
    let setting = Setting::new();
    let said = setting.well("submit s.yaml --namespace team");
    let hash = setting.hash();
    assert_eq!(
        said,
        format!(
            "sweep tiny: submitted to namespace team as {hash}, 3 trials\n\
             `ranksweep status s.yaml --namespace team` shows how it fares\n"
        )
    );
    let before = setting.well("status s.yaml --namespace team");
    assert!(before.contains("3 trials: 0 done, 0 running, 3 waiting, 0 failed"), "{before}");
    assert_eq!(setting.drive(), Outcome::Done);
    let on_cluster = setting.sandbox.results();
    let after = setting.well("status s.yaml --namespace team");
    assert!(after.contains("3 trials: 3 done, 0 running, 0 waiting, 0 failed") && after.contains("2 epochs, ndcg@5 0."), "{after}");
    assert_eq!(
        setting.well("submit s.yaml --namespace team").lines().next().unwrap(),
        format!("sweep tiny: submission {hash} is done; nothing was changed. Its tables are in FOLDER/runs/sweeps/tiny")
    );
    assert_eq!(setting.well("submit s.yaml --namespace team --wait").lines().last(), Some("the sweep is done"));
    std::fs::remove_dir_all(setting.sandbox.path("runs")).unwrap();
    setting.sandbox.run_well();
    assert!(on_cluster == setting.sandbox.results());
}

#[test]
fn a_changed_sweep_trains_what_is_new() {
    let setting = Setting::new();
    setting.well("submit s.yaml --namespace team");
    let first = setting.hash();
    setting.drive();
    let done = |setting: &Setting| setting.sandbox.stored("done.json").len();
    let before: Vec<_> = setting.sandbox.stored("done.json").iter().map(|path| path.metadata().unwrap().modified().unwrap()).collect();
    let text = std::fs::read_to_string(setting.sandbox.path("s.yaml")).unwrap();
    setting.sandbox.write("s.yaml", text.replace("temperature: 0.2", "temperature: 0.3"));
    let said = setting.well("submit s.yaml --namespace team");
    assert!(said.contains(&format!("submission {first} has ended, and its objects are left")), "{said}");
    setting.well("cancel s.yaml --namespace team");
    setting.well("submit s.yaml --namespace team");
    assert_ne!(setting.hash(), first);
    assert_eq!((done(&setting), setting.drive()), (3, Outcome::Done));
    assert_eq!(done(&setting), 4);
    let after: Vec<_> = setting.sandbox.stored("done.json").iter().map(|path| path.metadata().unwrap().modified().unwrap()).collect();
    assert_eq!(after.iter().filter(|time| before.contains(time)).count(), 3, "no trial was trained twice");
}

#[test]
fn logs_and_cancel_are_about_the_pods() {
    let setting = Setting::new();
    setting.well("submit s.yaml --namespace team");
    let hash = setting.hash();
    let nobody = setting.ranksweep("logs s.yaml --namespace team --index 1");
    assert!(nobody.complaint(1).starts_with("there is no pod of `train`, index 1: it has not begun"), "{}", nobody.error);
    let id = setting.json("status s.yaml --namespace team --json")["trials"][1]["trial"].as_str().unwrap().to_owned();
    let nobody = setting.ranksweep(&format!("logs s.yaml --namespace team --trial {id}"));
    assert!(nobody.complaint(1).starts_with(&format!("there is no pod of trial {id}: it has not begun")), "{}", nobody.error);
    setting.drive();
    let pod = format!("tiny-{hash}-train-1-0");
    assert_eq!(setting.well("logs s.yaml --namespace team --index 1"), format!("==> {pod} <==\nhello from {pod}\n"));
    assert_eq!(setting.well(&format!("logs s.yaml --namespace team --trial {id} --follow")), format!("==> {pod} <==\nhello from {pod}\n"));
    let said = setting.well("cancel s.yaml --namespace team");
    let again = "`ranksweep submit s.yaml --namespace team` goes on";
    assert_eq!(said, format!("sweep tiny: stopped and removed ({hash}). What it has stored stays: {again}\n"));
    assert_eq!(
        setting.well("cancel s.yaml --namespace team"),
        "sweep tiny is not on the cluster, in namespace team; nothing was changed\n"
    );
}

#[test]
fn pods_of_what_was_submitted_are_not_taken_for_those_of_a_changed_file() {
    let setting = Setting::new();
    setting.well("submit s.yaml --namespace team");
    setting.drive();
    let text = std::fs::read_to_string(setting.sandbox.path("s.yaml")).unwrap();
    setting.sandbox.write("s.yaml", text.replace("temperature: 0.2", "temperature: 0.3"));
    let status = setting.json("status s.yaml --namespace team --json");
    let states: Vec<_> = status["trials"].as_array().unwrap().iter().map(|trial| trial["state"].as_str().unwrap()).collect();
    assert_eq!(states.iter().filter(|state| **state == "waiting").count(), 1, "the one that was not submitted: {states:?}");
    let id = status["trials"][1]["trial"].as_str().unwrap();
    let refused = setting.ranksweep(&format!("logs s.yaml --namespace team --trial {id}"));
    assert!(refused.complaint(2).contains("the sweep file has changed since it was submitted"), "{}", refused.error);
}

#[test]
fn the_driver_is_the_same_binary() {
    let setting = Setting::new();
    setting.well("submit s.yaml --namespace team");
    let line = format!("drive tiny --namespace team --submission {}", setting.hash());
    assert_eq!(setting.drive(), Outcome::Done);
    setting.well(&line);
    setting.fake.with(|world| {
        let name = format!("tiny-{}-evaluate", world.list("jobs")[0]["metadata"]["labels"]["ranksweep.dev/submission"].as_str().unwrap());
        let failed = [("type", "Failed"), ("status", "True"), ("reason", "BackoffLimitExceeded"), ("message", "too often")];
        let failed: serde_json::Map<_, _> = failed.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
        world.change("jobs", &name, &serde_json::json!({"status": {"conditions": [failed]}}));
    });
    let ended = setting.ranksweep(&line);
    assert!(ended.complaint(42).contains("-evaluate failed: too often (BackoffLimitExceeded)"), "{}", ended.error);
}

#[test]
fn without_a_cluster_the_status_is_that_of_the_storage() {
    let setting = Setting::new();
    setting.sandbox.run_well();
    setting.sandbox.write("kubeconfig", "");
    let status = setting.well("status s.yaml");
    assert!(status.contains("note: no cluster is configured") && status.contains("from the storage alone"), "{status}");
    assert!(status.contains("3 trials: 3 done"), "{status}");
}

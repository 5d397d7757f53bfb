//! The troubles of a person's first day: nothing moves, trials fail, the bucket is not reached from here.

use crate::{
    fake::{Act, Start},
    setting::Setting,
    support::changed,
};
use cluster::stages::Outcome;
use std::{process::Stdio, thread};

/// Five trials, of which two explode, as they would again.
fn half_exploding() -> Setting {
    Setting::of(
        &changed("dim: 4}", "dim: 4, init: {kind: normal, std: 0.1}}").replace("learning_rate: 0.05", "learning_rate: [0.05, 1.0e+38]"),
    )
}

/// Has the driver start its first stage, and the cluster do what it does then.
fn begin(setting: &Setting) {
    let prepare = format!("tiny-{}-prepare", setting.hash());
    setting.fake.with(|world| {
        let annotations = serde_json::json!({"ranksweep.dev/started": "true"});
        world.change("jobs", &prepare, &serde_json::json!({"spec": {"suspend": false}, "metadata": {"annotations": annotations}}));
        (0..5).for_each(|_| world.tick());
    });
}

/// The words of a command as they were printed between backquotes.
fn printed(text: &str, begins: &str) -> String {
    let command = text.split('`').find(|part| part.starts_with(begins)).unwrap_or_else(|| panic!("no `{begins}` in {text}"));
    command.strip_prefix("ranksweep ").unwrap().to_owned()
}

#[test]
fn a_missing_secret_is_said_by_file_and_by_name() {
    let setting = Setting::new();
    setting.well("submit s.yaml --namespace team");
    setting.fake.with(|world| {
        world.pods(|_| Act::Run);
        world.starts(|run| match run.job.ends_with("-prepare") {
            true => Start::Waits("CreateContainerConfigError", "secret \"bucket\" not found"),
            false => Start::Runs,
        });
    });
    begin(&setting);
    let words = "Secret `bucket` does not exist: create it (`kubectl create secret generic bucket --namespace team --from-env-file=FILE`)";
    let by_file = setting.well("status s.yaml --namespace team");
    assert!(by_file.contains(words) && by_file.contains("runs: 0 of 1 done, 1 active, 0 of them ready"), "{by_file}");
    let by_name = setting.well("status tiny --namespace team");
    assert!(by_name.contains(words) && by_name.contains("no pod of a trial is there"), "{by_name}");
    let json = setting.json("status tiny --namespace team --json");
    assert_eq!((&json["storage"], json["trials"].as_array().unwrap().len()), (&serde_json::Value::Null, 0));
    let nobody = setting.ranksweep("status other --namespace team");
    let words = "sweep `other` is not on the cluster, in namespace team; `ranksweep list --namespace team` shows which are";
    assert_eq!(nobody.complaint(1), words);
}

#[test]
fn the_cluster_is_seen_from_where_the_storage_is_not() {
    let setting = Setting::new();
    setting.well("submit s.yaml --namespace team");
    setting.drive();
    let nowhere = format!("http://{}", std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let mut command = setting.command("status s.yaml --namespace team --storage s3://bucket/runs --storage-patience 1");
    command.env("AWS_ENDPOINT_URL", nowhere).env("AWS_ACCESS_KEY_ID", "a").env("AWS_SECRET_ACCESS_KEY", "b").env("AWS_REGION", "c");
    let ended = setting.sandbox.ended(&mut command);
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    assert!(ended.out.contains("What follows is known from the cluster alone\n"), "{}", ended.out);
    let succeeded = ended.out.lines().filter(|line| line.contains("-train-") && line.contains("Succeeded")).count();
    assert_eq!(succeeded, 3, "{}", ended.out);
}

#[test]
fn who_waits_is_told_what_to_look_at_and_that_works_as_printed() {
    let setting = Setting::new();
    setting.run_pods_but(|pod| pod.job.ends_with("-prepare").then_some(Act::Says(42, "error: dataset `small`: line 3 is damaged")));
    let mut submit = setting.command("submit s.yaml --namespace team --wait");
    let waiting = submit.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while setting.fake.with(|world| world.list("jobs")).len() < 4 {
        thread::yield_now();
    }
    setting.drive();
    let ended = waiting.wait_with_output().unwrap();
    let [out, error] = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let hash = setting.hash();
    assert_eq!(ended.status.code(), Some(1), "{out}\n{error}");
    assert!(out.contains("its last pod ended with exit code 42: error: dataset `small`: line 3 is damaged"), "{out}");
    assert!(error.contains(&format!("error: tiny-{hash}-prepare failed: ")), "{error}");
    let logs = printed(&error, "ranksweep logs");
    assert_eq!(logs, "logs s.yaml --namespace team --stage prepare");
    assert!(setting.well(&logs).contains(&format!("hello from tiny-{hash}-prepare-0-0")));
    // The driver's own log sends one to the same place, by the sweep's name.
    let driver = setting.ranksweep(&format!("drive tiny --namespace team --submission {hash}"));
    assert_eq!(printed(driver.complaint(42), "ranksweep logs"), "logs tiny --namespace team --stage prepare");
    assert!(setting.well("logs tiny --namespace team --stage prepare").contains("hello from"));
}

#[test]
fn the_storage_that_was_given_is_in_the_command_that_is_printed() {
    let setting = Setting::new();
    let storage = setting.sandbox.path("others");
    let said = setting.well(&format!("submit s.yaml --namespace team --storage {}", storage.display()));
    assert_eq!(printed(&said, "ranksweep status"), "status s.yaml --namespace team --storage FOLDER/others");
}

#[test]
fn failed_trials_are_named_and_not_run_again_for_nothing() {
    let setting = half_exploding();
    setting.well("submit s.yaml --namespace team");
    assert_eq!(setting.drive(), Outcome::FailedTrials(2));
    let ended = setting.ranksweep("submit s.yaml --namespace team --wait");
    let (hash, words) = (setting.hash(), ended.complaint(1).to_owned());
    assert!(words.starts_with("2 trials failed (index 1: epoch 1, step 2: the parameter `users` (row "), "{words}");
    assert!(words.contains("; index 3: epoch 1, step 2") && words.ends_with("); everything else was done"), "{words}");
    let left = format!("sweep tiny: submission {hash} is done, but for trials that would fail again (");
    assert!(ended.out.starts_with(&left) && ended.out.contains("nothing was changed. With --retry-failed"), "{}", ended.out);
    assert!(setting.well(&printed(&ended.out, "ranksweep status")).contains(&words));
    let driver = setting.json("status s.yaml --namespace team --json")["cluster"]["stages"][0].clone();
    assert_eq!(driver["state"], "ended: not everything was done");
    let said = setting.well("submit s.yaml --namespace team --retry-failed");
    assert!(said.contains("had ended with failures, and starts again; what is done is kept"), "{said}");
    assert_eq!(setting.sandbox.stored("done.json").len(), 3, "the others are forgotten");
    assert_eq!(setting.drive(), Outcome::FailedTrials(2));
}

#[test]
fn the_name_alone_is_enough_to_look_on_and_to_end() {
    let setting = Setting::new();
    setting.well("submit s.yaml --namespace team");
    let hash = setting.hash();
    setting.drive();
    let listed = setting.well("list --namespace team");
    assert!(listed.contains("tiny") && listed.contains(&hash) && listed.contains("done"), "{listed}");
    assert_eq!(setting.json("list --namespace team --json")[0]["submission"], hash);
    let pod = format!("tiny-{hash}-train-1-0");
    assert_eq!(setting.well("logs tiny --namespace team --index 1"), format!("==> {pod} <==\nhello from {pod}\n"));
    let id = setting.ranksweep("logs tiny --namespace team --trial abc");
    assert!(id.complaint(2).contains("by --index within a --stage (expected one of prepare, train, evaluate)"), "{}", id.error);
    // A file of which this machine lacks the variables still has its name.
    let text = std::fs::read_to_string(setting.sandbox.path("s.yaml")).unwrap();
    setting.sandbox.write("s.yaml", text.replace("seed: 7", "seed: \"${NO_SUCH_VARIABLE}\""));
    assert_eq!(setting.ranksweep("plan s.yaml").code, Some(2));
    setting.well("logs s.yaml --namespace team --stage evaluate");
    let said = setting.well("cancel s.yaml --namespace team");
    assert!(said.starts_with(&format!("sweep tiny: stopped and removed ({hash})")), "{said}");
    assert_eq!(setting.well("list --namespace team"), "no sweep is in namespace team\n");
}

#[test]
fn parallelism_is_changed_without_a_new_submission() {
    let setting = Setting::new();
    setting.well("submit s.yaml --namespace team");
    let hash = setting.hash();
    let text = std::fs::read_to_string(setting.sandbox.path("s.yaml")).unwrap();
    setting.sandbox.write("s.yaml", text.replace("resources: {", "resources: {parallelism: 1, ttl_seconds_after_finished: 60, "));
    let said = setting.well("submit s.yaml --namespace team");
    let words = format!("sweep tiny: submission {hash} runs on, with parallelism 1 and ttl_seconds_after_finished 60\n");
    assert!(said.starts_with(&words), "{said}");
    assert_eq!(setting.drive(), Outcome::Done);
}

#[test]
fn pods_log_for_a_collector_where_they_are_asked_to() {
    let setting = Setting::new();
    let text = std::fs::read_to_string(setting.sandbox.path("s.yaml")).unwrap();
    setting.sandbox.write("s.yaml", text.replace("resources: {", "resources: {log_format: json, "));
    setting.well("submit s.yaml --namespace team");
    assert_eq!(setting.drive(), Outcome::Done, "every stage takes the flag");
    let driver = format!("tiny-{}-drive", setting.hash());
    let driver = setting.fake.with(|world| world.get("jobs", &driver).unwrap().clone());
    let words: Vec<String> = serde_json::from_value(driver["spec"]["template"]["spec"]["containers"][0]["args"].clone()).unwrap();
    let ended = setting.ranksweep(&words.join(" "));
    assert!(ended.code == Some(0) && ended.error.lines().all(|line| line.starts_with('{')), "{words:?}\n{}", ended.error);
}

//! Several short trials in one pod.

use crate::{
    fake::Act,
    setting::Setting,
    support::{SWEEP, changed},
};
use cluster::stages::Outcome;

fn two_in_a_pod(sweep: &str) -> Setting {
    let setting = Setting::of(sweep);
    resources(&setting, "resources: {", "resources: {trials_per_pod: 2, ");
    setting
}

/// Changes the sweep file.
fn resources(setting: &Setting, from: &str, to: &str) {
    let text = std::fs::read_to_string(setting.sandbox.path("s.yaml")).unwrap();
    assert!(text.contains(from), "{text}");
    setting.sandbox.write("s.yaml", text.replace(from, to));
}

fn pods(setting: &Setting, stage: &str) -> usize {
    let is_of = |pod: &serde_json::Value| pod["metadata"]["name"].as_str().unwrap().contains(stage);
    setting.fake.with(|world| world.list("pods")).iter().filter(|pod| is_of(pod)).count()
}

#[test]
fn two_trials_in_a_pod_give_the_bytes_of_one_machine() {
    let setting = two_in_a_pod(SWEEP);
    setting.well("submit s.yaml --namespace team");
    assert_eq!(setting.drive(), Outcome::Done);
    assert_eq!(pods(&setting, "-train-"), 2, "of three trials");
    let on_cluster = setting.sandbox.results();
    let text = setting.well("status s.yaml --namespace team");
    assert!(text.contains("3 trials: 3 done, 0 running, 0 waiting, 0 failed"), "{text}");
    // The log of a trial is that of its pod.
    let pod = format!("tiny-{}-train-0-0", setting.hash());
    assert_eq!(setting.well("logs s.yaml --namespace team --index 1"), format!("==> {pod} <==\nhello from {pod}\n"));
    std::fs::remove_dir_all(setting.sandbox.path("runs")).unwrap();
    setting.sandbox.run_well();
    assert!(on_cluster == setting.sandbox.results());
}

#[test]
fn rungs_have_batches_too() {
    let sweep = changed("temperature: 0.2", "temperature: [0.1, 0.2, 0.4]");
    let setting = two_in_a_pod(&format!("{sweep}search: {{kind: successive-halving, epochs: 1}}\n"));
    setting.well("submit s.yaml --namespace team");
    assert_eq!(setting.drive(), Outcome::Done);
    assert_eq!((pods(&setting, "-train-r0-"), pods(&setting, "-train-r1-")), (3, 1));
    let text = setting.well("status s.yaml --namespace team");
    assert!(text.contains("5 trials: 3 done, 0 running, 0 waiting, 0 failed, 2 stopped by the search\n"), "{text}");
}

#[test]
fn a_trial_that_fails_takes_no_other_of_its_pod_with_it() {
    let exploding =
        changed("dim: 4}", "dim: 4, init: {kind: normal, std: 0.1}}").replace("learning_rate: 0.05", "learning_rate: [1.0e+38, 0.05]");
    let setting = two_in_a_pod(&exploding);
    setting.well("submit s.yaml --namespace team");
    assert_eq!(setting.drive(), Outcome::FailedBatches(2));
    let ended = setting.ranksweep("submit s.yaml --namespace team --wait");
    assert!(ended.complaint(1).starts_with("2 trials failed (index 0: epoch 1, step 2"), "{}", ended.error);
    let text = setting.well("status s.yaml --namespace team");
    assert!(text.contains("5 trials: 3 done, 0 running, 0 waiting, 2 failed"), "{text}");
    assert!(setting.well("list --namespace team").contains("done, but for some trials of 2 pods"));
}

#[test]
fn the_first_of_a_pod_is_the_one_that_runs() {
    let setting = two_in_a_pod(SWEEP);
    setting.well("submit s.yaml --namespace team");
    let train = format!("tiny-{}-train", setting.hash());
    setting.fake.with(|world| {
        world.pods(|_| Act::Run);
        world.change("jobs", &train, &serde_json::json!({"spec": {"suspend": false}}));
        (0..4).for_each(|_| world.tick());
    });
    let status = setting.json("status s.yaml --namespace team --json");
    let states: Vec<_> = status["trials"].as_array().unwrap().iter().map(|trial| trial["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["running", "waiting", "running"]);
    let beyond = setting.ranksweep("train s.yaml --index 2 --batch 2");
    assert_eq!(beyond.complaint(2), "--index 2: there is no such batch of 2: the plan has 3 trials");
}

#[test]
fn short_trials_share_a_pod_where_the_file_does_not_say() {
    let setting = Setting::new();
    let one_each = setting.well("plan s.yaml");
    assert!(!one_each.contains("trials_per_pod"), "all three can run at once: {one_each}");
    resources(&setting, "resources: {", "resources: {parallelism: 1, ");
    let chosen =
        "trials_per_pod: 3, as the longest trial takes at most about 1 s, and a pod of its own costs 1.2 s and more: 1 pod for 3 trials\n";
    let planned = setting.well("plan s.yaml");
    assert!(planned.contains(&format!("\non a cluster: {chosen}")), "{planned}");
    let lines = |text: &str| {
        text.lines().filter(|line| line.contains("  seed ") || line.contains("no seed")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!((lines(&planned), lines(&planned).len()), (lines(&one_each), 3), "the ids are as before");
    let submitted = setting.well("submit s.yaml --namespace team");
    assert!(submitted.ends_with(chosen), "{submitted}");
    let hash = setting.hash();
    // More at once would be two to a pod, or one: what stands on the cluster keeps its own, and takes over the rest.
    for (before, after) in [(1, 2), (2, 3)] {
        resources(&setting, &format!("parallelism: {before},"), &format!("parallelism: {after},"));
        let adjusted = setting.well("submit s.yaml --namespace team");
        assert!(adjusted.starts_with(&format!("sweep tiny: submission {hash} runs on, with parallelism {after} ")), "{adjusted}");
    }
    assert_eq!(setting.drive(), Outcome::Done);
    assert_eq!(pods(&setting, "-train-"), 1);
    let again = setting.well("submit s.yaml --namespace team");
    assert!(again.starts_with(&format!("sweep tiny: submission {hash} is done; nothing was changed.")), "{again}");
    let on_cluster = setting.sandbox.results();
    std::fs::remove_dir_all(setting.sandbox.path("runs")).unwrap();
    setting.sandbox.run_well();
    assert!(on_cluster == setting.sandbox.results());
}

#[test]
fn a_plan_without_resources_says_nothing_of_a_cluster() {
    let seeds: Vec<String> = (1..=30).map(|seed: u32| seed.to_string()).collect();
    let setting = Setting::of(&SWEEP.replace("evaluation:", &format!("seeds: [{}]\nevaluation:", seeds.join(", "))));
    assert!(setting.well("plan s.yaml").contains("\non a cluster: trials_per_pod: "));
    resources(&setting, "resources: {", "# resources: {");
    assert!(!setting.well("plan s.yaml").contains("cluster"));
}

#[test]
fn what_the_file_says_is_done() {
    let setting = Setting::new();
    resources(&setting, "resources: {", "resources: {parallelism: 1, trials_per_pod: 1, ");
    assert!(!setting.well("plan s.yaml").contains("trials_per_pod"));
    setting.well("submit s.yaml --namespace team");
    assert_eq!(setting.drive(), Outcome::Done);
    assert_eq!(pods(&setting, "-train-"), 3);
}

#[test]
fn what_is_rendered_is_what_would_be_submitted() {
    let setting = Setting::new();
    resources(&setting, "resources: {", "resources: {parallelism: 1, ");
    let rendered = setting.well("render s.yaml --namespace team");
    assert!(rendered.contains("ranksweep.dev/trials-per-pod: \"3\"\n"), "{rendered}");
    // Prepared or not, the choice is that of the sources.
    setting.well("prepare s.yaml");
    assert_eq!(setting.well("render s.yaml --namespace team"), rendered);
    assert!(!setting.well("render s.yaml --namespace team --offline").contains("trials-per-pod"));
}

#[test]
fn datasets_that_a_pod_has_read_are_there_for_the_next() {
    let setting = Setting::new();
    resources(&setting, "resources: {", "resources: {cache: {claim: datasets}, ");
    setting.well("submit s.yaml --namespace team");
    assert_eq!(setting.drive(), Outcome::Done);
    let on_cluster = setting.sandbox.results();
    // The pods' `--cache /var/cache/ranksweep` is a folder of the setting: the tables, by their checksums.
    let kept = || std::fs::read_dir(setting.sandbox.path("cache")).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let tables: Vec<_> =
        setting.sandbox.stored(".parquet").into_iter().filter(|path| path.to_str().unwrap().contains("/datasets/")).collect();
    let stored: Vec<Vec<u8>> = tables.iter().map(|path| std::fs::read(path).unwrap()).collect();
    assert!(!kept().is_empty() && kept().iter().all(|path| stored.contains(&std::fs::read(path).unwrap())), "{:?}", kept());
    std::fs::remove_dir_all(setting.sandbox.path("runs")).unwrap();
    setting.sandbox.run_well();
    assert!(on_cluster == setting.sandbox.results());
}

//! Successive halving: a trial has one pod in each rung that it comes to.

use crate::{fake::Act, setting::Setting, support::changed};
use cluster::stages::Outcome;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Five trials: `bpr` in one configuration, `softmax` in three, of which one goes on, and `popularity`, which has no epochs.
fn halved() -> Setting {
    let sweep = changed("temperature: 0.2", "temperature: [0.1, 0.2, 0.4]");
    Setting::of(&format!("{sweep}search: {{kind: successive-halving, epochs: 1}}\n"))
}

/// The last of what `status` says until it says this, or for two minutes.
fn status_until(setting: &Setting, words: &str) -> String {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        let said = setting.ranksweep("status s.yaml --namespace team").out;
        if said.contains(words) || Instant::now() > end {
            return said;
        }
    }
}

#[test]
fn trials_run_in_the_rung_that_they_have_come_to() {
    let setting = halved();
    setting.well("submit s.yaml --namespace team");
    let second = Arc::new(AtomicBool::new(false));
    let may_end = Arc::clone(&second);
    setting.run_pods_but(move |pod| (pod.job.ends_with("-train-r1") && !may_end.load(Ordering::Relaxed)).then_some(Act::Run));
    let words = "5 trials: 1 done, 2 running, 0 waiting, 0 failed, 2 stopped by the search\n";
    let (said, outcome) = thread::scope(|scope| {
        let driver = scope.spawn(|| setting.drive());
        let said = status_until(&setting, words);
        second.store(true, Ordering::Relaxed);
        (said, driver.join().unwrap())
    });
    assert!(said.contains(words), "{said}");
    assert_eq!(outcome, Outcome::Done);
}

#[test]
fn a_trial_that_is_lost_is_not_waited_for_by_those_it_is_compared_with() {
    let setting = halved();
    setting.well("submit s.yaml --namespace team");
    setting.run_pods_but(|pod| (pod.job.ends_with("-train-r0") && pod.index == 3).then_some(Act::Exit(1)));
    assert_eq!(setting.drive(), Outcome::FailedTrials(1));
    let text = setting.well("status s.yaml --namespace team");
    assert!(text.contains("5 trials: 3 done, 0 running, 1 waiting, 0 failed, 1 stopped by the search\n"), "{text}");
    // By the storage alone it cannot be known that nobody will train it.
    std::fs::remove_file(setting.sandbox.path("kubeconfig")).unwrap();
    let text = setting.well("status s.yaml");
    assert!(text.contains("5 trials: 3 done, 0 running, 2 waiting, 0 failed\n"), "{text}");
}

/// The first seed picks one of three temperatures; `bpr` has nothing to pick, and both seeds at once.
#[test]
fn seeds_that_nothing_is_picked_by_have_a_job_of_their_own() {
    let sweep = changed("temperature: 0.2", "temperature: [0.1, 0.2, 0.4]");
    let setting = Setting::of(&format!("{sweep}seeds: [1, 2]\nsearch: {{kind: grid, tuning_seeds: 1}}\n"));
    setting.well("submit s.yaml --namespace team");
    // The pod of one temperature is lost: what is picked of the others is repeated all the same.
    setting.run_pods_but(|pod| (pod.job.ends_with("-train-r0") && pod.index == 2).then_some(Act::Exit(1)));
    assert_eq!(setting.drive(), Outcome::FailedTrials(1));
    let text = setting.well("status s.yaml --namespace team");
    assert!(text.contains("9 trials: 6 done, 0 running, 1 waiting, 0 failed, 2 skipped by the search\n"), "{text}");
    let whole = Setting::of(&format!("{sweep}seeds: [1, 2]\nsearch: {{kind: grid, tuning_seeds: 1}}\n"));
    whole.well("submit s.yaml --namespace team");
    assert_eq!(whole.drive(), Outcome::Done);
    let text = whole.well("status s.yaml --namespace team");
    assert!(text.contains("9 trials: 7 done, 0 running, 0 waiting, 0 failed, 2 skipped by the search\n"), "{text}");
}

#[test]
fn the_status_says_whom_the_search_stopped_and_logs_are_those_of_the_last_rung() {
    let setting = halved();
    setting.well("submit s.yaml --namespace team");
    assert_eq!(setting.drive(), Outcome::Done);
    let text = setting.well("status s.yaml --namespace team");
    assert!(text.contains("5 trials: 3 done, 0 running, 0 waiting, 0 failed, 2 stopped by the search\n"), "{text}");
    let (hash, status) = (setting.hash(), setting.json("status s.yaml --namespace team --json"));
    let trials = status["trials"].as_array().unwrap();
    // The second rung has the trial of `bpr` and the one of `softmax` that went on, in the plan's order.
    let mut second = 0..2;
    for (place, trial) in trials.iter().enumerate() {
        let (id, went_on) = (trial["trial"].as_str().unwrap(), trial["epoch"] == 2);
        assert_eq!(trial["state"], if place == 4 || went_on { "done" } else { "stopped" }, "{trial}");
        let pod = match went_on {
            true => format!("tiny-{hash}-train-r1-{}-0", second.next().unwrap()),
            false => format!("tiny-{hash}-train-r0-{place}-0"),
        };
        for asked in [format!("--trial {id}"), format!("--index {place}")] {
            let log = setting.well(&format!("logs s.yaml --namespace team {asked} --follow"));
            assert_eq!(log, format!("==> {pod} <==\nhello from {pod}\n"), "{asked}");
        }
    }
    assert_eq!(second.next(), None);
    let pod = format!("tiny-{hash}-train-r0-1-0");
    assert_eq!(setting.well("logs s.yaml --namespace team --stage train-r0 --index 1").lines().next(), Some(&*format!("==> {pod} <==")));
    let nobody = setting.ranksweep("logs s.yaml --namespace team --index 5");
    assert!(nobody.complaint(2).contains("--index: the plan has 5 trials, counted from 0"), "{}", nobody.error);
}

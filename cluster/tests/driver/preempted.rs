//! A driver that is preempted again and again: the next one begins at once.

use crate::{
    fake::{Act, Fake, PodRun, Start},
    setting::{self, driven_in_its_pod, job, started, sweep, with},
};
use cluster::stages::Outcome;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn is_driver(run: &PodRun) -> bool {
    run.job.ends_with("-drive")
}

/// The ticks in which the driver's pods began, where the first ones end so.
fn begun(first: impl Fn(u32) -> Option<Act> + Send + 'static) -> (Fake, Vec<u32>) {
    let (fake, began) = (sweep(), Arc::new(Mutex::new(Vec::new())));
    let noted = Arc::clone(&began);
    fake.with(|world| {
        let mut drivers = 0;
        world.starts(move |run| {
            if is_driver(run) {
                noted.lock().unwrap().push(run.now);
            }
            Start::Runs
        });
        world.pods(move |run| {
            if !is_driver(run) {
                return Act::Exit(0);
            }
            drivers += 1;
            first(drivers - 1).unwrap_or(Act::Run)
        });
        (0..80).for_each(|_| world.tick());
    });
    let ticks = began.lock().unwrap().clone();
    (fake, ticks)
}

fn gaps(ticks: &[u32]) -> Vec<u32> {
    ticks.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn its_successor_has_nothing_to_wait_for() {
    for interruption in [Act::Disrupted, Act::Exit(75)] {
        let (fake, ticks) = begun(move |driver| (driver < 6).then_some(interruption));
        // A tick to run, and one to start: with a pause these were 1, 2, 4, 8, 16 and 32 ticks more.
        assert_eq!(gaps(&ticks), [2; 6], "{interruption:?}");
        let drive = job(&fake, "drive");
        assert_eq!((&drive["status"]["failed"], &drive["status"]["failedIndexes"]), (&json!(0), &json!("0-5")), "none was charged");
        let runs = |pod: &&Value| pod["status"]["phase"] == "Running";
        assert_eq!(fake.with(|world| world.list("pods")).iter().filter(runs).count(), 1, "one at a time");
    }
}

#[test]
fn one_that_fails_is_tried_again_ever_later() {
    let (fake, ticks) = begun(|driver| (driver < 4).then_some(Act::Exit(1)));
    let gaps = gaps(&ticks);
    assert_eq!(gaps.iter().map(|gap| gap - gaps[0]).collect::<Vec<_>>(), [0, 1, 3, 7], "{gaps:?}");
    assert_eq!(job(&fake, "drive")["status"]["failed"], 4);
}

#[test]
fn stages_begin_though_the_driver_is_preempted_before_each_look() {
    let halving = || with(|submission| submission.stages = setting::rungs());
    let undisturbed = halving();
    assert_eq!(driven_in_its_pod(&undisturbed, 0), Outcome::Done);
    let ticks = |fake: &Fake| fake.with(|world| world.now);
    for preemptions in [1, 5, 7] {
        let fake = halving();
        assert_eq!(driven_in_its_pod(&fake, preemptions), Outcome::Done);
        assert_eq!(started(&fake), ["prepare", "train-r0", "train-r1", "evaluate"]);
        // The pod that ends, the one that is made, and its first look; were each delayed longer, 31 ticks more for five.
        let late = ticks(&fake) - ticks(&undisturbed);
        assert!(late <= 4 * preemptions, "{late} ticks late after {preemptions} preemptions");
        // The sweep ends cleanly, as with one driver.
        let drive = job(&fake, "drive");
        assert!(drive["status"]["conditions"].to_string().contains("\"Complete\""), "{drive}");
        assert_eq!(drive["spec"]["ttlSecondsAfterFinished"], 604_800);
        let goes_on = |pod: &Value| pod["status"]["phase"] == "Running" || pod["status"]["phase"] == "Pending";
        assert!(!fake.with(|world| world.list("pods")).iter().any(goes_on), "no pod is left");
    }
}

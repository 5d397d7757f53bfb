//! Trials over several nodes: none holds nodes that another needs to begin.

use crate::{
    fake::{Act, Fake, Start},
    setting::{driven, job, name, started, with},
};
use cluster::stages::Outcome;
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// Three trials of two pods each, on so many nodes; every pod runs for a while.
fn gangs(nodes: usize, parallelism: u32) -> Fake {
    let fake = with(|submission| {
        (submission.resources.nodes, submission.resources.secret) = (2, Some("rendezvous".to_owned()));
        submission.resources.parallelism = parallelism;
    });
    fake.with(|world| {
        world.nodes = Some(nodes);
        world.pods(|run| if run.job.contains("-train") && run.now % 40 != 0 { Act::Run } else { Act::Exit(0) });
    });
    fake
}

/// How many trials have some of their nodes and not all, and how many have any.
fn placed(pods: &[Value]) -> (usize, usize) {
    let mut ready = std::collections::BTreeMap::<String, usize>::new();
    for pod in pods.iter().filter(|pod| pod["metadata"]["name"].as_str().unwrap().contains("-train-")) {
        let runs = pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null();
        *ready.entry(pod["metadata"]["ownerReferences"][0]["name"].as_str().unwrap().to_owned()).or_default() += usize::from(runs);
    }
    (ready.values().filter(|ready| **ready == 1).count(), ready.values().filter(|ready| **ready > 0).count())
}

/// The most trials that were half placed at a time, and that had nodes at a time.
fn watched(fake: &Fake) -> Arc<Mutex<(usize, usize)>> {
    let most = Arc::new(Mutex::new((0, 0)));
    fake.with(|world| {
        for tick in 1..400 {
            let most = Arc::clone(&most);
            world.at(tick, move |world| {
                let (half, any) = placed(&world.list("pods"));
                let mut most = most.lock().unwrap();
                *most = (most.0.max(half), most.1.max(any));
            });
        }
    });
    most
}

#[test]
fn fewer_nodes_than_gangs_deadlock_nobody() {
    for nodes in [2, 3, 5] {
        let fake = gangs(nodes, 32);
        let most = watched(&fake);
        assert_eq!(driven(&fake).unwrap(), Outcome::Done, "{nodes} nodes");
        assert!(most.lock().unwrap().0 <= 1, "{nodes} nodes: {most:?}");
        for trial in ["train-0", "train-1", "train-2"] {
            assert_eq!(job(&fake, trial)["status"]["failed"], 0, "no retry was used up");
        }
    }
}

#[test]
fn parallelism_holds_for_gangs() {
    let fake = gangs(100, 1);
    let most = watched(&fake);
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
    assert_eq!(*most.lock().unwrap(), (0, 1));
    assert_eq!(started(&fake), ["prepare", "train-0", "train-1", "train-2", "evaluate"]);
}

#[test]
fn two_that_each_lack_a_node_do_not_wait_for_each_other() {
    let fake = gangs(4, 32);
    fake.with(|world| {
        world.pods(|run| if run.job.contains("-train") && run.now < 400 { Act::Run } else { Act::Exit(0) });
        // Two of the four nodes break: each trial loses one of its pods.
        world.at(20, |world| {
            world.nodes = Some(2);
            let ended = |run: &crate::fake::PodRun| (run.job.ends_with("train-0") || run.job.ends_with("train-1")) && run.index == 1;
            world.pods(move |run| match run.job.contains("-train") {
                true if ended(run) && run.attempt == 0 => Act::Disrupted,
                true if run.now < 400 => Act::Run,
                _ => Act::Exit(0),
            });
        });
        world.at(390, |world| {
            let first = name(world, "train-0");
            let runs = |pod: &&Value| pod["metadata"]["ownerReferences"][0]["name"] == *first && pod["status"]["phase"] == "Running";
            assert_eq!(world.list("pods").iter().filter(runs).count(), 2, "the other gave way to it");
        });
    });
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
    let suspended = |trial: &str| {
        let is_of = |change: &&String| change.contains(trial) && change.contains("\"suspend\":true");
        fake.with(|world| world.changes.iter().filter(is_of).count())
    };
    assert!(suspended("-train-0 ") == 0 && suspended("-train-1 ") > 0);
    assert!(["train-0", "train-1", "train-2"].iter().all(|trial| job(&fake, trial)["status"]["failed"] == 0), "no retry was used up");
}

#[test]
fn a_gang_that_nothing_can_place_waits_alone() {
    let fake = gangs(1, 32);
    fake.with(|world| {
        world.starts(|_| Start::Runs);
        world.at(150, |world| {
            assert!(world.changes.iter().all(|change| !change.contains("\"suspend\":true")), "nobody is there to give way to");
            world.nodes = Some(2);
        });
    });
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
}

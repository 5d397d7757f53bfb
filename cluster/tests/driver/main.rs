//! The whole driver on an API server in memory: every transition of a real control plane, one test each.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

#[path = "../fake/mod.rs"]
mod fake;
mod gangs;
mod preempted;
mod setting;

use cluster::{
    client::{ClientError, call},
    stages::Outcome,
};
use fake::{Act, Fake, Start, World};
use serde_json::{Value, json};
use setting::{driven, full, job, name, of_trials, started, sweep, with};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

#[test]
fn stages_follow_each_other_and_the_end_is_done() {
    let fake = sweep();
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
    assert_eq!(started(&fake), ["prepare", "train", "evaluate"]);
    // Only now may the controller clean up, and by the owner alone.
    let ttl = |fake: &Fake, name: &str| job(fake, name)["spec"]["ttlSecondsAfterFinished"].clone();
    assert_eq!(ttl(&fake, "drive"), 604_800);
    assert!(["prepare", "train", "evaluate"].iter().all(|name| ttl(&fake, name).is_null()));
    assert_eq!(fake.with(|world| world.changes.len()), 4);
}

#[test]
fn the_driver_asks_for_no_more_than_its_role_allows() {
    let fake = sweep();
    driven(&fake).unwrap();
    let allowed: Vec<String> = call::DRIVER.iter().map(ToString::to_string).collect();
    assert_eq!(fake.with(|world| world.calls.iter().cloned().collect::<Vec<_>>()), allowed);
}

#[test]
fn a_failed_index_lets_the_others_finish_and_is_reported() {
    let fake = sweep();
    of_trials(&fake, |run| match run.index {
        1 => Act::Exit(42),
        _ if run.now < 12 => Act::Run,
        _ => Act::Exit(0),
    });
    assert_eq!(driven(&fake).unwrap(), Outcome::FailedTrials(1));
    let train = job(&fake, "train");
    assert_eq!((&train["status"]["failedIndexes"], &train["status"]["completedIndexes"]), (&json!("1"), &json!("0,2")));
    assert_eq!(started(&fake), ["prepare", "train", "evaluate"]);
    assert_eq!(job(&fake, "drive")["spec"]["ttlSecondsAfterFinished"], 604_800, "it expires like others");
}

#[test]
fn a_failure_that_may_pass_is_tried_again() {
    let fake = sweep();
    of_trials(&fake, |run| Act::Exit(u8::from(run.attempt < 3)));
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
    let fake = sweep();
    of_trials(&fake, |run| Act::Exit(u8::from(run.index == 2)));
    assert_eq!(driven(&fake).unwrap(), Outcome::FailedTrials(1));
}

#[test]
fn disruptions_are_not_charged() {
    let fake = sweep();
    // More often than a pod may fail.
    of_trials(&fake, |run| if run.attempt < 8 { Act::Disrupted } else { Act::Exit(0) });
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
    assert_eq!(job(&fake, "train")["status"]["failed"], 0);
}

#[test]
fn a_bad_sweep_file_ends_it_at_once() {
    let fake = sweep();
    of_trials(&fake, |run| if run.index == 0 { Act::Exit(2) } else { Act::Run });
    let Outcome::Failed { job, failure } = driven(&fake).unwrap() else { panic!("it went on") };
    assert!(job.ends_with("-train") && failure.is_bad_configuration(), "{failure:?}");
    assert_eq!(started(&fake), ["prepare", "train"]);
    let goes_on = |pod: &Value| pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null();
    assert!(!fake.with(|world| world.list("pods")).iter().any(goes_on));
}

#[test]
fn a_stage_that_fails_ends_it() {
    let fake = sweep();
    fake.with(|world| world.pods(|run| Act::Exit(u8::from(run.job.ends_with("prepare")))));
    let Outcome::Failed { job, failure } = driven(&fake).unwrap() else { panic!("it went on") };
    assert!(job.ends_with("-prepare") && failure.reason == "BackoffLimitExceeded", "{failure:?}");
    assert_eq!(started(&fake), ["prepare"]);
}

#[test]
fn suspending_keeps_what_is_done_and_is_left_to_whoever_did_it() {
    let fake = sweep();
    let ran = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&ran);
    of_trials(&fake, move |run| {
        let ends = run.index == 0 || run.now > 20;
        if ends {
            noted.lock().unwrap().push(run.index);
        }
        if ends { Act::Exit(0) } else { Act::Run }
    });
    let suspend = |on: bool| json!({"spec": {"suspend": on}});
    fake.with(|world| {
        world.at(14, move |world| world.change("jobs", &name(world, "train"), &suspend(true)));
        world.at(30, |world| {
            let train = world.get("jobs", &name(world, "train")).unwrap().clone();
            assert_eq!((&train["spec"]["suspend"], &train["status"]["completedIndexes"]), (&json!(true), &json!("0")));
            assert!(train["status"]["startTime"].is_null() && train["status"]["active"] == 0);
        });
        world.at(31, move |world| world.change("jobs", &name(world, "train"), &suspend(false)));
    });
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
    assert_eq!(started(&fake), ["prepare", "train", "evaluate"], "the driver unsuspends each once");
    assert_eq!(*ran.lock().unwrap(), [0, 1, 2]);
}

#[test]
fn a_driver_that_is_started_again_at_any_moment_goes_on() {
    let undisturbed = sweep();
    driven(&undisturbed).unwrap();
    for questions in 1..undisturbed.with(|world| world.asked) {
        let fake = sweep();
        setting::driven_until(&fake, questions);
        assert_eq!(driven(&fake).unwrap(), Outcome::Done, "died while it asked {questions} times");
        assert_eq!(started(&fake), ["prepare", "train", "evaluate"]);
    }
    // Also after the end.
    assert_eq!(driven(&undisturbed).unwrap(), Outcome::Done);
    assert_eq!(started(&undisturbed), ["prepare", "train", "evaluate"]);
}

#[test]
fn a_job_deleted_by_hand_ends_it_when_its_turn_comes() {
    for (stage, before) in [("prepare", &[][..]), ("train", &["prepare"][..]), ("evaluate", &["prepare", "train"][..])] {
        let fake = sweep();
        let job = full(&fake, stage);
        fake.with(|world| world.delete("jobs", &job).unwrap());
        let outcome = driven(&fake).unwrap();
        assert_eq!(outcome, Outcome::Gone(job));
        assert!(outcome.to_string().contains("`ranksweep submit`"), "{outcome}");
        assert_eq!(started(&fake), before);
    }
    let fake = sweep();
    of_trials(&fake, |_| Act::Run);
    let train = full(&fake, "train");
    let deleted = train.clone();
    fake.with(|world| world.at(9, move |world| drop(world.delete("jobs", &deleted).unwrap())));
    assert_eq!(driven(&fake).unwrap(), Outcome::Gone(train));
    assert!(fake.with(|world| world.list("pods")).iter().all(|pod| !pod["metadata"]["name"].as_str().unwrap().contains("train")));
}

#[test]
fn a_job_that_is_created_late_is_waited_for() {
    let fake = sweep();
    let train = fake.with(|world| world.delete("jobs", &name(world, "train")).unwrap());
    fake.with(|world| world.at(8, move |world| drop(world.store("jobs", train))));
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
}

#[test]
fn an_api_server_that_is_away_for_minutes_is_waited_for() {
    for (hangs, most) in [(false, 9), (true, 5)] {
        let fake = sweep();
        of_trials(&fake, |run| if run.now < 12 { Act::Run } else { Act::Exit(0) });
        fake.with(|world| world.at(9, move |world| world.go_away(Duration::from_secs(180), hangs)));
        assert_eq!(driven(&fake).unwrap(), Outcome::Done);
        let unanswered = fake.with(|world| world.unanswered);
        assert!((2..=most).contains(&unanswered), "{unanswered} questions within three minutes");
        assert_eq!(started(&fake), ["prepare", "train", "evaluate"]);
    }
}

#[test]
fn a_role_that_allows_nothing_is_an_error_that_says_what_is_missing() {
    let fake = sweep();
    let error = setting::driven_with(&fake, &[]).unwrap_err();
    assert!(matches!(&error, ClientError::Forbidden { message } if message.contains("cannot list resource \"jobs\"")), "{error}");
    let error = setting::driven_with(&fake, &call::DRIVER[..1]).unwrap_err();
    assert!(error.to_string().starts_with("the cluster forbids it: jobs.batch \"s-"), "{error}");
    assert!(error.to_string().contains("cannot patch resource \"jobs\" in API group \"batch\" in the namespace \"team\""), "{error}");
}

#[test]
fn kueue_alone_unsuspends_what_is_queued() {
    let fake = with(|submission| submission.resources.queue = Some("gpus".to_owned()));
    fake.with(|world| {
        world.queue_admits = false;
        world.at(5, |world| {
            let prepare = world.get("jobs", &name(world, "prepare")).unwrap().clone();
            assert_eq!(prepare["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "gpus");
            assert_eq!(prepare["spec"]["suspend"], true, "Kueue has not admitted it");
            world.queue_admits = true;
        });
    });
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
    let changes = fake.with(|world| world.changes.clone());
    assert!(changes.iter().all(|change| !change.contains("suspend")), "{changes:?}");
    assert_eq!(changes.iter().filter(|change| change.contains("queue-name")).count(), 3);
}

#[test]
fn what_kueue_takes_back_waits_for_its_queue_and_goes_on() {
    let fake = with(|submission| submission.resources.queue = Some("gpus".to_owned()));
    of_trials(&fake, |run| if run.now < 60 { Act::Run } else { Act::Exit(0) });
    fake.with(|world| {
        world.at(30, World::evict);
        world.at(50, |world| {
            let train = world.get("jobs", &name(world, "train")).unwrap().clone();
            assert_eq!((&train["spec"]["suspend"], &train["status"]["active"]), (&json!(true), &json!(0)), "the driver leaves it to Kueue");
            world.queue_admits = true;
        });
    });
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
    let changes = fake.with(|world| world.changes.clone());
    assert_eq!(changes.iter().filter(|change| change.contains("queue-name")).count(), 3, "each stage is queued once");
    assert!(changes.iter().all(|change| !change.contains("suspend")), "{changes:?}");
}

#[test]
fn replaced_pods_wait_ever_longer_and_their_indexes_keep_their_slots() {
    let fake = with(|submission| submission.resources.parallelism = 1);
    of_trials(&fake, |run| if run.index == 0 && run.attempt < 5 { Act::Disrupted } else { Act::Exit(0) });
    let began = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&began);
    fake.with(|world| {
        world.starts(move |run| {
            if run.job.ends_with("-train") {
                noted.lock().unwrap().push((run.index, run.now));
            }
            Start::Runs
        });
    });
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
    let began = began.lock().unwrap().clone();
    assert_eq!(began.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 0, 1, 2], "nobody else has the slot");
    let between: Vec<u32> = began[..6].windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    // A tick of 10 s to start and one to run, and the pause: 10, 20, 40, 80, 160 s.
    assert_eq!(between.iter().map(|ticks| ticks - between[0]).collect::<Vec<_>>(), [0, 1, 3, 7, 15], "{between:?}");
}

#[test]
fn a_trial_on_several_nodes_that_fails_is_one_of_many() {
    let fake = with(|submission| {
        (submission.resources.nodes, submission.resources.secret) = (2, Some("rendezvous".to_owned()));
    });
    fake.with(|world| world.pods(|run| Act::Exit(if run.job.ends_with("train-1") { 42 } else { 0 })));
    assert_eq!(driven(&fake).unwrap(), Outcome::FailedTrials(1));
    assert_eq!(started(&fake), ["prepare", "train-0", "train-1", "train-2", "evaluate"]);
}

#[test]
fn rungs_follow_each_other() {
    let fake = with(|submission| submission.stages = setting::rungs());
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
    assert_eq!(started(&fake), ["prepare", "train-r0", "train-r1", "evaluate"]);
}

#[test]
fn a_namespace_that_forbids_pods_is_waited_for_and_not_a_loop() {
    let fake = sweep();
    fake.with(|world| {
        world.forbids_pods = Some("violates PodSecurity \"restricted:latest\"".to_owned());
        world.at(40, |world| {
            assert_eq!(world.changes.len(), 1, "{:?}", world.changes);
            assert!(world.list("pods").is_empty());
            world.forbids_pods = None;
        });
    });
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
}

#[test]
fn what_is_not_owned_by_the_driver_is_not_let_expire() {
    let fake = setting::applied_by_somebody_else();
    assert_eq!(driven(&fake).unwrap(), Outcome::Done);
    assert!(job(&fake, "drive")["spec"]["ttlSecondsAfterFinished"].is_null());
}

#[test]
fn without_its_own_job_the_driver_ends() {
    let fake = Fake::new();
    assert!(matches!(driven(&fake).unwrap(), Outcome::Gone(_)));
}

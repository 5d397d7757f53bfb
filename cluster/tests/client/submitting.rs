use crate::{
    ask, drive_to_the_end, end_driver,
    fake::{Act, Fake, submission},
    server, submit,
};
use cluster::{
    Submission,
    client::{ClientError, Conditions, How, Submitted, rehearse, wait},
    drive::{Pace, drive},
    stages::Outcome,
};
use futures::future::join;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

fn submitted(fake: &Fake, submission: &Submission, replace: bool) -> Result<Submitted, ClientError> {
    ask(fake, async |cluster| submit(&cluster, submission, replace).await)
}

fn names(fake: &Fake, resource: &str) -> Vec<String> {
    fake.with(|world| world.list(resource)).iter().map(|object| object["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// The sweep with another meaning, and all else as it was.
fn changed() -> Submission {
    Submission { meaning: "name: s, seeds: [1, 2]".to_owned(), ..submission() }
}

#[test]
fn everything_is_created_the_driver_first_and_owned_by_it() {
    let fake = server();
    let done = submitted(&fake, &submission(), false).unwrap();
    assert_eq!((done.how, done.replaced.len(), done.warnings.len()), (How::Created, 0, 0));
    let hash = &done.hash;
    let jobs = ["drive", "evaluate", "prepare", "train"].map(|suffix| format!("s-{hash}-{suffix}"));
    assert_eq!(names(&fake, "jobs"), jobs);
    assert_eq!(names(&fake, "configmaps"), [format!("s-{hash}")]);
    let uid = fake.with(|world| world.get("jobs", &jobs[0]).unwrap()["metadata"]["uid"].clone());
    fake.with(|world| {
        assert!(world.changes[0].starts_with(&format!("apply jobs/{} ", jobs[0])));
        let others = jobs[1..].iter().map(|name| world.get("jobs", name).unwrap()).chain(world.get("configmaps", &format!("s-{hash}")));
        assert!(others.map(|object| &object["metadata"]["ownerReferences"][0]["uid"]).all(|owner| *owner == uid));
    });
}

#[test]
fn the_same_sweep_again_changes_nothing() {
    let fake = server();
    let hash = submitted(&fake, &submission(), false).unwrap().hash;
    let changes = || fake.with(|world| world.changes.len());
    let before = changes();
    assert_eq!(submitted(&fake, &submission(), false).unwrap().how, How::Running);
    assert_eq!(changes(), before);
    assert_eq!(drive_to_the_end(&fake, &hash), Outcome::Done);
    end_driver(&fake, &hash, 0);
    let before = changes();
    assert_eq!(submitted(&fake, &submission(), false).unwrap().how, How::Done);
    assert_eq!(changes(), before);
}

#[test]
fn what_was_only_half_created_is_completed() {
    let fake = server();
    let hash = submitted(&fake, &submission(), false).unwrap().hash;
    fake.with(|world| world.delete("jobs", &format!("s-{hash}-train")).unwrap());
    assert_eq!(submitted(&fake, &submission(), false).unwrap().how, How::Completed(1));
    assert_eq!(names(&fake, "jobs").len(), 4);
    // What runs meanwhile is not suspended again.
    let prepare = format!("s-{hash}-prepare");
    fake.with(|world| {
        world.change("jobs", &prepare, &serde_json::json!({"spec": {"suspend": false}}));
        world.delete("jobs", &format!("s-{hash}-train")).unwrap();
    });
    submitted(&fake, &submission(), false).unwrap();
    assert_eq!(fake.with(|world| world.get("jobs", &prepare).unwrap()["spec"]["suspend"].clone()), false);
    assert_eq!(drive_to_the_end(&fake, &hash), Outcome::Done);
}

#[test]
fn what_failed_starts_again() {
    let fake = server();
    let hash = submitted(&fake, &submission(), false).unwrap().hash;
    drive_to_the_end(&fake, &hash);
    end_driver(&fake, &hash, 42);
    let again = submitted(&fake, &submission(), false).unwrap();
    assert_eq!((again.how, &again.hash), (How::Restarted, &hash));
    let status = fake.with(|world| world.get("jobs", &format!("s-{hash}-train")).unwrap()["status"].clone());
    assert!(status["completedIndexes"].is_null(), "a new Job: {status}");
    assert_eq!(drive_to_the_end(&fake, &hash), Outcome::Done);
}

#[test]
fn what_failed_starts_again_after_its_queue_had_it_and_with_another_wording() {
    let fake = server();
    let mut queued = submission();
    queued.resources.queue = Some("gpus".to_owned());
    let hash = submitted(&fake, &queued, false).unwrap().hash;
    drive_to_the_end(&fake, &hash);
    end_driver(&fake, &hash, 42);
    let labels = fake.with(|world| world.get("jobs", &format!("s-{hash}-train")).unwrap()["metadata"]["labels"].clone());
    assert_eq!(labels["kueue.x-k8s.io/queue-name"], "gpus", "the driver has handed it over");
    // A comment is no part of the hash, and the ConfigMap is immutable.
    let reworded = Submission { text: format!("# again\n{}", queued.text), ..queued };
    let again = submitted(&fake, &reworded, false).unwrap();
    assert_eq!((again.how, &again.hash), (How::Restarted, &hash));
    let map = fake.with(|world| world.get("configmaps", &format!("s-{hash}")).unwrap().clone());
    assert_eq!(map["data"]["sweep.yaml"], reworded.text);
    assert_eq!(names(&fake, "jobs").len(), 4, "nothing is left of the dry run");
    assert_eq!(drive_to_the_end(&fake, &hash), Outcome::Done);
}

#[test]
fn another_submission_of_the_sweep_is_not_disturbed_unless_asked() {
    let fake = server();
    let first = submitted(&fake, &submission(), false).unwrap().hash;
    let error = submitted(&fake, &changed(), false).unwrap_err();
    assert!(matches!(&error, ClientError::StillRunning { submission, .. } if *submission == first), "{error}");
    assert_eq!(names(&fake, "jobs").len(), 4);
    let second = submitted(&fake, &changed(), true).unwrap();
    assert_eq!((second.how, second.replaced), (How::Created, vec![first.clone()]));
    assert!(names(&fake, "jobs").iter().all(|name| name.contains(&second.hash)));
    assert!(names(&fake, "pods").iter().all(|name| !name.contains(&first)), "two pods would write one checkpoint");
    assert_eq!(drive_to_the_end(&fake, &second.hash), Outcome::Done);
}

#[test]
fn a_submission_that_has_ended_stands_in_nobodys_way() {
    let fake = server();
    let first = submitted(&fake, &submission(), false).unwrap().hash;
    drive_to_the_end(&fake, &first);
    end_driver(&fake, &first, 0);
    let second = submitted(&fake, &changed(), false).unwrap();
    assert_eq!((second.how, second.replaced.len(), second.left), (How::Created, 0, vec![first]));
    assert_eq!(names(&fake, "jobs").len(), 8);
}

#[test]
fn the_end_is_waited_for_and_told() {
    let fake = server();
    let hash = submitted(&fake, &submission(), false).unwrap().hash;
    let has_ended = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&has_ended);
    fake.with(|world| world.pods(move |run| if run.job.ends_with("drive") && !ended.load(Relaxed) { Act::Run } else { Act::Exit(0) }));
    let mut news = Vec::new();
    let mut note = |line: &str| news.push(line.to_owned());
    let outcome = ask(&fake, async |cluster| {
        let driver = async {
            drive(&cluster, "s", &hash, Pace::default()).await.unwrap();
            has_ended.store(true, Relaxed);
        };
        join(driver, wait(&cluster, "s", &hash, &mut note)).await.1.unwrap()
    });
    assert_eq!(outcome, Outcome::Done);
    assert!(news.contains(&format!("s-{hash}-train: 2 of 3 done, 1 pods run or wait for a node")), "{news:#?}");
}

#[test]
fn the_end_names_the_stage_that_failed() {
    let fake = server();
    let hash = submitted(&fake, &submission(), false).unwrap().hash;
    fake.with(|world| world.pods(|run| if run.job.ends_with("prepare") { Act::Exit(42) } else { Act::Run }));
    let ended = drive_to_the_end(&fake, &hash);
    end_driver(&fake, &hash, 42);
    let outcome = ask(&fake, async |cluster| wait(&cluster, "s", &hash, &mut |_| ()).await.unwrap());
    assert_eq!(outcome, ended);
    assert!(matches!(outcome, Outcome::Failed { job, .. } if job.ends_with("-prepare")));
}

#[test]
fn parallelism_and_ttl_are_changed_while_it_runs() {
    let fake = server();
    let hash = submitted(&fake, &submission(), false).unwrap().hash;
    let asked = |parallelism, ttl| {
        let mut asked = submission();
        (asked.resources.parallelism, asked.resources.ttl_seconds_after_finished) = (parallelism, ttl);
        asked
    };
    let adjusted = submitted(&fake, &asked(3, 60), false).unwrap();
    assert_eq!((adjusted.how, &adjusted.hash), (How::Adjusted, &hash));
    let job = |suffix: &str| fake.with(|world| world.get("jobs", &format!("s-{hash}-{suffix}")).unwrap().clone());
    assert_eq!((&job("train")["spec"]["parallelism"], &job("train")["spec"]["suspend"]), (&3.into(), &true.into()));
    assert_eq!(submitted(&fake, &asked(3, 60), false).unwrap().how, How::Running, "once");
    assert_eq!(drive_to_the_end(&fake, &hash), Outcome::Done);
    assert_eq!(job("drive")["spec"]["ttlSecondsAfterFinished"], 60);
    // What is over is left as it is.
    end_driver(&fake, &hash, 0);
    assert_eq!(submitted(&fake, &asked(1, 60), false).unwrap().how, How::Done);
    assert_eq!(job("train")["spec"]["parallelism"], 3);
}

/// Kueue refuses a least number of pods that is not below their number, and another `parallelism` of what it has admitted.
#[test]
fn what_kueue_has_admitted_keeps_its_parallelism() {
    let fake = server();
    let asked = |parallelism| {
        let mut asked = submission();
        asked.resources.queue = Some("gpus".to_owned());
        asked.resources.parallelism = parallelism;
        asked
    };
    let hash = submitted(&fake, &asked(1), false).unwrap().hash;
    let train = format!("s-{hash}-train");
    assert_eq!(submitted(&fake, &asked(2), false).unwrap().how, How::Adjusted, "it waits for its turn");
    let job = |fake: &Fake| fake.with(|world| world.get("jobs", &train).unwrap().clone());
    assert_eq!(job(&fake)["spec"]["parallelism"], 2);
    fake.with(|world| {
        let least = serde_json::json!({"kueue.x-k8s.io/job-min-parallelism": "1"});
        world.change("jobs", &train, &serde_json::json!({"metadata": {"annotations": least}, "spec": {"suspend": false}}));
    });
    let adjusted = submitted(&fake, &asked(3), false).unwrap();
    assert_eq!((adjusted.how, adjusted.warnings.len()), (How::Adjusted, 1));
    assert!(adjusted.warnings[0].starts_with("the trials that Kueue has admitted keep"), "{:?}", adjusted.warnings);
    assert_eq!(job(&fake)["spec"]["parallelism"], 2);
}

#[test]
fn a_queue_that_every_job_gets_is_refused() {
    let fake = server();
    fake.with(|world| world.default_queue = Some("default"));
    let refused = submitted(&fake, &submission(), false).unwrap_err();
    assert!(matches!(&refused, ClientError::Queued { queue, .. } if queue == "default"), "{refused}");
    assert!(fake.with(|world| world.list("jobs").is_empty()));
}

#[test]
fn a_submission_whose_tables_have_gone_starts_again() {
    let fake = server();
    let hash = submitted(&fake, &submission(), false).unwrap().hash;
    assert_eq!(drive_to_the_end(&fake, &hash), Outcome::Done);
    end_driver(&fake, &hash, 0);
    let again = ask(&fake, async |cluster| {
        let conditions = Conditions { replace: false, has_tables: false };
        rehearse(&cluster, &submission(), conditions).await.unwrap().create(&cluster).await.unwrap()
    });
    assert_eq!((again.how, &again.hash), (How::Renewed, &hash));
    assert_eq!(drive_to_the_end(&fake, &hash), Outcome::Done);
}

#[test]
fn a_sweep_of_which_only_trials_failed_can_be_left_as_it_is() {
    let fake = server();
    let hash = submitted(&fake, &submission(), false).unwrap().hash;
    fake.with(|world| {
        world.pods(|run| if run.job.ends_with("drive") { Act::Run } else { Act::Exit(42 * u8::from(run.index == 1)) });
    });
    assert_eq!(drive_to_the_end(&fake, &hash), Outcome::FailedTrials(1));
    end_driver(&fake, &hash, 42);
    let changes = || fake.with(|world| world.changes.len());
    let before = changes();
    let left = ask(&fake, async |cluster| {
        let rehearsed = rehearse(&cluster, &submission(), Conditions { replace: false, has_tables: true }).await.unwrap();
        assert!(rehearsed.is_of_failed_trials());
        rehearsed.leave().create(&cluster).await.unwrap()
    });
    assert_eq!((left.how, changes()), (How::Settled, before));
}

#[test]
fn a_queue_without_kueue_is_told_when_it_is_submitted() {
    let mut queued = submission();
    queued.resources.queue = Some("gpus".to_owned());
    let fake = server();
    assert_eq!(submitted(&fake, &queued, false).unwrap().warnings, [""; 0]);
    let fake = server();
    fake.with(|world| world.has_kueue = false);
    let warnings = submitted(&fake, &queued, false).unwrap().warnings;
    assert!(warnings.len() == 1 && warnings[0].starts_with("there is no Kueue on the cluster"), "{warnings:?}");
}

//! `status` and `logs`.

use crate::{
    ask, drive_to_the_end,
    fake::{Act, Fake, submission, submitted},
    server,
};
use cluster::{
    client::{ClientError, Seen, Whose, cancel, list, logs, status, wait},
    stages::{Outcome, State},
};

fn seen(fake: &Fake) -> Option<Seen> {
    ask(fake, async |cluster| status(&cluster, "s").await).unwrap()
}

fn lines(fake: &Fake, stage: &str, index: Option<u32>, follow: bool) -> Result<Vec<(String, String)>, ClientError> {
    let mut lines = Vec::new();
    let whose = Whose { stage: stage.to_owned(), index };
    let mut note = |pod: &str, line: &str| {
        lines.push((pod.to_owned(), line.to_owned()));
        true
    };
    ask(fake, async |cluster| logs(&cluster, "s", &whose, follow, &mut note).await)?;
    Ok(lines)
}

#[test]
fn a_sweep_that_is_not_there_is_none() {
    assert_eq!(seen(&server()), None);
    assert!(lines(&server(), "train", None, false).unwrap_err().to_string().starts_with("sweep `s` is not on the cluster"));
}

#[test]
fn stages_and_pods_are_shown_as_they_stand() {
    let fake = submitted(&submission(), true);
    let before = seen(&fake).unwrap();
    let stages: Vec<&str> = before.stages.iter().map(|stage| stage.stage.as_str()).collect();
    assert_eq!(stages, ["prepare", "train", "evaluate"]);
    assert_eq!(before.plan.as_deref(), Some("s3://bucket/plan.json"));
    assert!(before.stages.iter().all(|stage| stage.state == State::Suspended && !stage.started && stage.began.is_none()));
    assert!(before.stages.iter().all(|stage| stage.to_string() == "waits for its turn"));
    fake.with(|world| world.pods(|run| Act::Exit(if run.job.ends_with("train") && run.index == 1 && run.attempt == 0 { 1 } else { 0 })));
    drive_to_the_end(&fake, &before.submission);
    let after = seen(&fake).unwrap();
    assert!(after.stages.iter().all(|stage| stage.state == State::Done && stage.started && stage.began.is_some() && stage.ended.is_some()));
    assert_eq!(after.stages[1].to_string(), "done");
    let trials: Vec<_> = after.pods.iter().filter(|pod| pod.job.ends_with("-train")).collect();
    let ends: Vec<_> = trials.iter().map(|pod| (pod.index, pod.phase.as_str(), pod.exit_code)).collect();
    assert_eq!(ends, [0, 1, 2].map(|index| (Some(index), "Succeeded", Some(0))));
    assert!(trials[1].name.ends_with("-train-1-1"), "the last pod of the index: {}", trials[1].name);
}

#[test]
fn logs_are_those_of_the_pods_asked_for() {
    let fake = submitted(&submission(), true);
    let hash = seen(&fake).unwrap().submission;
    assert!(lines(&fake, "train", None, false).unwrap_err().to_string().contains("no pod of `train`"));
    drive_to_the_end(&fake, &hash);
    let pods = |lines: Vec<(String, String)>| lines.into_iter().map(|(pod, _)| pod).collect::<Vec<_>>();
    assert_eq!(pods(lines(&fake, "train", None, false).unwrap()), [0, 1, 2].map(|index| format!("s-{hash}-train-{index}-0")));
    let pod = format!("s-{hash}-train-2-0");
    assert_eq!(lines(&fake, "train", Some(2), true).unwrap(), [(pod.clone(), format!("hello from {pod}"))]);
    assert_eq!(pods(lines(&fake, "driver", None, true).unwrap()), [format!("s-{hash}-drive-0-0")]);
    assert!(lines(&fake, "train", None, true).unwrap_err().to_string().contains("3 pods fit `train`, and one can be followed"));
}

#[test]
fn a_driver_that_was_preempted_looks_like_any_other() {
    let fake = submitted(&submission(), true);
    let mut drivers = 0;
    fake.with(|world| {
        world.pods(move |run| {
            drivers += u32::from(run.job.ends_with("-drive"));
            if run.job.ends_with("-drive") && drivers <= 2 { Act::Disrupted } else { Act::Run }
        });
        (0..10).for_each(|_| world.tick());
    });
    let seen_now = seen(&fake).unwrap();
    assert_eq!((seen_now.driver.to_string().as_str(), seen_now.driver.reasons.len()), ("runs: 0 of 1 done, 1 active", 0));
    // Its log is the last one's, and can be followed.
    let pod = format!("s-{}-drive-2-0", seen_now.submission);
    assert_eq!(lines(&fake, "driver", None, true).unwrap(), [(pod.clone(), format!("hello from {pod}"))]);
    let listed = ask(&fake, async |cluster| list(&cluster).await).unwrap();
    assert_eq!(listed.iter().map(|one| (one.state.as_str(), one.ended)).collect::<Vec<_>>(), [("prepare waits for its turn", false)]);
    // One of which every index was interrupted is the end, and says so.
    let drive = format!("s-{}-drive", seen_now.submission);
    let failed = serde_json::json!({"type": "Failed", "status": "True", "reason": "FailedIndexes", "message": "Job has failed indexes"});
    fake.with(|world| world.change("jobs", &drive, &serde_json::json!({"status": {"conditions": [failed]}})));
    let outcome = ask(&fake, async |cluster| wait(&cluster, "s", &seen_now.submission, &mut |_| ()).await).unwrap();
    assert!(matches!(&outcome, Outcome::Failed { job, .. } if *job == drive), "{outcome}");
    assert_eq!(seen(&fake).unwrap().driver.to_string(), "failed: Job has failed indexes (FailedIndexes)");
    ask(&fake, async |cluster| cancel(&cluster, "s", None).await).unwrap();
    assert!(["jobs", "pods", "configmaps"].iter().all(|resource| fake.with(|world| world.list(resource)).is_empty()));
}

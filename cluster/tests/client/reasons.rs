//! Why nothing moves, of every stage, as `status` and `submit --wait` say it.

use crate::{
    ask,
    fake::{Act, Fake, Start, submission, submitted},
};
use cluster::{
    Submission,
    client::{Seen, call, status, wait},
    drive::{Pace, drive},
};
use futures::future::{Either, select};
use serde_json::json;
use std::{pin::pin, time::Duration};
use tokio::{runtime::Builder, time::sleep};

fn seen(fake: &Fake) -> Seen {
    ask(fake, async |cluster| status(&cluster, "s").await).unwrap().unwrap()
}

/// The reasons of a stage, as they are shown.
fn reasons(fake: &Fake, stage: &str) -> Vec<String> {
    let seen = seen(fake);
    let of = [&seen.driver].into_iter().chain(&seen.stages).find(|view| view.stage == stage).unwrap();
    of.reasons.iter().map(ToString::to_string).collect()
}

/// A sweep whose stage is under way, with these pods, after some ticks. Pods of the driver run on.
fn under_way(stage: &str, start: Start, act: Act) -> Fake {
    let fake = submitted(&submission(), true);
    let job = format!("-{stage}");
    fake.with(|world| {
        let is_meant = |run: &crate::fake::PodRun, job: &str| run.job.ends_with(job);
        let meant = job.clone();
        world.starts(move |run| if is_meant(run, &meant) { start } else { Start::Runs });
        let meant = job.clone();
        world.pods(move |run| if is_meant(run, &meant) { act } else { Act::Run });
        let names = world.list("jobs").into_iter().map(|job| job["metadata"]["name"].as_str().unwrap().to_owned());
        for name in names.filter(|name| name.ends_with(&job) && stage != "drive").collect::<Vec<_>>() {
            let annotations = json!({"ranksweep.dev/started": "true"});
            world.change("jobs", &name, &json!({"spec": {"suspend": false}, "metadata": {"annotations": annotations}}));
        }
        (0..6).for_each(|_| world.tick());
    });
    fake
}

const NO_ROOM: &str = "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found.";

/// Each hindrance, and how its reason begins.
const HINDRANCES: [(Start, &str); 6] = [
    (Start::Unschedulable(NO_ROOM), "no node for it (0/3 nodes are available: 3 Insufficient cpu): it asks for cpu "),
    (
        Start::Waits("ImagePullBackOff", "Back-off pulling image \"ranksweep\": not found"),
        "the image `ranksweep` cannot be pulled (ImagePullBackOff: Back-off pulling image \"ranksweep\": not found): correct the name",
    ),
    (
        Start::Waits("CreateContainerConfigError", "secret \"bucket\" not found"),
        "Secret `bucket` does not exist: create it (`kubectl create secret generic bucket --namespace team --from-env-file=FILE`)",
    ),
    (
        Start::Waits("CreateContainerConfigError", "couldn't find key AWS_REGION in Secret team/bucket"),
        "its container cannot be made (couldn't find key AWS_REGION in Secret team/bucket): correct what it names",
    ),
    (
        Start::Waits("RunContainerError", "exec: \"ranksweep\": executable file not found in $PATH"),
        "the image `ranksweep` does not start (exec: \"ranksweep\": executable file not found in $PATH): name an image",
    ),
    (
        Start::Creating("FailedMount", "MountVolume.SetUp failed for volume \"storage\" : claim \"runs\" not found"),
        "its container is not made (FailedMount: MountVolume.SetUp failed for volume \"storage\" : claim \"runs\" not found): create",
    ),
];

#[test]
fn a_pod_that_cannot_run_says_why_in_every_stage() {
    for stage in ["drive", "prepare", "train", "evaluate"] {
        for (start, words) in HINDRANCES {
            let found = reasons(&under_way(stage, start, Act::Run), stage);
            assert_eq!(found.len(), 1, "{stage}: {found:?}");
            let found = found[0].strip_prefix("2 pods: ").unwrap_or(&found[0]);
            assert!(found.starts_with(words), "{stage}\n   found: {found}\nexpected: {words}");
        }
        let fake = under_way(stage, Start::Runs, Act::Run);
        assert_eq!(reasons(&fake, stage), [""; 0], "{stage}: a pod that runs has none");
    }
}

#[test]
fn the_pods_of_a_stage_are_told_together() {
    let found = reasons(&under_way("train", HINDRANCES[0].0, Act::Run), "train");
    assert!(found[0].starts_with("2 pods: no node for it"), "{found:?}");
    let view = &seen(&under_way("train", HINDRANCES[0].0, Act::Run)).stages[1];
    assert_eq!(view.to_string(), "runs: 0 of 3 done, 2 active, 0 of them ready");
}

#[test]
fn the_words_of_a_pod_that_ended_are_told_while_its_successor_is_waited_for() {
    let refused = "error: cannot read s3://bucket: the storage refuses the credentials";
    // Between two of its pods: while one runs, there is no telling how that one will end.
    let between = |fake: &Fake, stage: &str| (0..40).map(|_| reasons(fake, stage)).find(|found| !found.is_empty()).unwrap_or_default();
    let fake = under_way("prepare", Start::Runs, Act::Says(1, refused));
    let again = "another is started after a pause, which doubles with each, from 10 s to 10 min";
    assert_eq!(between(&fake, "prepare"), [format!("its last pod ended with exit code 1: {refused}: {again}")]);
    // When it has failed for good, only the advice is another.
    fake.with(|world| (0..40).for_each(|_| world.tick()));
    assert_eq!(reasons(&fake, "prepare"), [format!("its last pod ended with exit code 1: {refused}: correct it, and submit again")]);
    let found = between(&under_way("train", Start::Runs, Act::Disrupted), "train");
    assert!(found[0].contains("its last pod was interrupted: another is started after a pause"), "{found:?}");
}

#[test]
fn a_quota_is_told_once_whatever_the_pods_are_called() {
    let fake = submitted(&submission(), true);
    fake.with(|world| world.forbids_pods = Some("exceeded quota: gpus, requested: cpu=2, used: cpu=8, limited: cpu=8".to_owned()));
    fake.with(|world| (0..3).for_each(|_| world.tick()));
    let found = reasons(&fake, "drive");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("its pods are refused (exceeded quota: gpus, requested: cpu=2, used: cpu=8, limited: cpu=8): wait until"));
    // Not any longer once there is a pod.
    fake.with(|world| {
        world.forbids_pods = None;
        world.pods(|_| Act::Run);
        (0..3).for_each(|_| world.tick());
    });
    assert_eq!(reasons(&fake, "drive"), [""; 0]);
    // Where some of a stage's pods are there, and others are not let in.
    let fake = under_way("train", Start::Runs, Act::Run);
    fake.with(|world| {
        let train = world.list("jobs").into_iter().find(|job| job["metadata"]["name"].as_str().unwrap().ends_with("-train")).unwrap();
        world.forbids_pods = Some("exceeded quota: gpus".to_owned());
        world.change("jobs", train["metadata"]["name"].as_str().unwrap(), &json!({"spec": {"parallelism": 3}}));
        (0..2).for_each(|_| world.tick());
    });
    assert!(reasons(&fake, "train")[0].starts_with("its pods are refused (exceeded quota: gpus): wait until"));
}

#[test]
fn a_missing_service_account_names_what_makes_it() {
    let fake = submitted(&submission(), true);
    let words = "error looking up service account team/ranksweep-driver: serviceaccount \"ranksweep-driver\" not found";
    fake.with(|world| {
        world.forbids_pods = Some(words.to_owned());
        (0..2).for_each(|_| world.tick());
    });
    assert_eq!(reasons(&fake, "drive"), [format!("its pods are refused ({words}): `kubectl apply -k k8s/base` creates it")]);
}

#[test]
fn a_lost_node_is_told_before_and_after_it_is_given_up() {
    let fake = under_way("train", Start::Runs, Act::Run);
    let pod = fake.with(|world| {
        let pod = world.list("pods").into_iter().map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned());
        let pod = pod.into_iter().find(|name| name.contains("-train-1-")).unwrap();
        world.lose_node(&pod);
        (0..2).for_each(|_| world.tick());
        pod
    });
    let silent = reasons(&fake, "train");
    assert!(silent.len() == 1 && silent[0].starts_with("node node-1 does not answer: it is waited for, for 5 minutes;"), "{silent:?}");
    fake.with(|world| (0..40).for_each(|_| world.tick()));
    let lost = reasons(&fake, "train");
    assert_eq!(
        lost,
        ["node node-1 is lost, and cannot say that the pod has ended: where the node is gone for good, `kubectl delete node node-1` lets \
          its successor start"]
    );
    fake.with(|world| {
        world.remove_node(&pod);
        (0..4).for_each(|_| world.tick());
    });
    assert_eq!(reasons(&fake, "train"), [""; 0], "its successor runs");
}

fn queued() -> Submission {
    let mut queued = submission();
    queued.resources.queue = Some("gpus".to_owned());
    queued
}

/// A sweep whose first stage was handed to its queue, which has no room, or that nobody looks after.
fn waiting_for_its_queue(has_kueue: bool) -> Fake {
    let fake = submitted(&queued(), true);
    fake.with(|world| {
        world.pods(|_| Act::Run);
        (world.has_kueue, world.queue_admits) = (has_kueue, false);
        let jobs = world.list("jobs").into_iter().map(|job| job["metadata"]["name"].as_str().unwrap().to_owned());
        let prepare = jobs.into_iter().find(|name| name.ends_with("-prepare")).unwrap();
        world.change("jobs", &prepare, &json!({"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "gpus"}}}));
        (0..2).for_each(|_| world.tick());
    });
    fake
}

#[test]
fn a_queue_says_why_it_does_not_admit() {
    for (has_kueue, words) in [
        (true, "its queue has not admitted it (couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu"),
        (false, "there is no Kueue on the cluster, and nobody else starts what waits for a queue: have it installed, or leave `queue`"),
    ] {
        let found = reasons(&waiting_for_its_queue(has_kueue), "prepare");
        assert!(found.len() == 1 && found[0].starts_with(words), "{found:?}");
    }
}

#[test]
fn what_a_queue_has_taken_back_says_why_until_it_runs_again() {
    let fake = waiting_for_its_queue(true);
    fake.with(|world| {
        world.queue_admits = true;
        (0..3).for_each(|_| world.tick());
    });
    assert_eq!(reasons(&fake, "prepare"), [""; 0], "it runs");
    fake.with(|world| {
        world.evict();
        (0..2).for_each(|_| world.tick());
    });
    let found = reasons(&fake, "prepare");
    let words = "its queue has not admitted it (Preempted to accommodate a workload (UID: u, JobUID: j) due to prioritization in the ClusterQueue): ";
    assert!(found.len() == 1 && found[0].starts_with(words), "{found:?}");
    fake.with(|world| {
        world.queue_admits = true;
        (0..3).for_each(|_| world.tick());
    });
    assert_eq!(reasons(&fake, "prepare"), [""; 0]);
}

#[test]
fn whoever_waits_is_told_once() {
    let fake = submitted(&submission(), true);
    fake.with(|world| {
        world.starts(|run| if run.job.ends_with("prepare") { HINDRANCES[2].0 } else { Start::Runs });
        world.pods(|_| Act::Run);
    });
    let hash = seen(&fake).submission;
    let mut news = Vec::new();
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (user, own) = (fake.cluster(&call::USER), fake.cluster(&call::DRIVER));
        let mut note = |line: &str| news.push(line.to_owned());
        let all = pin!(futures::future::join(wait(&user, "s", &hash, &mut note), drive(&own, "s", &hash, Pace::default())));
        let Either::Right(_) = select(all, pin!(sleep(Duration::from_secs(600)))).await else { panic!("it cannot end") };
    });
    let told: Vec<&String> = news.iter().filter(|line| line.contains("Secret `bucket` does not exist: create it")).collect();
    assert!(told.len() == 1 && told[0].starts_with(&format!("s-{hash}-prepare: ")), "{news:#?}");
}

/// The page for the first day is made of what is really said.
#[test]
fn the_page_has_the_very_messages() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cluster.md")).unwrap();
    let refused = |words: &str| {
        let fake = submitted(&submission(), true);
        fake.with(|world| {
            world.forbids_pods = Some(words.to_owned());
            (0..2).for_each(|_| world.tick());
        });
        reasons(&fake, "drive")
    };
    let mut said = refused("error looking up service account team/ranksweep-driver: serviceaccount \"ranksweep-driver\" not found");
    said.extend(refused("exceeded quota: gpus, requested: cpu=2, used: cpu=8, limited: cpu=8"));
    said.extend(HINDRANCES.iter().flat_map(|(start, _)| reasons(&under_way("prepare", *start, Act::Run), "prepare")));
    let failing = under_way("prepare", Start::Runs, Act::Says(1, "error: cannot read s3://bucket: the storage refuses the credentials"));
    said.extend((0..40).map(|_| reasons(&failing, "prepare")).find(|found| !found.is_empty()).unwrap());
    let lost = under_way("prepare", Start::Runs, Act::Run);
    lost.with(|world| {
        let pods = world.list("pods").into_iter().map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned());
        let pod = pods.into_iter().find(|name| name.contains("-prepare-")).unwrap();
        world.lose_node(&pod);
        (0..2).for_each(|_| world.tick());
    });
    said.extend(reasons(&lost, "prepare"));
    lost.with(|world| (0..40).for_each(|_| world.tick()));
    said.extend(reasons(&lost, "prepare"));
    for has_kueue in [true, false] {
        said.extend(reasons(&waiting_for_its_queue(has_kueue), "prepare"));
    }
    assert_eq!(said.len(), 13);
    for message in said {
        let message = message.replace("team", "ranksweep");
        let message = message.split(" `kubectl describe").next().unwrap();
        assert!(page.contains(message), "docs/cluster.md lacks {message}");
    }
}

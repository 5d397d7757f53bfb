//! A sweep of three trials on the server, and a driver at work on it.

use crate::fake::{Act, Fake, PodRun, World, submission, submitted};
use cluster::{
    Stage, Submission,
    client::{Call, ClientError, call},
    drive::{Pace, drive},
    stages::Outcome,
};
use futures::future::{Either, select};
use serde_json::Value;
use std::{pin::pin, time::Duration};
use tokio::{runtime::Builder, time::sleep};

const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

pub(crate) fn rungs() -> Vec<Stage> {
    let rung = |rung, trials| Stage::Train { trials, rung: Some(rung) };
    vec![Stage::Prepare, rung(0, 4), rung(1, 2), Stage::Evaluate]
}

/// The sweep as submitted.
pub(crate) fn sweep() -> Fake {
    with(|_| ())
}

/// A changed sweep as submitted.
pub(crate) fn with(change: impl FnOnce(&mut Submission)) -> Fake {
    let mut submission = submission();
    change(&mut submission);
    submitted(&submission, true)
}

/// The sweep as `kubectl apply` creates what `ranksweep render` prints.
pub(crate) fn applied_by_somebody_else() -> Fake {
    submitted(&submission(), false)
}

/// The full name of the Job with this ending.
pub(crate) fn name(world: &World, suffix: &str) -> String {
    let jobs = world.list("jobs");
    let driver = jobs.iter().filter_map(|job| job["metadata"]["name"].as_str()).find_map(|name| name.strip_suffix("-drive"));
    format!("{}-{suffix}", driver.unwrap_or("s-gone"))
}

pub(crate) fn full(fake: &Fake, suffix: &str) -> String {
    fake.with(|world| name(world, suffix))
}

pub(crate) fn job(fake: &Fake, suffix: &str) -> Value {
    fake.with(|world| world.get("jobs", &name(world, suffix)).unwrap().clone())
}

/// Scripts the trials' pods; all others run to their end.
pub(crate) fn of_trials(fake: &Fake, mut script: impl FnMut(&PodRun) -> Act + Send + 'static) {
    fake.with(|world| world.pods(move |run| if run.job.contains("-train") { script(run) } else { Act::Exit(0) }));
}

/// The endings of the Jobs that were unsuspended or queued by the driver, in order.
pub(crate) fn started(fake: &Fake) -> Vec<String> {
    let prefix = full(fake, "");
    let starts = |change: &String| {
        let (job, patch) = change.strip_prefix("patch jobs/")?.split_once(' ')?;
        patch.contains("suspend").then(|| job.strip_prefix(&prefix).unwrap().to_owned())
    };
    fake.with(|world| world.changes.iter().filter_map(starts).collect())
}

/// How a driver ends that may do what its role allows.
pub(crate) fn driven(fake: &Fake) -> Result<Outcome, ClientError> {
    driven_with(fake, &call::DRIVER)
}

pub(crate) fn driven_with(fake: &Fake, allowed: &'static [Call]) -> Result<Outcome, ClientError> {
    run(fake, allowed, None).unwrap()
}

/// A driver that dies while it waits for its answer to so many questions; what it asked for was done.
pub(crate) fn driven_until(fake: &Fake, questions: u32) {
    fake.with(|world| world.last_answer = Some(questions));
    assert!(run(fake, &call::DRIVER, Some(questions)).is_none());
    fake.with(|world| world.last_answer = None);
}

/// How a sweep ends whose driver lives as long as its pod, which is preempted so many times, each time after two questions: its look, and the
/// first step that follows from it.
pub(crate) fn driven_in_its_pod(fake: &Fake, preemptions: u32) -> Outcome {
    drivers(fake, Act::Run);
    for _ in 0..preemptions {
        let asked = until_it_runs(fake);
        driven_until(fake, asked + 2);
        end_driver(fake, Act::Disrupted);
    }
    until_it_runs(fake);
    let outcome = driven(fake).unwrap();
    end_driver(fake, Act::Exit(0));
    (0..2).for_each(|_| fake.with(World::tick));
    outcome
}

/// Waits for a driver's pod that runs; how many questions were asked so far.
fn until_it_runs(fake: &Fake) -> u32 {
    let runs = |pod: &Value| pod["metadata"]["labels"]["ranksweep.dev/stage"] == "driver" && pod["status"]["phase"] == "Running";
    for _ in 0..100 {
        if fake.with(|world| world.list("pods")).iter().any(runs) {
            return fake.with(|world| world.asked);
        }
        fake.with(World::tick);
    }
    panic!("no driver begins");
}

/// The driver's pod ends so, in the next tick.
fn end_driver(fake: &Fake, act: Act) {
    drivers(fake, act);
    fake.with(World::tick);
    drivers(fake, Act::Run);
}

/// The driver's pods do this, and all others have done their work.
fn drivers(fake: &Fake, act: Act) {
    fake.with(|world| world.pods(move |run| if run.job.ends_with("-drive") { act } else { Act::Exit(0) }));
}

/// Runs the driver on a clock that leaps over its sleeps. A week without an end is a driver that hangs.
fn run(fake: &Fake, allowed: &'static [Call], questions: Option<u32>) -> Option<Result<Outcome, ClientError>> {
    let submission = full(fake, "").split('-').nth(1).unwrap().to_owned();
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let cluster = fake.cluster(allowed);
        let driver = pin!(drive(&cluster, "s", &submission, Pace::default()));
        let death = pin!(async {
            let asked = || fake.with(|world| world.asked);
            match questions {
                None => sleep(WEEK).await,
                Some(last) => {
                    while asked() < last {
                        sleep(Duration::from_secs(1)).await
                    }
                }
            }
        });
        match select(driver, death).await {
            Either::Left((outcome, _)) => Some(outcome),
            Either::Right(_) => {
                assert!(questions.is_some(), "the driver hangs");
                None
            }
        }
    })
}

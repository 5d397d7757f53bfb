//! `submit`, `status`, `logs` and `cancel` on an API server in memory.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

#[path = "../fake/mod.rs"]
mod fake;

mod cancel;
mod listing;
mod reasons;
mod refused;
mod seen;
mod submitting;

use cluster::{
    Submission,
    client::{ClientError, Cluster, Conditions, Submitted, call, rehearse},
    drive::{Pace, drive},
    stages::Outcome,
};
use fake::Fake;
use std::future::Future;
use tokio::runtime::Builder;

/// Runs what a user does, with no more rights than are documented, on a clock that leaps over sleeps.
fn ask<T, F: Future<Output = T>>(fake: &Fake, action: impl FnOnce(Cluster) -> F) -> T {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async { action(fake.cluster(&call::USER)).await })
}

/// Submits as `ranksweep submit` does.
async fn submit(cluster: &Cluster, submission: &Submission, replace: bool) -> Result<Submitted, ClientError> {
    rehearse(cluster, submission, Conditions { replace, has_tables: true }).await?.create(cluster).await
}

/// Runs the driver of a submission to its end.
fn drive_to_the_end(fake: &Fake, hash: &str) -> Outcome {
    ask(fake, async |cluster| drive(&cluster, "s", hash, Pace::default()).await.unwrap())
}

/// The driver's own pod ends with this exit code.
fn end_driver(fake: &Fake, hash: &str, code: u8) {
    let driver = format!("s-{hash}-drive");
    fake.with(|world| {
        world.pods(move |run| if run.job == driver { fake::Act::Exit(code) } else { fake::Act::Exit(0) });
        (0..5).for_each(|_| world.tick());
        world.pods(|run| if run.job.ends_with("drive") { fake::Act::Run } else { fake::Act::Exit(0) });
    });
}

/// A server on which drivers run until [`end_driver`].
fn server() -> Fake {
    let fake = Fake::new();
    fake.with(|world| world.pods(|run| if run.job.ends_with("drive") { fake::Act::Run } else { fake::Act::Exit(0) }));
    fake
}

//! The end of a submission, waited for.

use super::{Away, Cluster, Error, find::Selector};
use crate::drive::{Action, Outcome, SeenJob, State, driver, stages, step};
use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt;
use std::time::Duration;
use tokio::time::sleep;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(5);

/// Waits for the end of a submission, and tells line by line what changes on the way: how far its stages are, and why something of them does
/// not move. An API server that does not answer is waited for.
///
/// # Errors
/// What the server refuses.
pub async fn wait(cluster: &Cluster, sweep: &str, hash: &str, news: &mut (dyn FnMut(&str) + Send)) -> Result<Outcome, Error> {
    let (of, mut away, mut said) = (Selector::submission(sweep, hash), Away::default(), Vec::new());
    loop {
        match look(cluster, &of).await {
            Err(error) => sleep(away.failed(error)?).await,
            Ok((end, lines)) => {
                away.answered();
                lines.iter().filter(|line| !said.contains(*line)).for_each(|line| news(line));
                if let Some(outcome) = end {
                    return Ok(outcome);
                }
                said = lines;
                sleep(LOOK).await;
            }
        }
    }
}

/// How it has ended, if it has, and what there is to tell.
async fn look(cluster: &Cluster, of: &Selector) -> Result<(Option<Outcome>, Vec<String>), Error> {
    let jobs = cluster.jobs(of).await?;
    let end = end(&jobs);
    let mut lines = if end.is_some() { Vec::new() } else { pauses(&jobs) };
    if is_told(end.as_ref()) && jobs.iter().any(lacks) {
        let (pods, events) = (cluster.pods(of).await?, cluster.events().await?);
        for (job, reasons) in cluster.reasons(&jobs, &pods, &events).await? {
            lines.extend(reasons.iter().map(|reason| format!("{job}: {reason}")));
        }
    }
    Ok((end, lines))
}

/// Of trials that failed their results say more than their pods.
fn is_told(end: Option<&Outcome>) -> bool {
    matches!(end, None | Some(Outcome::Failed { .. }))
}

/// Whether a Job may have a reason: where all of its pods run, nobody asks for them.
fn lacks(job: &Job) -> bool {
    match State::of(job) {
        State::Running { active, ready, .. } => active == 0 || ready < active,
        State::Suspended => {
            let seen = SeenJob::of(job, 0);
            seen.started && seen.queue.is_some()
        }
        State::Failed(failure) => !failure.is_of_indexes(),
        State::Done | State::Missing { .. } => false,
    }
}

/// How a submission has ended, if it has: its driver says that it has, and its stages how.
pub(super) fn end(jobs: &[Job]) -> Option<Outcome> {
    let Some(driver) = driver(jobs) else { return Some(Outcome::Gone("of the driver".to_owned())) };
    match State::of(driver) {
        State::Done => Some(Outcome::Done),
        State::Failed(failure) => {
            let of_stages = step(&overdue(jobs)).into_iter().find_map(|action| match action {
                Action::Finish(outcome) => Some(outcome),
                _ => None,
            });
            Some(of_stages.unwrap_or_else(|| Outcome::Failed { job: driver.name_any(), failure }))
        }
        _ => None,
    }
}

/// The stages as a driver has seen them that does not wait any longer.
fn overdue(jobs: &[Job]) -> Vec<SeenJob> {
    let mut stages = stages(jobs).unwrap_or_default();
    for job in &mut stages {
        if let State::Missing { overdue } = &mut job.state {
            *overdue = true;
        }
    }
    stages
}

fn pauses(jobs: &[Job]) -> Vec<String> {
    let pause = |action| if let Action::Wait(pause) = action { Some(pause.to_string()) } else { None };
    step(&stages(jobs).unwrap_or_default()).into_iter().filter_map(pause).collect()
}

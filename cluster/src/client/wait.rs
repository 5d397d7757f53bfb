//! The end of a submission, waited for.

use super::{Away, ClientError, Cluster, find::Selector};
use crate::stages::{Action, Outcome, SeenJob, State, driver, stages, step};
use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt;
use std::time::Duration;
use tokio::time::sleep;

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(5);
/// Looks at the Jobs between two at pods and events, of which there may be many more.
const LOOKS_FOR_REASONS: u64 = 6;

/// Waits for the end of a submission, and tells line by line what changes on the way: how far its stages are, and why something of them does
/// not move. An API server that does not answer is waited for.
///
/// # Errors
/// Refusals of the server.
pub async fn wait(cluster: &Cluster, sweep: &str, hash: &str, news: &mut (dyn FnMut(&str) + Send)) -> Result<Outcome, ClientError> {
    let (of, mut away, mut said, mut reasons) = (Selector::submission(sweep, hash), Away::default(), Vec::new(), Vec::new());
    for looks in 0_u64.. {
        match look(cluster, &of, looks % LOOKS_FOR_REASONS == 0).await {
            Err(error) => sleep(away.failed(error)?).await,
            Ok(seen) => {
                away.answered();
                reasons = seen.reasons.unwrap_or(reasons);
                let lines = [seen.pauses, reasons.clone()].concat();
                lines.iter().filter(|line| !said.contains(*line)).for_each(|line| news(line));
                if let Some(outcome) = seen.end {
                    return Ok(outcome);
                }
                said = lines;
                sleep(LOOK).await;
            }
        }
    }
    unreachable!("nobody looks so often")
}

/// The findings of one look.
struct Looked {
    /// How it has ended, if it has.
    end: Option<Outcome>,
    /// The pauses of its Jobs, in words.
    pauses: Vec<String>,
    /// Why its Jobs do not move, where it was asked.
    reasons: Option<Vec<String>>,
}

async fn look(cluster: &Cluster, of: &Selector, asks: bool) -> Result<Looked, ClientError> {
    let jobs = cluster.jobs(of).await?;
    let end = end(&jobs);
    let pauses = if end.is_some() { Vec::new() } else { pauses(&jobs) };
    let reasons = match is_told(end.as_ref()) && jobs.iter().any(lacks) {
        true if asks || end.is_some() => Some(reasons(cluster, of, &jobs).await?),
        true => None,
        false => Some(Vec::new()),
    };
    Ok(Looked { end, pauses, reasons })
}

async fn reasons(cluster: &Cluster, of: &Selector, jobs: &[Job]) -> Result<Vec<String>, ClientError> {
    let (pods, events) = (cluster.pods(of).await?, cluster.events().await?);
    let of_jobs = cluster.reasons(jobs, &pods, &events).await?;
    let lines = of_jobs.iter().flat_map(|(job, reasons)| reasons.iter().map(move |reason| format!("{job}: {reason}")));
    Ok(lines.collect())
}

/// Whether reasons are told by pods: results of trials that failed say more.
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

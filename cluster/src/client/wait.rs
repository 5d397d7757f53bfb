//! The end of a submission, waited for.

use super::{Away, Cluster, Error, find::Selector};
use crate::drive::{Action, Outcome, Pause, SeenJob, State, driver, stages, step};
use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt;
use std::time::Duration;
use tokio::time::sleep;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(5);

/// Waits for the end of a submission, and tells what changes on the way. An API server that does not answer is waited for.
///
/// # Errors
/// What the server refuses.
pub async fn wait(cluster: &Cluster, sweep: &str, hash: &str, news: &mut (dyn FnMut(&Pause) + Send)) -> Result<Outcome, Error> {
    let (of, mut away, mut said) = (Selector::submission(sweep, hash), Away::default(), Vec::new());
    loop {
        match cluster.jobs(&of).await {
            Err(error) => sleep(away.failed(error)?).await,
            Ok(jobs) => {
                away.answered();
                if let Some(outcome) = end(&jobs) {
                    return Ok(outcome);
                }
                let pauses = pauses(&jobs);
                pauses.iter().filter(|pause| !said.contains(*pause)).for_each(&mut *news);
                said = pauses;
                sleep(LOOK).await;
            }
        }
    }
}

/// How a submission has ended, if it has: its driver says that it has, and its stages how.
fn end(jobs: &[Job]) -> Option<Outcome> {
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

fn pauses(jobs: &[Job]) -> Vec<Pause> {
    let pause = |action| if let Action::Wait(pause) = action { Some(pause) } else { None };
    step(&stages(jobs).unwrap_or_default()).into_iter().filter_map(pause).collect()
}

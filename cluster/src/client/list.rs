//! The sweeps of a namespace.

use super::{ClientError, Cluster, StageView, find::Selector, wait::end};
use crate::{
    labels,
    stages::{Outcome, State, driver, stages},
};
use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt;
use serde::Serialize;
use std::collections::BTreeMap;

/// A submission of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The sweep's name.
    pub sweep: String,
    /// The submission's hash.
    pub submission: String,
    /// When it was submitted, in RFC 3339.
    pub submitted: String,
    /// Whether it has ended.
    pub ended: bool,
    /// How far it is, in a few words.
    pub state: String,
    /// Seconds for which its objects are kept after its end, where they go by themselves.
    pub ttl_seconds_after_finished: Option<i32>,
}

/// All submissions in the namespace, the newest first.
///
/// # Errors
/// Refusals of the server.
pub async fn list(cluster: &Cluster) -> Result<Vec<Listed>, ClientError> {
    let mut of: BTreeMap<String, Vec<Job>> = BTreeMap::new();
    for job in cluster.jobs(&Selector::all()).await? {
        of.entry(job.labels().get(labels::SUBMISSION).cloned().unwrap_or_default()).or_default().push(job);
    }
    let mut all: Vec<Listed> = of.values().filter_map(|jobs| listed(jobs)).collect();
    all.sort_by(|a, b| (&b.submitted, &a.sweep).cmp(&(&a.submitted, &b.sweep)));
    Ok(all)
}

/// The submission of some Jobs; none where they have no driver, which somebody has deleted.
fn listed(jobs: &[Job]) -> Option<Listed> {
    let driver = driver(jobs)?;
    let label = |key: &str| driver.labels().get(key).cloned().unwrap_or_default();
    let end = end(jobs);
    Some(Listed {
        sweep: label(labels::SWEEP),
        submission: label(labels::SUBMISSION),
        submitted: driver.metadata.creation_timestamp.as_ref().map_or_else(String::new, |time| time.0.to_string()),
        ended: end.is_some(),
        state: end.map_or_else(|| due(jobs, driver), |outcome| words(&outcome, &label(labels::SUBMISSION))),
        ttl_seconds_after_finished: driver.spec.as_ref().and_then(|spec| spec.ttl_seconds_after_finished),
    })
}

fn words(outcome: &Outcome, hash: &str) -> String {
    match outcome {
        Outcome::Done => "done".to_owned(),
        Outcome::FailedTrials(1) => "done, but for 1 trial".to_owned(),
        Outcome::FailedTrials(count) => format!("done, but for {count} trials"),
        Outcome::FailedBatches(count) => format!("done, but for some trials of {count} pods"),
        Outcome::Failed { .. } => format!("failed in {}", outcome.failed_stage(hash).unwrap_or("the driver")),
        Outcome::Gone(job) => format!("ended: the Job {job} was deleted"),
    }
}

/// The first stage that is not over.
fn due(jobs: &[Job], driver: &Job) -> String {
    let prefix = driver.name_any();
    let prefix = prefix.strip_suffix("drive").unwrap_or_default();
    let open = stages(jobs).unwrap_or_default().into_iter().find(|job| !matches!(job.state, State::Done | State::Failed(_)));
    let view = open.map(|job| StageView::of(job, prefix, jobs, &BTreeMap::new()));
    view.map_or_else(|| "ending".to_owned(), |view| format!("{} {view}", view.stage))
}

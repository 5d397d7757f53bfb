//! The driver's Job: one small pod that starts the stages, one after the other. It owns all other objects.
//!
//! Kubernetes delays a pod that replaces another, longer each time, whether the first had failed or was interrupted, and counts for each index
//! of a Job that has retries by index. So the driver is an Indexed Job of which one index has to succeed: an interrupted driver gives up its
//! index, and the next one, of which nothing has ended yet, begins at once. One that failed is tried again under its index, after the delay.

use super::{
    RenderContext, command,
    metadata::metadata,
    names,
    pod::{container, equal, of_stage, placed},
    policy,
    stage::signed,
};
use crate::{
    Stage,
    labels::{DRIVER, PARALLELISM, STAGES, TTL},
    reserved::DRIVERS,
};
use k8s_openapi::api::{
    batch::v1::{Job, JobSpec, SuccessPolicy, SuccessPolicyRule},
    core::v1::PodSpec,
};

/// The ServiceAccount with the driver's rights; `k8s/base` creates it.
pub const ACCOUNT: &str = "ranksweep-driver";

/// How often a driver that failed is started again before the next one has its turn.
const RETRIES: i32 = 100;

pub(super) fn job(context: &RenderContext<'_>) -> Job {
    let resources = equal([("cpu", "100m".to_owned()), ("memory", "128Mi".to_owned())]);
    let container = container(context, command::drive(context), resources);
    let spec = PodSpec {
        service_account_name: Some(ACCOUNT.to_owned()),
        automount_service_account_token: Some(true),
        ..placed(context, container, &context.submission.resources.evaluating())
    };
    let one = SuccessPolicyRule { succeeded_count: Some(1), succeeded_indexes: None };
    let spec = JobSpec {
        completion_mode: Some("Indexed".to_owned()),
        completions: Some(signed(DRIVERS)),
        parallelism: Some(1),
        success_policy: Some(SuccessPolicy { rules: vec![one] }),
        backoff_limit_per_index: Some(RETRIES),
        pod_failure_policy: Some(policy::in_turn()),
        pod_replacement_policy: Some(policy::REPLACEMENT.to_owned()),
        template: of_stage(context, DRIVER, spec),
        ..JobSpec::default()
    };
    let mut metadata = metadata(context, context.name("drive"), Some(DRIVER));
    let resources = &context.submission.resources;
    let (parallelism, ttl) = (resources.parallelism.to_string(), resources.ttl_seconds_after_finished.to_string());
    let annotations = [(STAGES, stages(context)), (PARALLELISM, parallelism), (TTL, ttl)];
    metadata.annotations = Some(annotations.map(|(key, value)| (key.to_owned(), value)).into());
    Job { metadata, spec: Some(spec), status: None }
}

/// The names of the stages' Jobs, by which the driver knows one that is not there.
fn stages(context: &RenderContext<'_>) -> String {
    let names = |stage: &Stage| names(context, *stage).join(",");
    context.submission.stages.iter().map(names).collect::<Vec<_>>().join(" ")
}

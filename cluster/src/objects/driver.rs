//! The driver's Job: one small pod that starts the stages, one after the other. It owns all other objects.

use super::{
    RenderContext, command,
    metadata::metadata,
    names,
    pod::{container, equal, of_stage, placed},
    policy,
};
use crate::{
    Stage,
    labels::{DRIVER, PARALLELISM, STAGES, TTL},
};
use k8s_openapi::api::{
    batch::v1::{Job, JobSpec},
    core::v1::PodSpec,
};

/// The ServiceAccount with the driver's rights; `k8s/base` creates it.
pub const ACCOUNT: &str = "ranksweep-driver";

/// The driver keeps nothing in memory that it cannot see anew, so it may be started again as often as it takes.
const RETRIES: i32 = 100;

pub(super) fn job(context: &RenderContext<'_>) -> Job {
    let resources = equal([("cpu", "100m".to_owned()), ("memory", "128Mi".to_owned())]);
    let container = container(context, command::drive(context), resources);
    let spec = PodSpec {
        service_account_name: Some(ACCOUNT.to_owned()),
        automount_service_account_token: Some(true),
        ..placed(context, container, &context.submission.resources.evaluating())
    };
    let spec = JobSpec {
        backoff_limit: Some(RETRIES),
        pod_failure_policy: Some(policy::whole()),
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

//! A trial over several nodes: an Indexed Job whose index is the rank, and a headless Service through which the ranks find each other.

use super::{
    Object, RenderContext, command,
    environment::variable,
    metadata::{metadata, of_stage},
    pod::{self, Work},
    policy,
    stage::{signed, suspended},
};
use crate::{Stage, reserved::RENDEZVOUS};
use k8s_openapi::api::{
    batch::v1::{Job, JobSpec, SuccessPolicy, SuccessPolicyRule},
    core::v1::{EnvVar, EnvVarSource, ObjectFieldSelector, Service, ServicePort, ServiceSpec},
};

/// Where the Job controller writes the index of a pod.
const INDEX_ANNOTATION: &str = "batch.kubernetes.io/job-completion-index";

/// Service and Job of one trial.
pub(super) fn gang(context: &RenderContext<'_>, stage: Stage, trial: u32) -> [Object; 2] {
    let name = context.name(&format!("{}-{trial}", stage.suffix()));
    let port = ServicePort { name: Some("rendezvous".to_owned()), port: RENDEZVOUS.into(), ..ServicePort::default() };
    [service(context, stage, &name, port).into(), job(context, stage, trial, name).into()]
}

/// Names for the pods of a Job, also for those that are not ready yet: they look for each other before any of them is.
pub(super) fn service(context: &RenderContext<'_>, stage: Stage, name: &str, port: ServicePort) -> Service {
    let selector = [("batch.kubernetes.io/job-name".to_owned(), name.to_owned())];
    let spec = ServiceSpec {
        cluster_ip: Some("None".to_owned()),
        publish_not_ready_addresses: Some(true),
        selector: Some(selector.into()),
        ports: Some(vec![port]),
        ..ServiceSpec::default()
    };
    Service { metadata: metadata(context, name.to_owned(), Some(stage.label())), spec: Some(spec), status: None }
}

/// The trial has ended well when rank 0 has: it stores the result. Any rank that fails takes the others' collectives with it, so that
/// one failure costs up to as many retries as there are ranks.
fn job(context: &RenderContext<'_>, stage: Stage, trial: u32, name: String) -> Job {
    let resources = &context.submission.resources;
    let rung = if let Stage::Train { rung, .. } = stage { rung } else { None };
    let share = resources.trial();
    let work = Work {
        stage: stage.label(),
        program: command::PROGRAM,
        arguments: command::train(context, &share, &trial.to_string(), rung),
        share,
        runtime_class: resources.runtime_class.clone(),
        environment: rendezvous(&name, resources.nodes),
        subdomain: Some(name.clone()),
    };
    led_by_the_first(context, stage, name, work, resources.nodes)
}

/// A Job of so many pods that work together. It has ended well when the pod of index 0 has, and the others end with it.
pub(super) fn led_by_the_first(context: &RenderContext<'_>, stage: Stage, name: String, work: Work<'_>, pods: u32) -> Job {
    let first = SuccessPolicyRule { succeeded_indexes: Some("0".to_owned()), succeeded_count: None };
    let spec = JobSpec {
        completion_mode: Some("Indexed".to_owned()),
        completions: Some(signed(pods)),
        parallelism: Some(signed(pods)),
        backoff_limit: Some(signed(context.submission.resources.retries * pods)),
        success_policy: Some(SuccessPolicy { rules: vec![first] }),
        ..suspended(pod::template(context, work), policy::whole())
    };
    Job { metadata: of_stage(context, name, stage.label()), spec: Some(spec), status: None }
}

/// torchrun's variables. A rank is a process, and so a pod; the GPUs of a pod are its threads.
fn rendezvous(name: &str, nodes: u32) -> Vec<EnvVar> {
    let given = [("MASTER_ADDR", format!("{name}-0.{name}")), ("MASTER_PORT", RENDEZVOUS.to_string()), ("WORLD_SIZE", nodes.to_string())];
    given.map(|(name, value)| variable(name, &value)).into_iter().chain([rank()]).collect()
}

/// From the pod's annotation: `$(JOB_COMPLETION_INDEX)` is defined after all other variables, and would stay as it is in theirs.
fn rank() -> EnvVar {
    let field = ObjectFieldSelector { field_path: format!("metadata.annotations['{INDEX_ANNOTATION}']"), ..ObjectFieldSelector::default() };
    let source = EnvVarSource { field_ref: Some(field), ..EnvVarSource::default() };
    EnvVar { name: "RANK".to_owned(), value_from: Some(source), ..EnvVar::default() }
}

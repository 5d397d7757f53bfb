//! The stages' Jobs. They are created suspended; the driver starts each when its turn has come.

use super::{
    RenderContext, command,
    metadata::of_stage,
    pod::{self, Work},
    policy,
};
use crate::{
    Stage,
    labels::{LEAST_PARALLELISM, TRIALS_PER_GPU, TRIALS_PER_POD},
    resources::Share,
};
use k8s_openapi::api::batch::v1::{Job, JobSpec, PodFailurePolicy};

pub(super) fn prepare(context: &RenderContext<'_>) -> Job {
    let share = context.submission.resources.preparing();
    single(context, Stage::Prepare, command::prepare(context, &share), share)
}

pub(super) fn evaluate(context: &RenderContext<'_>) -> Job {
    let share = context.submission.resources.evaluating();
    single(context, Stage::Evaluate, command::evaluate(context, &share), share)
}

/// One trial for each index, or several. An index that fails leaves the others alone: `maxFailedIndexes` is not set.
pub(super) fn train(context: &RenderContext<'_>, trials: u32, rung: Option<u32>) -> Job {
    let stage = Stage::Train { trials, rung };
    let resources = &context.submission.resources;
    let (share, indexes) = (resources.trial(), resources.indexes(trials));
    let arguments = command::train(context, &share, command::INDEX, rung);
    let work = Work { runtime_class: resources.runtime_class.clone(), ..work(stage, arguments, share) };
    let mut job = job(context, stage, work, policy::per_index());
    job.spec = job.spec.map(|spec| JobSpec {
        completion_mode: Some("Indexed".to_owned()),
        completions: Some(signed(indexes)),
        parallelism: Some(signed(resources.parallelism.min(indexes))),
        backoff_limit_per_index: Some(signed(resources.retries)),
        ..spec
    });
    // Kueue refuses a least number that is not below the number of pods.
    let has_fewer = resources.queue.is_some() && resources.parallelism.min(indexes) > 1;
    let least = has_fewer.then(|| (LEAST_PARALLELISM, "1".to_owned()));
    let several = (resources.batch() > 1).then(|| (TRIALS_PER_POD, resources.batch().to_string()));
    // The pod reads the number in the sweep file; here it tells submissions apart.
    let sharing = (resources.trials_per_gpu > 1).then(|| (TRIALS_PER_GPU, resources.trials_per_gpu.to_string()));
    for (key, value) in [least, several, sharing].into_iter().flatten() {
        job.metadata.annotations.get_or_insert_default().insert(key.to_owned(), value);
    }
    job
}

fn single(context: &RenderContext<'_>, stage: Stage, arguments: Vec<String>, share: Share<'_>) -> Job {
    let mut job = job(context, stage, work(stage, arguments, share), policy::whole());
    job.spec = job.spec.map(|spec| JobSpec { backoff_limit: Some(signed(context.submission.resources.retries)), ..spec });
    job
}

fn work<'a>(stage: Stage, arguments: Vec<String>, share: Share<'a>) -> Work<'a> {
    Work {
        stage: stage.label(),
        program: command::PROGRAM,
        arguments,
        share,
        environment: Vec::new(),
        runtime_class: None,
        subdomain: None,
    }
}

fn job(context: &RenderContext<'_>, stage: Stage, work: Work<'_>, policy: PodFailurePolicy) -> Job {
    Job {
        metadata: of_stage(context, context.name(&stage.suffix()), stage.label()),
        spec: Some(suspended(pod::template(context, work), policy)),
        status: None,
    }
}

/// The specification that all Jobs of stages share.
pub(super) fn suspended(template: k8s_openapi::api::core::v1::PodTemplateSpec, policy: PodFailurePolicy) -> JobSpec {
    JobSpec {
        suspend: Some(true),
        template,
        pod_failure_policy: Some(policy),
        pod_replacement_policy: Some(policy::REPLACEMENT.to_owned()),
        ..JobSpec::default()
    }
}

/// Counts of the API are signed; ours are checked to be far smaller than its greatest.
pub(super) fn signed(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

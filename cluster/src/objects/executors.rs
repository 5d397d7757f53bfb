//! A preparation with an Apache Ballista cluster of its own: an Indexed Job whose index 0 prepares, beside the cluster's scheduler, and whose other indexes
//! are executors; and a headless Service by which these find the scheduler. The Job has ended when index 0 has: no executor outlives it.

use super::{Object, RenderContext, command, gang, pod::Work, stage::signed};
use crate::Stage;
use k8s_openapi::api::{batch::v1::JobSpec, core::v1::ServicePort};

/// The port of the scheduler, as Ballista has it.
const PORT: u16 = 50_050;
/// Parts of a relation for each core that computes: enough that none waits long for the last one.
const PARTS_PER_CORE: f64 = 2.0;

/// Service and Job.
pub(super) fn prepare(context: &RenderContext<'_>) -> [Object; 2] {
    let (stage, executors) = (Stage::Prepare, context.submission.executors);
    let name = context.name(&stage.suffix());
    let share = context.submission.resources.preparing();
    let parts = (share.cpu.value() * f64::from(executors) * PARTS_PER_CORE).clamp(16.0, 4096.0).ceil();
    let scheduler = format!("df://{name}-0.{name}:{PORT}?partitions={parts}");
    let work = Work {
        stage: stage.label(),
        program: command::ENGINE,
        arguments: command::prepare_with_executors(context, &share, &scheduler),
        share,
        environment: Vec::new(),
        runtime_class: None,
        subdomain: Some(name.clone()),
    };
    let mut job = gang::led_by_the_first(context, stage, name.clone(), work, 1 + executors);
    // What the first pod cannot do is tried as often as without executors; and these have retries of their own.
    job.spec = job.spec.map(|spec| JobSpec {
        backoff_limit: None,
        backoff_limit_per_index: Some(signed(context.submission.resources.retries)),
        max_failed_indexes: Some(0),
        ..spec
    });
    let port = ServicePort { name: Some("scheduler".to_owned()), port: PORT.into(), ..ServicePort::default() };
    let service = gang::service(context, stage, &name, port);
    [service.into(), job.into()]
}

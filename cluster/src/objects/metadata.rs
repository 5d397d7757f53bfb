//! Names, labels and annotations.

use super::RenderContext;
use crate::labels::{QUEUE, STAGE, SUBMISSION, SWEEP};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use std::collections::BTreeMap;

/// The labels of everything that belongs to a stage, or to none.
pub(super) fn labels(context: &RenderContext<'_>, stage: Option<&str>) -> BTreeMap<String, String> {
    let program = ("app.kubernetes.io/name", "ranksweep");
    let sweep = [program, (SWEEP, &context.submission.name), (SUBMISSION, context.hash)];
    let stage = stage.map(|stage| (STAGE, stage));
    sweep.into_iter().chain(stage).map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// The metadata of an object.
pub(super) fn metadata(context: &RenderContext<'_>, name: String, stage: Option<&str>) -> ObjectMeta {
    let namespace = Some(context.submission.namespace.clone());
    ObjectMeta { name: Some(name), namespace, labels: Some(labels(context, stage)), ..ObjectMeta::default() }
}

/// The metadata of a stage's Job, with the queue, if any, that the driver hands it to.
pub(super) fn of_stage(context: &RenderContext<'_>, name: String, stage: &str) -> ObjectMeta {
    let queue = context.submission.resources.queue.clone();
    let annotations = queue.map(|queue| [(QUEUE.to_owned(), queue)].into());
    ObjectMeta { annotations, ..metadata(context, name, Some(stage)) }
}

//! The commands of the pods.

use super::{RenderContext, config_map::FILE};
use crate::{
    reserved::{CACHE, SWEEP_FOLDER},
    resources::{LogFormat, Share},
};

/// Seconds for which a storage that has not answered yet is waited for: a pod that gave up early would burn its retries while a server restarts.
const PATIENCE: &str = "300";

/// The program; it is the pod's first process, so that signals reach it.
pub(super) const PROGRAM: &str = "ranksweep";

/// The program with Apache Ballista.
pub(super) const ENGINE: &str = "ranksweep-engine";

/// The index of an Indexed Job's pod, which Kubernetes puts in its place.
pub(super) const INDEX: &str = "$(JOB_COMPLETION_INDEX)";

/// A text in which Kubernetes replaces nothing.
pub(super) fn literal(text: &str) -> String {
    text.replace('$', "$$")
}

pub(super) fn prepare(context: &RenderContext<'_>, share: &Share<'_>) -> Vec<String> {
    stage(context, share, "prepare", &[])
}

/// Of a preparation with executors, what each of its pods does by its index: the first prepares, beside the scheduler at this URL.
pub(super) fn prepare_with_executors(context: &RenderContext<'_>, share: &Share<'_>, scheduler: &str) -> Vec<String> {
    let words = ["gang", "--index", INDEX, "--scheduler", scheduler, "--"];
    words.iter().map(|&word| word.to_owned()).chain(prepare(context, share)).collect()
}

/// One trial: at `index` of the plan, or of a rung's promoted ones; or as many of them as a pod may have.
pub(super) fn train(context: &RenderContext<'_>, share: &Share<'_>, index: &str, rung: Option<u32>) -> Vec<String> {
    let several = context.submission.resources.batch();
    let rung = rung.map(|rung| ("--rung", rung.to_string()));
    let several = (several > 1).then(|| ("--batch", several.to_string()));
    let cache = context.submission.resources.cache.as_ref().map(|_| ("--cache", CACHE.to_owned()));
    let flags = rung.iter().chain(&several).chain(&cache).flat_map(|(flag, value)| [*flag, value.as_str()]);
    let more: Vec<&str> = ["--index", index].into_iter().chain(flags).collect();
    stage(context, share, "train", &more)
}

/// Tables and report, also of a sweep in which trials failed.
pub(super) fn evaluate(context: &RenderContext<'_>, share: &Share<'_>) -> Vec<String> {
    stage(context, share, "evaluate", &["--partial", "--report"])
}

pub(super) fn drive(context: &RenderContext<'_>) -> Vec<String> {
    let submission = context.submission;
    let words = ["drive", &submission.name, "--namespace", &submission.namespace, "--submission", context.hash];
    words.iter().map(|&word| word.to_owned()).chain(told(context)).collect()
}

/// The flags that choose how a pod tells what it does, where they are not the default.
fn told(context: &RenderContext<'_>) -> Vec<String> {
    let resources = &context.submission.resources;
    let log_format = (resources.log_format == LogFormat::Json).then(|| ["--log-format".to_owned(), "json".to_owned()]);
    // Of both IP versions, where the node has both.
    let metrics = resources.metrics_port.map(|port| ["--metrics-address".to_owned(), format!("[::]:{port}")]);
    log_format.into_iter().chain(metrics).flatten().collect()
}

fn stage(context: &RenderContext<'_>, share: &Share<'_>, command: &str, more: &[&str]) -> Vec<String> {
    let submission = context.submission;
    let file = format!("{SWEEP_FOLDER}/{FILE}");
    let (storage, plan) = (literal(&submission.storage), literal(&submission.plan));
    let memory = buffers(share);
    let words = [command, &file, "--storage", &storage, "--plan", &plan, "--memory", &memory, "--storage-patience", PATIENCE];
    let own = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    own(&words).into_iter().chain(told(context)).chain(own(more)).collect()
}

/// Half of the pod's memory: the other half holds the tables themselves, and the model.
fn buffers(share: &Share<'_>) -> String {
    format!("{}MiB", (share.memory.value() / 2.0 / f64::from(1 << 20)) as u64)
}

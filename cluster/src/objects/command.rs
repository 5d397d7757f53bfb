//! The commands of the pods.

use super::{RenderContext, config_map::FILE, volumes::SWEEP_FOLDER};
use crate::resources::{LogFormat, Share};

/// Seconds for which a storage that has not answered yet is waited for: a pod that gave up early would burn its retries while a server restarts.
const PATIENCE: &str = "300";

/// The program; it is the pod's first process, so that signals reach it.
pub(super) const PROGRAM: &str = "ranksweep";

/// The index of an Indexed Job's pod, which Kubernetes puts in its place.
pub(super) const INDEX: &str = "$(JOB_COMPLETION_INDEX)";

/// A text in which Kubernetes replaces nothing.
pub(super) fn literal(text: &str) -> String {
    text.replace("$(", "$$(")
}

pub(super) fn prepare(context: &RenderContext<'_>, share: &Share<'_>) -> Vec<String> {
    stage(context, share, "prepare", &[])
}

/// One trial: at `index` of the plan, or of a rung's promoted ones; or as many of them as a pod may have.
pub(super) fn train(context: &RenderContext<'_>, share: &Share<'_>, index: &str, rung: Option<u32>) -> Vec<String> {
    let several = context.submission.resources.trials_per_pod;
    let rung = rung.map(|rung| ("--rung", rung.to_string()));
    let several = (several > 1).then(|| ("--batch", several.to_string()));
    let flags = rung.iter().chain(&several).flat_map(|(flag, value)| [*flag, value.as_str()]);
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
    words.iter().chain(&log_format(context)).map(|&word| word.to_owned()).collect()
}

/// The flag that chooses how events are logged, where it is not the default.
fn log_format(context: &RenderContext<'_>) -> Vec<&'static str> {
    match context.submission.resources.log_format {
        LogFormat::Text => Vec::new(),
        LogFormat::Json => vec!["--log-format", "json"],
    }
}

fn stage(context: &RenderContext<'_>, share: &Share<'_>, command: &str, more: &[&str]) -> Vec<String> {
    let submission = context.submission;
    let file = format!("{SWEEP_FOLDER}/{FILE}");
    let (storage, plan) = (literal(&submission.storage), literal(&submission.plan));
    let memory = buffers(share);
    let words = [command, &file, "--storage", &storage, "--plan", &plan, "--memory", &memory, "--storage-patience", PATIENCE];
    words.iter().chain(&log_format(context)).chain(more).map(|&word| word.to_owned()).collect()
}

/// Half of the pod's memory: the other half holds the tables themselves, and the model.
fn buffers(share: &Share<'_>) -> String {
    format!("{}MiB", (share.memory.value() / 2.0 / f64::from(1 << 20)) as u64)
}

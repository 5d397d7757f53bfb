//! Reasons that a pod tells of itself: why it does not run, that its node is lost, or how it ended before its successor.

use super::{Reason, last, one_line, schedule};
use crate::{client::status::JOB, exit};
use k8s_openapi::api::core::v1::{ContainerState, ContainerStateTerminated, ContainerStatus, Event, Pod};
use kube::ResourceExt;

/// Events that say why a container is still being created.
const OF_CREATION: [&str; 4] = ["FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "FailedCreatePodContainer"];

/// The reason of a pod that is not over, or was its index's last; none where it runs, has done its work, or is on its way to do so.
pub(super) fn reason(pod: &Pod, events: &[Event]) -> Option<Reason> {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default();
    match phase {
        "Running" => lost(pod),
        "Pending" => schedule::reason(pod).or_else(|| waiting(pod)).or_else(|| creating(pod, events)),
        "Failed" => ended(pod),
        _ => None,
    }
}

/// The only container.
pub(in crate::client) fn container(pod: &Pod) -> Option<&ContainerStatus> {
    pod.status.as_ref()?.container_statuses.as_ref()?.first()
}

fn state(pod: &Pod) -> Option<&ContainerState> {
    container(pod)?.state.as_ref()
}

/// Its program runs as far as its node has told, which tells nothing any more.
fn lost(pod: &Pod) -> Option<Reason> {
    let status = pod.status.as_ref()?;
    let holds = |kind: &str, value: &str| status.conditions.iter().flatten().any(|found| found.type_ == kind && found.status == value);
    let is_silent = holds("Ready", "False") && container(pod).is_some_and(|container| container.ready);
    let is_given_up = pod.metadata.deletion_timestamp.is_some() && holds("DisruptionTarget", "True");
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or("?");
    let goes = format!("where the node is gone for good, `kubectl delete node {node}` lets its successor start");
    match (is_given_up && is_silent, is_silent) {
        (true, _) => Some(Reason::new(format!("node {node} is lost, and cannot say that the pod has ended"), goes)),
        (_, true) => Some(Reason::new(format!("node {node} does not answer"), format!("it is waited for, for 5 minutes; {goes}"))),
        _ => None,
    }
}

/// Why its container does not start.
fn waiting(pod: &Pod) -> Option<Reason> {
    let waiting = state(pod)?.waiting.as_ref()?;
    let (reason, namespace) = (waiting.reason.as_deref().unwrap_or_default(), pod.namespace().unwrap_or_default());
    let message = one_line(waiting.message.as_deref().unwrap_or(reason));
    let image = pod.spec.as_ref().and_then(|spec| spec.containers.first()?.image.as_deref()).unwrap_or_default();
    Some(match reason {
        "ErrImagePull" | "ImagePullBackOff" | "InvalidImageName" | "ErrImageNeverPull" | "ImageInspectError" | "RegistryUnavailable" => {
            let remedy = "correct the name and the tag (`resources.image` or --image) and submit again with --replace; a private image \
                          needs `image_pull_secrets`";
            Reason::new(format!("the image `{image}` cannot be pulled ({reason}: {message})"), remedy)
        }
        "CreateContainerConfigError" => match quoted_after(&message, "secret ").filter(|_| message.ends_with("not found")) {
            Some(secret) => {
                let make = format!("kubectl create secret generic {secret} --namespace {namespace} --from-env-file=FILE");
                Reason::new(format!("Secret `{secret}` does not exist"), format!("create it (`{make}`); the pod then starts by itself"))
            }
            None => Reason::new(
                format!("its container cannot be made ({message})"),
                "correct what it names in the cluster; the pod then starts by itself",
            ),
        },
        "CreateContainerError" | "RunContainerError" => no_start(image, &message),
        _ => return None,
    })
}

fn no_start(image: &str, message: &str) -> Reason {
    let remedy = "name an image that has `ranksweep` (`resources.image` or --image), and submit again with --replace";
    Reason::new(format!("the image `{image}` does not start ({message})"), remedy)
}

/// The text in the quotes that follow some words.
fn quoted_after<'a>(message: &'a str, words: &str) -> Option<&'a str> {
    message.split_once(words)?.1.strip_prefix('"')?.split('"').next()
}

/// Why its container is still not made, by the newest event about it.
fn creating(pod: &Pod, events: &[Event]) -> Option<Reason> {
    let is_own = |event: &&Event| event.involved_object.uid.is_some() && event.involved_object.uid == pod.metadata.uid;
    let told = events.iter().filter(is_own).filter(|event| OF_CREATION.contains(&event.reason.as_deref().unwrap_or_default()));
    let newest = told.max_by(|a, b| last(a).cmp(&last(b)))?;
    let (job, namespace) = (pod.labels().get(JOB).cloned().unwrap_or_default(), pod.namespace().unwrap_or_default());
    let message = one_line(newest.message.as_deref().unwrap_or_default());
    let describe = format!("kubectl describe pods --namespace {namespace} --selector {JOB}={job}");
    let remedy = format!("create or correct what it names; `{describe}` shows more");
    Some(Reason::new(format!("its container is not made ({}: {message})", newest.reason.as_deref().unwrap_or_default()), remedy))
}

/// How it ended, while its successor is waited for.
fn ended(pod: &Pod) -> Option<Reason> {
    let ended = state(pod).and_then(|state| state.terminated.as_ref());
    let is_disrupted =
        pod.status.iter().flat_map(|status| status.conditions.iter().flatten()).any(|found| found.type_ == "DisruptionTarget");
    let again = "another is started after a pause, which doubles with each, from 10 s to 10 min";
    let code = ended.map(|ended| ended.exit_code);
    if is_disrupted || code == Some(exit::INTERRUPTED) {
        return Some(Reason::new("its last pod was interrupted", format!("{again}, and goes on from the last checkpoint")));
    }
    let failed = failed(pod, ended)?;
    let remedy = if failed.remedy.is_empty() { again.to_owned() } else { format!("{}; {again}", failed.remedy) };
    Some(Reason { remedy, ..failed })
}

/// How the last pod of a Job ended that has failed.
pub(super) fn last_words(pod: &Pod) -> Option<Reason> {
    if pod.status.as_ref()?.phase.as_deref() != Some("Failed") {
        return None;
    }
    let failed = failed(pod, state(pod).and_then(|state| state.terminated.as_ref()))?;
    let remedy = if failed.remedy.is_empty() { "correct it, and submit again".to_owned() } else { failed.remedy };
    Some(Reason { remedy, ..failed })
}

/// How a pod failed; without a remedy where only its log tells one.
fn failed(pod: &Pod, ended: Option<&ContainerStateTerminated>) -> Option<Reason> {
    let Some(ended) = ended else {
        // Evicted before or while it ran: the pod has a message, and its container none.
        let status = pod.status.as_ref()?;
        let message = one_line(status.message.as_deref().or(status.reason.as_deref())?);
        return Some(Reason::new(format!("its last pod was ended by the cluster ({message})"), ""));
    };
    let spec = pod.spec.as_ref().and_then(|spec| spec.containers.first());
    match ended.reason.as_deref() {
        Some("OOMKilled") => {
            let limit = spec.and_then(|container| container.resources.as_ref()?.limits.as_ref()?.get("memory"));
            let limit = limit.map_or_else(String::new, |limit| format!(", at its limit of {}", limit.0));
            let remedy = "give it more (`memory` in `resources`; `ranksweep plan` says how much each stage needs)";
            Some(Reason::new(format!("its last pod ran out of memory{limit}"), remedy))
        }
        Some("StartError" | "ContainerCannotRun") => {
            let image = spec.and_then(|container| container.image.as_deref()).unwrap_or_default();
            Some(no_start(image, &one_line(ended.message.as_deref().unwrap_or_default())))
        }
        _ => {
            let words = words(ended.message.as_deref()).map_or_else(String::new, |words| format!(": {words}"));
            Some(Reason::new(format!("its last pod ended with exit code {}{words}", ended.exit_code), ""))
        }
    }
}

/// The last line of a log, or of what it says as JSON the message.
pub(in crate::client) fn words(message: Option<&str>) -> Option<String> {
    let line = message?.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let event: Option<serde_json::Value> = line.starts_with('{').then(|| serde_json::from_str(line).ok()).flatten();
    let said = event.as_ref().and_then(|event| event.pointer("/fields/message")?.as_str());
    Some(one_line(said.unwrap_or(line)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(status: serde_json::Value) -> Pod {
        let container = json!({
            "name": "ranksweep", "image": "r/x:1", "resources": {"limits": {"memory": "8Gi"}, "requests": {"cpu": "64", "memory": "8Gi"}}
        });
        let metadata = json!({"name": "s-1-prepare-0", "namespace": "team", "uid": "u"});
        serde_json::from_value(json!({"metadata": metadata, "spec": {"nodeName": "n1", "containers": [container]}, "status": status}))
            .unwrap()
    }

    fn in_state(phase: &str, state: serde_json::Value) -> Pod {
        let container = json!({"name": "ranksweep", "ready": false, "restartCount": 0, "image": "", "imageID": "", "state": state});
        pod(json!({"phase": phase, "containerStatuses": [container]}))
    }

    fn said(pod: &Pod) -> String {
        reason(pod, &[]).map(|reason| reason.to_string()).unwrap_or_default()
    }

    #[test]
    fn the_scheduler_is_quoted_without_what_it_says_twice() {
        let message =
            "0/3 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 Insufficient cpu. preemption: 0/3 nodes are available.";
        let found = said(&pod(json!({
            "phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]
        })));
        assert_eq!(
            found,
            "no node for it (0/3 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 Insufficient cpu): it asks for cpu 64: ask \
             for less in `resources`, or add nodes; let it onto tainted nodes by `tolerations` in `resources`"
        );
    }

    #[test]
    fn a_container_that_does_not_start_says_why() {
        let waiting = |reason: &str, message: &str| said(&in_state("Pending", json!({"waiting": {"reason": reason, "message": message}})));
        assert!(
            waiting("ImagePullBackOff", "Back-off pulling image \"r/x:1\"")
                .starts_with("the image `r/x:1` cannot be pulled (ImagePullBackOff: ")
        );
        assert_eq!(
            waiting("CreateContainerConfigError", "secret \"bucket\" not found"),
            "Secret `bucket` does not exist: create it (`kubectl create secret generic bucket --namespace team --from-env-file=FILE`); the pod \
             then starts by itself"
        );
        assert!(waiting("CreateContainerConfigError", "couldn't find key A in Secret team/b").contains("couldn't find key A"));
        assert!(waiting("CreateContainerError", "exec: \"ranksweep\": not found").contains("name an image that has `ranksweep`"));
        assert_eq!(waiting("ContainerCreating", ""), "");
    }

    #[test]
    fn an_end_is_told_in_the_programs_last_words() {
        let ended = |end: serde_json::Value| said(&in_state("Failed", json!({"terminated": end})));
        assert!(
            ended(json!({"exitCode": 137, "reason": "OOMKilled"})).starts_with("its last pod ran out of memory, at its limit of 8Gi: give")
        );
        let words = ended(json!({"exitCode": 1, "message": "log\nerror: no such bucket\n"}));
        assert!(words.starts_with("its last pod ended with exit code 1: error: no such bucket: another is started"), "{words}");
        let event = r#"{"level":"ERROR","fields":{"message":"no such bucket"}}"#;
        assert!(ended(json!({"exitCode": 1, "message": event})).contains("code 1: no such bucket: "));
        assert!(ended(json!({"exitCode": 75})).starts_with("its last pod was interrupted: another is started after a pause"));
        assert!(ended(json!({"exitCode": 128, "reason": "StartError", "message": "exec"})).starts_with("the image `r/x:1` does not start"));
    }

    #[test]
    fn a_node_that_is_silent_is_told_from_a_program_that_runs() {
        let running = |conditions: serde_json::Value| {
            let container = json!({"name": "r", "ready": true, "restartCount": 0, "image": "", "imageID": "", "state": {"running": {}}});
            pod(json!({"phase": "Running", "conditions": conditions, "containerStatuses": [container]}))
        };
        assert_eq!(said(&running(json!([{"type": "Ready", "status": "True"}]))), "");
        let silent = running(json!([{"type": "Ready", "status": "False"}]));
        assert!(said(&silent).starts_with("node n1 does not answer: it is waited for"), "{}", said(&silent));
        let mut lost = running(json!([{"type": "Ready", "status": "False"}, {"type": "DisruptionTarget", "status": "True"}]));
        lost.metadata.deletion_timestamp = serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
        assert!(said(&lost).starts_with("node n1 is lost") && said(&lost).contains("`kubectl delete node n1`"), "{}", said(&lost));
    }
}

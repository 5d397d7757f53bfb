//! Reasons of the scheduler, which has no node for a pod.

use super::{Reason, one_line};
use k8s_openapi::api::core::v1::Pod;

/// The scheduler's words, and what in the sweep file they are about.
pub(super) fn reason(pod: &Pod) -> Option<Reason> {
    let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let unscheduled = conditions.find(|condition| condition.type_ == "PodScheduled" && condition.status == "False")?;
    let said = unscheduled.message.as_deref().or(unscheduled.reason.as_deref()).unwrap_or("the scheduler has not looked at it");
    // What preemption would free is said of each node once more.
    let said = said.split(" preemption:").next().unwrap_or(said).trim_end_matches('.');
    let said = one_line(said);
    Some(Reason::new(format!("no node for it ({said})"), remedies(pod, &said).join("; ")))
}

fn remedies(pod: &Pod, said: &str) -> Vec<String> {
    let lacking = said.split("Insufficient ").skip(1).filter_map(|rest| rest.split([',', ' ']).next());
    let mut lacking: Vec<&str> = lacking.map(|name| name.trim_end_matches('.')).collect();
    lacking.sort_unstable();
    lacking.dedup();
    let too_much = |name: &str| format!("it asks for {name} {}: ask for less in `resources`, or add nodes", asked(pod, name));
    let known = [
        ("untolerated taint", "let it onto tainted nodes by `tolerations` in `resources`"),
        ("node affinity/selector", "correct `node_selector` or `affinity` in `resources`, or label nodes"),
        ("topology spread", "loosen `topology_spread_constraints` in `resources`, or add nodes"),
        ("Too many pods", "add nodes, or lower `parallelism` in `resources`"),
        ("persistentvolumeclaim", "create the claim that `volume` in `resources` names"),
    ];
    let of_words = known.into_iter().filter(|(words, _)| said.contains(words)).map(|(_, remedy)| remedy.to_owned());
    let found: Vec<String> = lacking.into_iter().map(too_much).chain(of_words).collect();
    if found.is_empty() { vec!["it is placed as soon as there is one".to_owned()] } else { found }
}

/// How much of something the pod asks for.
fn asked(pod: &Pod, name: &str) -> String {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let requests = containers.filter_map(|container| container.resources.as_ref()?.requests.as_ref());
    requests.filter_map(|requests| requests.get(name)).map(|amount| amount.0.clone()).next().unwrap_or_default()
}

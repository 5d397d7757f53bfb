//! Who may reach pods that work together, the ranks of trials over several nodes and a preparation with its executors: each other, and nobody else. Other
//! pods listen for Prometheus at most.

use super::{RenderContext, metadata::metadata};
use crate::{Stage, labels};
use k8s_openapi::{
    api::networking::v1::{NetworkPolicy, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicySpec},
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};

/// The policies of a submission: one for all of its trials, one for its preparation.
pub(super) fn network_policies(context: &RenderContext<'_>) -> impl Iterator<Item = NetworkPolicy> {
    let ranks = (context.submission.resources.nodes > 1).then(|| among(context, "ranks", Stage::Train { trials: 0, rung: None }));
    let executors = (context.submission.executors > 0 && context.submission.stages.contains(&Stage::Prepare))
        .then(|| among(context, "executors", Stage::Prepare));
    ranks.into_iter().chain(executors)
}

/// A policy for all pods of a stage. NCCL picks its ports, so that all are open among them. What they reach out to is left alone.
fn among(context: &RenderContext<'_>, name: &str, stage: Stage) -> NetworkPolicy {
    let pods = [(labels::SUBMISSION, context.hash), (labels::STAGE, stage.label())];
    let pods = pods.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let pods = LabelSelector { match_labels: Some(pods.into()), ..LabelSelector::default() };
    let from = NetworkPolicyPeer { pod_selector: Some(pods.clone()), ..NetworkPolicyPeer::default() };
    let spec = NetworkPolicySpec {
        pod_selector: Some(pods),
        policy_types: Some(vec!["Ingress".to_owned()]),
        ingress: Some(vec![NetworkPolicyIngressRule { from: Some(vec![from]), ports: None }]),
        egress: None,
    };
    NetworkPolicy { metadata: metadata(context, context.name(name), Some(stage.label())), spec: Some(spec) }
}

//! Who may reach the ranks of trials over several nodes: each other, and nobody else. Other pods listen for Prometheus at most.

use super::{RenderContext, metadata::metadata};
use crate::{Stage, labels};
use k8s_openapi::{
    api::networking::v1::{NetworkPolicy, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicySpec},
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};

/// One policy for all trials of a submission. NCCL picks its ports, so that all are open among the ranks. What they reach out to is left alone.
pub(super) fn network_policy(context: &RenderContext<'_>) -> NetworkPolicy {
    let train = Stage::Train { trials: 0, rung: None }.label();
    let ranks = [(labels::SUBMISSION, context.hash), (labels::STAGE, train)];
    let ranks = ranks.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let ranks = LabelSelector { match_labels: Some(ranks.into()), ..LabelSelector::default() };
    let from = NetworkPolicyPeer { pod_selector: Some(ranks.clone()), ..NetworkPolicyPeer::default() };
    let spec = NetworkPolicySpec {
        pod_selector: Some(ranks),
        policy_types: Some(vec!["Ingress".to_owned()]),
        ingress: Some(vec![NetworkPolicyIngressRule { from: Some(vec![from]), ports: None }]),
        egress: None,
    };
    NetworkPolicy { metadata: metadata(context, context.name("ranks"), Some(train)), spec: Some(spec) }
}

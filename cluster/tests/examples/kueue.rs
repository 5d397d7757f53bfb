//! `k8s/examples/kueue`, by the schemas of `kueue.x-k8s.io/v1beta2`, which Kueue serves since 0.15.
//!
//! No package of crates.io or PyPI that was found has them, so that they stand here as types, after `apis/kueue/v1beta2` of Kueue's source: the specifications with the
//! values that their enumerations allow, the limits of their lists, and the rules between fields. A field that they do not know is refused.

#![allow(dead_code, reason = "a field of a schema says that it may be there")]

use super::{Metadata, Name, Object, documents, support};
use cluster::resources::Quantity;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const VERSION: &str = "kueue.x-k8s.io/v1beta2";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct ClusterQueue {
    resource_groups: Vec<ResourceGroup>,
    cohort_name: Option<Name>,
    queueing_strategy: Option<QueueingStrategy>,
    namespace_selector: Option<LabelSelector>,
    flavor_fungibility: Option<FlavorFungibility>,
    preemption: Option<Preemption>,
    stop_policy: Option<StopPolicy>,
}

#[derive(Debug, Deserialize)]
enum QueueingStrategy {
    #[serde(rename = "StrictFIFO")]
    Strict,
    #[serde(rename = "BestEffortFIFO")]
    BestEffort,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct LabelSelector {
    #[serde(default)]
    match_labels: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct FlavorFungibility {
    when_can_borrow: Option<Search>,
    when_can_preempt: Option<Search>,
}

#[derive(Debug, Deserialize)]
enum Search {
    MayStopSearch,
    TryNextFlavor,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Preemption {
    reclaim_within_cohort: Option<Reclaim>,
    within_cluster_queue: Option<Within>,
}

#[derive(Debug, Deserialize)]
enum Reclaim {
    Never,
    LowerPriority,
    Any,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Within {
    Never,
    LowerPriority,
    LowerOrNewerEqualPriority,
}

#[derive(Debug, Deserialize)]
enum StopPolicy {
    None,
    Hold,
    HoldAndDrain,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ResourceGroup {
    covered_resources: Vec<String>,
    flavors: Vec<FlavorQuotas>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FlavorQuotas {
    name: Name,
    resources: Vec<ResourceQuota>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ResourceQuota {
    name: String,
    nominal_quota: Amount,
    borrowing_limit: Option<Amount>,
    lending_limit: Option<Amount>,
}

/// A quantity, as a number or as a text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Amount {
    Number(u64),
    Text(Quantity),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct LocalQueue {
    cluster_queue: Name,
    stop_policy: Option<StopPolicy>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ResourceFlavor {
    api_version: String,
    kind: String,
    metadata: Metadata,
    #[serde(default)]
    spec: FlavorSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct FlavorSpec {
    node_labels: BTreeMap<String, String>,
    node_taints: Vec<Value>,
    tolerations: Vec<Value>,
    topology_name: Option<Name>,
}

impl ClusterQueue {
    /// The limits of lists, and the rules between fields.
    fn check(&self) -> Result<(), String> {
        let all = |of: fn(&ResourceGroup) -> Vec<&str>| self.resource_groups.iter().flat_map(of).collect::<Vec<_>>();
        let resources = all(|group| group.covered_resources.iter().map(String::as_str).collect());
        let flavors = all(|group| group.flavors.iter().map(|flavor| flavor.name.0.as_str()).collect());
        let distinct = |names: &[&str]| names.iter().collect::<BTreeSet<_>>().len() == names.len();
        if self.resource_groups.len() > 16 || !distinct(&resources) || !distinct(&flavors) {
            return Err("a resource and a flavor are part of one group of at most 16".to_owned());
        }
        for group in &self.resource_groups {
            let counts = [group.covered_resources.len(), group.flavors.len()];
            if counts.iter().any(|count| !(1..=64).contains(count)) {
                return Err("a group has 1 to 64 resources and flavors".to_owned());
            }
            for flavor in &group.flavors {
                let quotas: Vec<&String> = flavor.resources.iter().map(|quota| &quota.name).collect();
                if quotas != group.covered_resources.iter().collect::<Vec<_>>() {
                    return Err("a flavor has a quota for each covered resource, in their order".to_owned());
                }
                let alone = |quota: &ResourceQuota| quota.borrowing_limit.is_some() || quota.lending_limit.is_some();
                if self.cohort_name.is_none() && flavor.resources.iter().any(alone) {
                    return Err("without a cohort nothing is borrowed or lent".to_owned());
                }
            }
        }
        Ok(())
    }
}

/// An object by its schema, or what is wrong with it.
fn read<T: DeserializeOwned>(document: &Value) -> Result<T, String> {
    serde_json::from_value(document.clone()).map_err(|error| error.to_string())
}

fn cluster_queue(document: &Value) -> Result<Object<ClusterQueue>, String> {
    let queue: Object<ClusterQueue> = read(document)?;
    queue.spec.check().map(|()| queue)
}

/// The queue that the rendered sweep names is there, in its namespace, and its quota covers all that pods ask for.
#[test]
fn the_example_admits_what_is_rendered() {
    let [flavor, cluster, local]: [Value; 3] = documents("k8s/examples/kueue/queues.yaml").try_into().unwrap();
    let (flavor, cluster, local) =
        (read::<ResourceFlavor>(&flavor).unwrap(), cluster_queue(&cluster).unwrap(), read::<Object<LocalQueue>>(&local).unwrap());
    let kinds = [(&flavor.api_version, &flavor.kind), (&cluster.api_version, &cluster.kind), (&local.api_version, &local.kind)];
    assert!(kinds.iter().all(|(version, _)| *version == VERSION));
    assert_eq!(kinds.map(|(_, kind)| kind.as_str()), ["ResourceFlavor", "ClusterQueue", "LocalQueue"]);
    assert_eq!((&flavor.metadata.namespace, &cluster.metadata.namespace), (&None, &None), "these are the cluster's");
    assert!(flavor.spec.node_labels.is_empty() && flavor.spec.node_taints.is_empty() && flavor.spec.topology_name.is_none());
    let [group] = cluster.spec.resource_groups.as_slice() else { panic!("one group") };
    let [quota] = group.flavors.as_slice() else { panic!("one flavor") };
    assert_eq!((&quota.name, &local.spec.cluster_queue), (&flavor.metadata.name, &cluster.metadata.name));
    assert_eq!(cluster.spec.preemption.unwrap().within_cluster_queue, Some(Within::LowerPriority));
    let sweep = support::submission("kueue");
    assert_eq!(local.metadata.name.0, sweep.resources.queue.unwrap());
    assert_eq!(local.metadata.namespace.unwrap().0, sweep.namespace);
    assert_eq!(cluster.spec.namespace_selector.unwrap().match_labels["kubernetes.io/metadata.name"], sweep.namespace);
    for shape in ["kueue", "multi-gpu"] {
        for object in support::rendered(shape) {
            let cluster::Object::Job(job) = object else { continue };
            let pod = job.spec.unwrap().template.spec.unwrap();
            let requests = pod.containers[0].resources.as_ref().unwrap().requests.as_ref().unwrap();
            assert!(requests.keys().all(|name| group.covered_resources.contains(name)), "{shape}: {requests:?}");
        }
    }
}

#[test]
fn what_kueue_would_refuse_is_refused() {
    let [_, cluster, local]: [Value; 3] = documents("k8s/examples/kueue/queues.yaml").try_into().unwrap();
    let changed = |path: &str, value: Value| {
        let mut changed = cluster.clone();
        *changed.pointer_mut(path).unwrap() = value;
        cluster_queue(&changed).unwrap_err()
    };
    assert!(changed("/spec/preemption", json!({"withinQueue": "Never"})).contains("unknown field `withinQueue`"));
    assert!(changed("/spec/preemption/withinClusterQueue", json!("Any")).contains("unknown variant `Any`"));
    assert!(changed("/spec/resourceGroups/0/coveredResources", json!(["cpu"])).contains("a quota for each covered resource"));
    assert!(changed("/spec/resourceGroups/0/flavors/0/name", json!("A_b")).contains("`A_b` is no DNS subdomain"));
    assert!(changed("/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", json!("-1")).contains("did not match any variant"));
    let quota = json!({"name": "cpu", "nominalQuota": 1, "borrowingLimit": 1});
    assert!(changed("/spec/resourceGroups/0/flavors/0/resources/0", quota).contains("without a cohort nothing is borrowed"));
    assert!(changed("/spec", json!({"cohort": "a"})).contains("unknown field `cohort`"), "it is cohortName since v1beta2");
    assert!(
        read::<Object<LocalQueue>>(&json!({"apiVersion": VERSION, "kind": "LocalQueue", "metadata": local["metadata"], "spec": {}}))
            .is_err()
    );
}

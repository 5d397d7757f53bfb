//! `k8s/examples/prometheus`: a PodMonitor of `monitoring.coreos.com/v1` and a NetworkPolicy, beside the pods that are rendered to be watched.

use super::{Object, documents, support};
use k8s_openapi::{api::networking::v1::NetworkPolicy, apimachinery::pkg::util::intstr::IntOrString};
use serde::Deserialize;
use std::collections::BTreeMap;

/// As much of a PodMonitor's specification as the example has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PodMonitor {
    selector: Selector,
    pod_target_labels: Vec<String>,
    pod_metrics_endpoints: Vec<Endpoint>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Selector {
    match_labels: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Endpoint {
    port: String,
    interval: String,
}

#[test]
fn the_pods_that_serve_a_page_are_found_and_reached() {
    let monitor: Object<PodMonitor> = serde_json::from_value(documents("k8s/examples/prometheus/pod-monitor.yaml").remove(0)).unwrap();
    assert_eq!((monitor.api_version.as_str(), monitor.kind.as_str()), ("monitoring.coreos.com/v1", "PodMonitor"));
    let [endpoint] = monitor.spec.pod_metrics_endpoints.as_slice() else { panic!("one endpoint") };
    assert!(endpoint.interval.ends_with('s'));
    let policy: NetworkPolicy = serde_json::from_value(documents("k8s/examples/prometheus/network-policy.yaml").remove(0)).unwrap();
    let spec = policy.spec.unwrap();
    let opened = spec.ingress.unwrap()[0].ports.as_ref().unwrap()[0].port.clone().unwrap();
    assert_eq!(opened, IntOrString::String(endpoint.port.clone()));
    let chosen = spec.pod_selector.unwrap().match_labels.unwrap();
    let namespaces = [monitor.metadata.namespace.unwrap().0, policy.metadata.namespace.unwrap()];
    assert_eq!(namespaces, [support::submission("watched").namespace, support::submission("watched").namespace]);
    let mut pods = 0;
    for object in support::rendered("watched") {
        let cluster::Object::Job(job) = object else { continue };
        let template = job.spec.unwrap().template;
        let metadata = template.metadata.unwrap();
        let (labels, annotations) = (metadata.labels.unwrap(), metadata.annotations.unwrap());
        for selected in [&monitor.spec.selector.match_labels, &chosen] {
            assert!(selected.iter().all(|(key, value)| labels.get(key) == Some(value)));
        }
        assert!(monitor.spec.pod_target_labels.iter().all(|label| labels.contains_key(label)), "{labels:?}");
        let container = &template.spec.unwrap().containers[0];
        let port = &container.ports.as_ref().unwrap()[0];
        assert_eq!((port.name.as_ref(), port.container_port), (Some(&endpoint.port), 9464));
        let arguments = container.args.as_ref().unwrap();
        let flag = arguments.iter().position(|word| word == "--metrics-address").unwrap();
        assert_eq!(arguments[flag + 1], "[::]:9464");
        assert_eq!((annotations["prometheus.io/scrape"].as_str(), annotations["prometheus.io/port"].as_str()), ("true", "9464"));
        pods += 1;
    }
    assert_eq!(pods, 4, "driver and stages");
}

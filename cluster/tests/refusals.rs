//! Refusals before anything is created, with the value, what was expected and what to do.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]

mod support;

use cluster::{Resources, objects};
use support::submission;

fn refused(resources: &str) -> String {
    match serde_yaml::from_str::<Resources>(resources) {
        Ok(resources) => resources.check().unwrap_err(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_name_must_be_a_dns_label_with_room_for_what_follows() {
    let message = |name: &str| {
        let mut sweep = submission("rungs");
        sweep.name = name.to_owned();
        objects(&sweep).err().map(|error| error.to_string())
    };
    assert_eq!(
        message("Softmax_at_K").unwrap(),
        "`Softmax_at_K` cannot name objects of Kubernetes: it has `S`, and a DNS label has lower-case letters, digits and `-` only; \
         write for example `softmax-at-k`"
    );
    assert!(message("a.b").unwrap().ends_with("write for example `a-b`"));
    assert!(message("--").unwrap().ends_with("a DNS label starts and ends with a letter or a digit; write another"));
    // The longest host name is `NAME-1a2b3c4d-train-r0-8`: 20 characters beside the name.
    assert_eq!(message(&"a".repeat(43)), None);
    let long = message(&"a".repeat(44)).unwrap();
    assert!(long.ends_with("it has 44 characters, and with what Jobs and pods add to it 43 are left; shorten it by 1"), "{long}");
}

#[test]
fn a_service_begins_with_a_letter() {
    let message = |case: &str| {
        let mut sweep = submission(case);
        sweep.name = "2026-books".to_owned();
        objects(&sweep).err().map(|error| error.to_string())
    };
    let expected = "`2026-books` cannot name objects of Kubernetes: with `nodes` or `executors` it is part of the name of a Service, which begins with a \
                    letter; write another";
    assert_eq!(["rungs", "multi-node", "executors"].map(message), [None, Some(expected.to_owned()), Some(expected.to_owned())]);
}

#[test]
fn executors_have_ports_of_their_own() {
    let mut sweep = submission("executors");
    sweep.resources.metrics_port = Some(50_051);
    assert_eq!(
        objects(&sweep).unwrap_err().to_string(),
        "metrics_port is 50051, and the scheduler and the executors of the preparation have 50050 to 50052: expected another"
    );
    sweep.resources.metrics_port = Some(50_053);
    assert!(objects(&sweep).is_ok());
}

#[test]
fn a_namespace_must_be_a_dns_label() {
    let mut sweep = submission("single-gpu");
    sweep.namespace = "My_Team".to_owned();
    let message = objects(&sweep).unwrap_err().to_string();
    assert_eq!(message, "`My_Team` is no namespace: it has `M`, and a DNS label has lower-case letters, digits and `-` only");
}

#[test]
fn a_variable_means_the_same_in_the_pods() {
    let message = |name: &str, value: &str| {
        let mut sweep = submission("rungs");
        sweep.variables.insert(name.to_owned(), value.to_owned());
        objects(&sweep).err().map(|error| error.to_string())
    };
    assert_eq!(
        message("HOME", "/home/ann").unwrap(),
        "the sweep file names `${HOME}`: the pods set it themselves; write its value there, or name another variable"
    );
    assert!(message("WORD", "no").unwrap().contains("it is `no` here, and `yes` in `resources.environment`"));
    assert_eq!(message("WORD", "yes"), None);
}

#[test]
fn ranks_of_several_nodes_have_a_secret() {
    let mut sweep = submission("multi-node");
    sweep.resources.secret = None;
    let message = objects(&sweep).unwrap_err().to_string();
    assert!(
        message.starts_with(
            "nodes is 2, and the pods of a trial know each other by RANKSWEEP_RENDEZVOUS_SECRET: name the Secret that has this key"
        ),
        "{message}"
    );
}

#[test]
fn a_sweep_file_must_fit_into_a_config_map() {
    let mut sweep = submission("single-gpu");
    sweep.text = "#".repeat(1_048_576);
    assert!(objects(&sweep).is_ok());
    sweep.text.push('#');
    let message = objects(&sweep).unwrap_err().to_string();
    assert!(
        message.starts_with("the sweep file has 1048577 bytes, and a ConfigMap holds 1048576: cut it into several sweeps"),
        "{message}"
    );
}

#[test]
fn resources_name_the_key_the_value_and_what_was_expected() {
    let cases = [
        ("{cpu: four}", "`four` is no quantity: expected a number and, where needed, a unit, such as `4`, `500m` or `16Gi`"),
        ("{memory: 16GB}", "`16GB` is no quantity"),
        ("{cpu: 0}", "cpu is 0: expected at least 1m, a thousandth of a core"),
        ("{memory: 16}", "memory is 16, in bytes: expected at least 256Mi; write for example `16Gi`"),
        ("{evaluate: {memory: 16}}", "evaluate.memory is 16, in bytes"),
        ("{scratch: 1Ki}", "scratch is 1Ki, in bytes"),
        ("{gpus: 65}", "gpus is 65: expected 0 to 64"),
        (
            "{gpu_resource: amd.com/gpu}",
            "gpu_resource is `amd.com/gpu`: ranksweep trains on NVIDIA GPUs, by CUDA, and not on AMD's: expected a name such as `nvidia.com/gpu`",
        ),
        ("{gpu_resource: gpu}", "gpu_resource is `gpu`: expected a name with a domain, such as `nvidia.com/gpu` or"),
        (
            "{gpus: 2, gpu_resource: nvidia.com/mig-1g.10gb}",
            "gpu_resource is `nvidia.com/mig-1g.10gb`: a process sees one MIG slice, and gpus is 2: expected 1, or whole GPUs",
        ),
        ("{affinity: {node_affinity: {}, nodeAffinities: {a: 1}}}", "Kubernetes knows no `nodeAffinities` here"),
        ("{topology_spread_constraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: Never, minDomain: 2}]}", "no `minDomain` here"),
        ("{trials_per_pod: 0}", "trials_per_pod is 0: expected 1 to 10000"),
        ("{gpus: 1, nodes: 2, trials_per_pod: 4}", "trials_per_pod is 4, and nodes is 2, so that a trial has several pods: expected 1"),
        ("{trials_per_gpu: 0}", "trials_per_gpu is 0: expected 1 to 64"),
        (
            "{gpus: 2, trials_per_gpu: 4}",
            "trials_per_gpu is 4, and gpus is 2, so that a trial has several GPUs: expected 1 of the one or of the other",
        ),
        (
            "{gpus: 1, nodes: 2, trials_per_gpu: 4}",
            "trials_per_gpu is 4, and nodes is 2, so that a trial has the GPUs of several pods: expected 1",
        ),
        (
            "{gpus: 1, trials_per_pod: 2, trials_per_gpu: 4}",
            "trials_per_gpu is 4, and trials_per_pod is 2, so that no more are in a pod with its GPU: give it at least 4",
        ),
        ("{log_format: xml}", "unknown variant `xml`"),
        ("{nodes: 0}", "nodes is 0: expected 1 to 1024"),
        ("{parallelism: 0}", "parallelism is 0: expected 1 to 100000"),
        ("{retries: 1001}", "retries is 1001: expected 0 to 1000"),
        ("{ttl_seconds_after_finished: 5}", "ttl_seconds_after_finished is 5: expected 60 to 2147483647"),
        ("{ttl_seconds_after_finished: 3000000000}", "ttl_seconds_after_finished is 3000000000: expected 60 to 2147483647"),
        ("{image: 'a b'}", "image is `a b`: expected a reference such as `registry.example.com/ranksweep:0.1.0`"),
        ("{queue: Team_A}", "queue is `Team_A`, the name of no object: it has `T`"),
        ("{secret: ''}", "secret is ``, the name of no object"),
        ("{image_pull_secrets: [a, b_c]}", "image_pull_secrets is `b_c`, the name of no object"),
        ("{node_selector: {'a b': c}}", "node_selector has `a b: c`, which no node can have: a label's value has at most 63"),
        ("{prepare: {node_selector: {pool: 'x y'}}}", "node_selector has `pool: x y`, which no node can have"),
        ("{tolerations: [{operator: Equal}]}", "tolerations: operator is Equal, which needs a `key` (expected one, or Exists)"),
        ("{tolerations: [{key: a, operator: Exists, value: b}]}", "tolerations: value stands beside `operator: Exists`"),
        (
            "{tolerations: [{key: a, toleration_seconds: 5}]}",
            "tolerations: toleration_seconds is given, which counts for `effect: NoExecute`",
        ),
        ("{labels: {ranksweep.dev/sweep: x}}", "labels has `ranksweep.dev/sweep: x`, which no pod can be given: it is ranksweep's own"),
        ("{labels: {team: 'a b'}}", "labels has `team: a b`, which no pod can be given: a label's value"),
        ("{annotations: {'a b': ''}}", "annotations has `a b`, which no pod can be given"),
        ("{environment: {HOME: /root}}", "environment has `HOME`, which the pods set themselves: leave it out"),
        ("{environment: {1A: x}}", "environment has `1A`: expected a name of letters, digits and `_`, not starting with a digit"),
        ("{volume: {claim: runs, path: data}}", "path is `data`: expected an absolute path such as `/data`, without `..` and `:`"),
        ("{volume: {claim: runs, path: /tmp}}", "path is `/tmp`, but the pods use `/tmp` themselves: expected another, such as `/data`"),
        ("{volume: {claim: runs, path: /sweep/runs}}", "path is `/sweep/runs`, but the pods use `/sweep` themselves"),
        ("{volume: {claim: runs, path: /}}", "path is `/`: expected an absolute path"),
        ("{volume: {claim: Runs, path: /data}}", "claim is `Runs`, the name of no object"),
        ("{cache: {}}", "cache: expected either `host_path`, a folder of each node, or `claim`, a PersistentVolumeClaim"),
        ("{cache: {host_path: /a, claim: b}}", "cache: expected either `host_path`"),
        (
            "{cache: {host_path: cache}}",
            "cache.host_path is `cache`: expected an absolute path such as `/var/cache/ranksweep`, without `..`",
        ),
        ("{cache: {host_path: /a/../b}}", "cache.host_path is `/a/../b`: expected an absolute path"),
        ("{cache: {claim: Sets}}", "cache.claim is `Sets`, the name of no object"),
        ("{cache: {claim: sets}, volume: {claim: runs, path: /var/cache}}", "the pods use `/var/cache/ranksweep` themselves"),
        ("{metrics_port: 80}", "metrics_port is 80: expected 1024 to 65535, as the pods are not root"),
        ("{gpus: 1, nodes: 2, metrics_port: 29500}", "metrics_port is 29500, where the ranks of a trial meet: expected another"),
    ];
    for (resources, message) in cases {
        let found = refused(resources);
        assert!(found.contains(message), "{resources}\n   found: {found}\nexpected: {message}");
    }
    assert!(refused("{gpu: 1}").contains("unknown field `gpu`"));
    assert!(refused("{prepare: {gpus: 1}}").contains("unknown field `gpus`"));
}
